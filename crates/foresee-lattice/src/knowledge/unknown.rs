//! Variables of formulas that were written, nobody knows with what: what is said from then on is not proven.
//!
//! Values are recorded only where they are asked for, and not of copies of many bytes, or by code that does not tell. A monitor then goes on with the value that it knew. That does no
//! harm while nobody has a state in which it counts: a copy over a variable is a write without a value, and behind it, in the same thread and at the same place, one with it.

use foresee_mttl::Program;
use foresee_trace::{LocId, Mem, ThreadId};

use crate::variables::{UnknownValue, Variables};

/// An access to memory, as far as values go.
#[derive(Clone, Copy)]
pub(super) struct Touched {
    pub(super) mem: Mem,
    pub(super) writes: bool,
    pub(super) has_value: bool,
}

/// Which values are not known; see the [module](self).
#[derive(Default)]
pub(super) struct UnknownValues {
    /// Whether formulas speak of the value, by variable.
    asked: Vec<bool>,
    now: Vec<UnknownValue>,
    /// Those that some state was made without; for each variable the first.
    relied_on: Vec<UnknownValue>,
}

impl UnknownValues {
    pub(super) fn new(program: &Program) -> UnknownValues {
        let asked = (0..program.variables().len() as u32).map(|variable| program.asks_for_value_of(variable));
        UnknownValues { asked: asked.collect(), ..UnknownValues::default() }
    }

    /// A thread has made a state, by this access if it was one.
    pub(super) fn state(&mut self, variables: &Variables, by: (ThreadId, LocId), touched: Option<Touched>) {
        let writes = touched.filter(|touched| touched.writes);
        if self.now.is_empty() && writes.is_none() {
            return;
        }
        let is_value = writes.is_some_and(|touched| touched.has_value);
        for unknown in &self.now {
            let is_told = is_value && unknown.by == by;
            let is_touched = || {
                let mut all = touched.into_iter().flat_map(|touched| variables.within(touched.mem));
                all.any(|(variable, _)| variable == unknown.var)
            };
            let counts = !is_told && (unknown.by.0 == by.0 || is_touched());
            if counts && self.relied_on.iter().all(|known| known.var != unknown.var) {
                self.relied_on.push(*unknown);
            }
        }
        if let Some(touched) = writes {
            for (var, is_all) in variables.within(touched.mem) {
                self.now.retain(|unknown| unknown.var != var);
                if self.asked[var as usize] && !(is_all && is_value) {
                    self.now.push(UnknownValue { var, is_all, by });
                }
            }
        }
    }

    /// Those that count by now, or would if anything happened now.
    pub(super) fn all(&self) -> impl Iterator<Item = &UnknownValue> {
        self.relied_on.iter().chain(&self.now)
    }
}
