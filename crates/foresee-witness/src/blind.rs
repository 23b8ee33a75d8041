//! How much of a run was blind: what it costs in predictions, and what to do about it.
//!
//! A critical section in which its thread ran blind code keeps its place (rule (f)), so nothing is predicted by moving it. That is not
//! silent: the report says how many there were, and which code it was.

use foresee_trace::synchronisation::{Handover, LockWalk};
use foresee_trace::{Event, Op, StrId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Blind code that ran in critical sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlindSections {
    /// How many critical sections there were.
    pub sections: u64,
    /// How many of them were blind.
    pub blind: u64,
    /// Which code ran there, and in how many; most first.
    pub code: Vec<(StrId, u64)>,
}

/// Counts while a run is read.
#[derive(Default)]
pub(crate) struct BlindCount {
    locks: LockWalk,
    sections: u64,
    /// What ran in the sections that threads are in now.
    open: FxHashMap<ThreadId, FxHashSet<StrId>>,
    blind: u64,
    code: FxHashMap<StrId, u64>,
}

impl BlindCount {
    /// The next event.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event.op {
            Op::Blind { code, .. } if self.locks.held(event.thread).next().is_some() => {
                self.open.entry(event.thread).or_default().insert(code);
            }
            Op::Acquire { .. } | Op::Release { .. } | Op::Wait { .. } => {
                if let Some(Handover::Gives(_)) = self.locks.event(event.thread, &event.op) {
                    self.end(event.thread);
                }
            }
            _ => {}
        }
    }

    /// A thread has given up a lock: with the last one, its critical section ends.
    fn end(&mut self, thread: ThreadId) {
        if self.locks.held(thread).next().is_some() {
            return;
        }
        self.sections += 1;
        if let Some(code) = self.open.remove(&thread) {
            self.blind += 1;
            code.into_iter().for_each(|code| *self.code.entry(code).or_default() += 1);
        }
    }

    /// What was counted.
    pub(crate) fn finish(self) -> BlindSections {
        let mut code: Vec<(StrId, u64)> = self.code.into_iter().collect();
        code.sort_unstable_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
        BlindSections { sections: self.sections, blind: self.blind, code }
    }
}

#[cfg(test)]
mod tests {
    use foresee_trace::{LocId, LockId, Mode};

    use super::*;

    #[test]
    fn a_section_counts_once() {
        let acquire = |lock| Op::Acquire { lock: LockId(lock), mode: Mode::Exclusive, tried: false };
        let release = |lock| Op::Release { lock: LockId(lock), mode: Mode::Exclusive };
        let blind = |code| Op::Blind { code: StrId(code), orders: false };
        let mut count = BlindCount::default();
        let one = [blind(1), acquire(0), acquire(1), blind(1), release(1), blind(1), blind(2), release(0)];
        let other = [acquire(0), release(0), blind(1)];
        let events = one.into_iter().map(|op| (0, op)).chain(other.into_iter().map(|op| (1, op)));
        events.for_each(|(thread, op)| {
            count.event(&Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op });
        });
        let code = vec![(StrId(1), 1), (StrId(2), 1)];
        assert_eq!(count.finish(), BlindSections { sections: 2, blind: 1, code });
    }
}
