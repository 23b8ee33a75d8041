//! Which reads of a schedule may read something else than observed.

use foresee_trace::{EventId, Execution, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dependence::Dependences;

/// For each thread that has exempt reads: the position in the schedule from which on they are; and reads that are not.
#[derive(Default)]
pub(super) struct Exempt {
    from: FxHashMap<ThreadId, usize>,
    but: FxHashSet<EventId>,
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
        Exempt { from, ..Exempt::default() }
    }

    /// Rule (c″): what no branch depends on. Holds more than [`Exempt::last_reads`].
    pub(super) fn by_branches(
        execution: &Execution,
        schedule: &[EventId],
        dependences: &Dependences,
    ) -> Exempt {
        let (mut from, mut but) = (FxHashMap::default(), FxHashSet::default());
        for (position, id) in existing(execution, schedule) {
            let from = from.entry(execution.thread(id)).or_insert(0);
            if let Op::Branch | Op::Blind { .. } = execution.op(id) {
                match dependences.reads(id) {
                    Some(reads) => but.extend(reads),
                    None => *from = position + 1,
                }
            }
        }
        Exempt { from, but }
    }

    /// Whether the thread's event at this position of the schedule is exempt.
    pub(super) fn contains(&self, id: EventId, thread: ThreadId, position: usize) -> bool {
        self.from.get(&thread).is_some_and(|&from| position >= from) && !self.but.contains(&id)
    }
}

/// The events that the execution has, with their positions.
fn existing<'a>(
    execution: &'a Execution,
    schedule: &'a [EventId],
) -> impl Iterator<Item = (usize, EventId)> + 'a {
    schedule.iter().copied().enumerate().filter(|(_, id)| id.index() < execution.len())
}
