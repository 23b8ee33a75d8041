//! Which reads of a schedule may read something else than observed.

use foresee_trace::{EventId, Execution, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// For each thread that has exempt reads: the position in the schedule from which on they are.
#[derive(Default)]
pub(super) struct Exempt {
    from: FxHashMap<ThreadId, usize>,
}

impl Exempt {
    /// Rule (e): each thread's last event, but for threads whose fate depends on what they read last. The threads
    /// `going_on` do something after the schedule.
    pub(super) fn last_reads(execution: &Execution, schedule: &[EventId], going_on: &[ThreadId]) -> Exempt {
        let mut from = FxHashMap::default();
        let mut depended_on: FxHashSet<ThreadId> = going_on.iter().copied().collect();
        for (position, id) in existing(execution, schedule) {
            from.insert(execution.thread(id), position);
            if let Op::Join { child } = execution.op(id) {
                depended_on.insert(child);
            }
        }
        from.retain(|thread, _| !depended_on.contains(thread));
        Exempt { from }
    }

    /// Rule (c″): what comes after each thread's last branch. Holds more than [`Exempt::last_reads`].
    pub(super) fn after_branches(execution: &Execution, schedule: &[EventId]) -> Exempt {
        let mut from = FxHashMap::default();
        for (position, id) in existing(execution, schedule) {
            let from = from.entry(execution.thread(id)).or_insert(0);
            if execution.op(id) == Op::Branch {
                *from = position + 1;
            }
        }
        Exempt { from }
    }

    /// Whether the thread's event at this position of the schedule is exempt.
    pub(super) fn contains(&self, thread: ThreadId, position: usize) -> bool {
        self.from.get(&thread).is_some_and(|&from| position >= from)
    }
}

/// The events that the execution has, with their positions.
fn existing<'a>(
    execution: &'a Execution,
    schedule: &'a [EventId],
) -> impl Iterator<Item = (usize, EventId)> + 'a {
    schedule.iter().copied().enumerate().filter(|(_, id)| id.index() < execution.len())
}
