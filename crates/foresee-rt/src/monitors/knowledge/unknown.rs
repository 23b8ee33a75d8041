//! Variables of formulas that were written, nobody knows with what: what is found from then on is not proven.
//!
//! A copy over a variable is a write without a value, and the thread's next step one with it: then nothing was said without knowing it. Where threads race for a variable, neither its
//! value nor the order of their accesses is known, and that stays so.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use foresee_mttl::{Accessed, Program};

use crate::monitors::spin::Spin;

/// Which variables those are.
pub(super) struct Unknown {
    /// The variables of whose values formulas speak, as bits.
    asked: u64,
    is_any: AtomicBool,
    last: Spin<Vec<Last>>,
}

/// What was written last without a value.
#[derive(Clone, Copy)]
struct Last {
    variable: u32,
    /// Who may still say what, with the very next step: which thread, and how much it had done by then.
    by: Option<(u32, u64)>,
}

impl Unknown {
    pub(super) fn new(program: &Program) -> Unknown {
        let asked = (0..program.variables().len() as u32).filter(|number| program.asks_for_value_of(*number));
        let asked = asked.fold(0, |bits, number| bits | 1 << number);
        Unknown { asked, is_any: AtomicBool::new(false), last: Spin::new(Vec::new()) }
    }

    /// Whether it matters which values are written.
    #[inline]
    pub(super) fn matters(&self) -> bool {
        self.asked != 0
    }

    /// A thread, that has done so much, has written this without saying what.
    pub(super) fn written(&self, thread: u32, at: u64, accessed: Accessed) {
        self.note(accessed, Some((thread, at)));
    }

    /// Threads race for this.
    pub(super) fn raced(&self, accessed: Accessed) {
        self.note(accessed, None);
    }

    fn note(&self, accessed: Accessed, by: Option<(u32, u64)>) {
        let written = accessed.written() & self.asked;
        if written == 0 {
            return;
        }
        let mut last = self.last.lock();
        for variable in (0..u64::BITS).filter(|bit| written >> bit & 1 == 1) {
            match last.iter_mut().find(|known| known.variable == variable) {
                Some(known) if by.is_none() => known.by = None,
                Some(_) => {}
                None => last.push(Last { variable, by }),
            }
        }
        self.is_any.store(true, Relaxed);
    }

    /// A variable got this value.
    #[inline]
    pub(super) fn got(&self, thread: u32, at: u64, variable: u32) {
        if self.is_any.load(Relaxed) {
            let mut last = self.last.lock();
            let is_told = |last: &Last| {
                last.variable == variable && last.by.is_some_and(|(by, from)| (by, from + 1) == (thread, at))
            };
            last.retain(|last| !is_told(last));
            self.is_any.store(!last.is_empty(), Relaxed);
        }
    }

    /// The numbers of these variables.
    pub(super) fn all(&self) -> Vec<u32> {
        self.last.lock().iter().map(|last| last.variable).collect()
    }
}
