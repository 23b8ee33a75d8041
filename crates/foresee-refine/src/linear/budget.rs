//! How much a check may cost. What is not decided within it is said to be undecided.

use std::fmt;
use std::time::Instant;

/// What a check may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes for remembered states.
    pub memory: usize,
    /// When to give up.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory: 1 << 30, deadline: None }
    }
}

/// What there was not enough of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// Memory for remembered states.
    Memory,
    /// Time, or steps.
    Time,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exhausted::Memory => "memory",
            Exhausted::Time => "time",
        })
    }
}

/// What is left of the limits.
pub(crate) struct Budget {
    memory: usize,
    deadline: Option<Instant>,
    steps: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Budget {
        Budget { memory: limits.memory, deadline: limits.deadline, steps: u64::MAX }
    }

    /// No more steps than these, in all that is done with it.
    pub(crate) fn with_steps(self, steps: u64) -> Budget {
        Budget { steps, ..self }
    }

    /// One step, and so many bytes more.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.memory = self.memory.checked_sub(bytes).ok_or(Exhausted::Memory)?;
        self.steps = self.steps.checked_sub(1).ok_or(Exhausted::Time)?;
        // The clock is asked now and then: it costs more than a step.
        if self.steps.is_multiple_of(1024) && self.deadline.is_some_and(|deadline| Instant::now() > deadline)
        {
            return Err(Exhausted::Time);
        }
        Ok(())
    }

    /// Whether so many bytes more would fit.
    pub(crate) fn has_room(&self, bytes: usize) -> Result<(), Exhausted> {
        if bytes > self.memory { Err(Exhausted::Memory) } else { Ok(()) }
    }

    /// So many bytes are free again.
    pub(crate) fn give_back(&mut self, bytes: usize) {
        self.memory = self.memory.saturating_add(bytes);
    }
}
