//! The values of atomics, as far as the recorded operations explain them.
//!
//! Code without instrumentation, and signal handlers that interrupt the runtime, change atomics unseen. A value read that
//! no recorded write explains is left out: an unknown value is true, a value out of nowhere would be a run that
//! cannot be.

use rustc_hash::FxHashMap;

use crate::event::{Mem, Op};

/// The last value of every atomic.
#[derive(Default)]
pub(crate) struct AtomicValues {
    last: FxHashMap<Mem, u64>,
    /// How many operations lost their values.
    pub(crate) unexplained: u64,
}

impl AtomicValues {
    /// The operation, without values that are not explained.
    pub(crate) fn explained<'a>(&mut self, op: Op<'a>) -> Op<'a> {
        match op {
            Op::Load { mem, order, value: Some(value) } => {
                let known = self.last.get(&mem).is_none_or(|&last| last == value);
                self.unexplained += u64::from(!known);
                Op::Load { mem, order, value: known.then_some(value) }
            }
            Op::Store { mem, value: Some(value), .. } => {
                self.last.insert(mem, value);
                op
            }
            Op::Rmw { mem, order, values: Some((old, new)) } => {
                let last = self.last.insert(mem, new);
                if last.is_none_or(|last| last == old) {
                    return op;
                }
                // What it wrote is unknown with what it read.
                self.last.remove(&mem);
                self.unexplained += 1;
                Op::Rmw { mem, order, values: None }
            }
            Op::Store { mem, .. } | Op::Rmw { mem, .. } | Op::Write { mem, .. } => {
                self.last.remove(&mem);
                op
            }
            _ => op,
        }
    }
}
