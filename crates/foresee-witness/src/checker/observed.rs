//! What the rules need to know of the observed run, noted in one pass.

use std::ops::Range;

use foresee_trace::{EventId, Execution, LockId, Op, StrId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::blind::BlindCode;
use super::dependence::Dependences;

/// Stands for "no event"; an execution has fewer events than that.
const NONE: u32 = u32::MAX;

/// Facts about the observed run.
#[derive(Clone, Default)]
pub(super) struct Observed {
    /// The next event of the same thread.
    next: Vec<u32>,
    /// For an event that reads: the write it read, the same in all its cells unless `torn` says otherwise.
    read_from: Vec<u32>,
    /// Reads whose cells were not all written by the same event: the write of each.
    torn: FxHashMap<EventId, Vec<u32>>,
    /// First and last event of each thread.
    ends: FxHashMap<ThreadId, (EventId, EventId)>,
    forks: FxHashMap<ThreadId, EventId>,
    /// The notifies of each condition, in order.
    notifies: FxHashMap<LockId, Vec<EventId>>,
    /// For a wait that returned: which of its condition's notifies came meanwhile.
    woken_by: FxHashMap<EventId, (LockId, Range<usize>)>,
    /// Whether there are branch events.
    pub(super) has_branches: bool,
    /// Where values come from, as far as that is said.
    pub(super) dependences: Dependences,
    /// Where blind code keeps things in place.
    pub(super) blind: BlindCode,
    /// Functions whose calls are atomic blocks.
    pub(super) atomic_functions: FxHashSet<StrId>,
}

impl Observed {
    pub(super) fn of(execution: &Execution) -> Observed {
        let mut observed = Observed {
            next: vec![NONE; execution.len()],
            read_from: vec![NONE; execution.len()],
            dependences: Dependences::of(execution),
            blind: BlindCode::of(execution),
            ..Observed::default()
        };
        let mut last_write = vec![NONE; execution.cell_count()];
        let mut waiting: FxHashMap<ThreadId, (EventId, LockId, usize)> = FxHashMap::default();
        for id in execution.ids() {
            let thread = execution.thread(id);
            if !waiting.is_empty()
                && let Some((wait, cond, since)) = waiting.remove(&thread)
            {
                let until = observed.notifies.get(&cond).map_or(0, Vec::len);
                if since < until {
                    observed.woken_by.insert(wait, (cond, since..until));
                }
            }
            let (_, last) = observed.ends.entry(thread).or_insert((id, id));
            if *last != id {
                observed.next[last.index()] = id.0;
                *last = id;
            }
            match execution.op(id) {
                Op::Fork { child } => {
                    observed.forks.entry(child).or_insert(id);
                }
                Op::Branch => observed.has_branches = true,
                Op::Notify { cond, .. } => observed.notifies.entry(cond).or_default().push(id),
                Op::Wait { cond, .. } => {
                    waiting.insert(thread, (id, cond, observed.notifies.get(&cond).map_or(0, Vec::len)));
                }
                _ => {}
            }
            if let Some((var, access)) = execution.access(id) {
                let cells = &mut last_write[as_indices(execution.cells(var))];
                if access.reads {
                    let first = cells.first().copied().unwrap_or(NONE);
                    observed.read_from[id.index()] = first;
                    if cells.iter().any(|&write| write != first) {
                        observed.torn.insert(id, cells.to_vec());
                    }
                }
                if access.writes {
                    cells.fill(id.0);
                }
            }
        }
        observed
    }

    /// The event that `thread` does next, after having done `last`.
    pub(super) fn next(&self, thread: ThreadId, last: Option<EventId>) -> Option<EventId> {
        match last {
            Some(last) => some(self.next[last.index()]),
            None => self.ends.get(&thread).map(|&(first, _)| first),
        }
    }

    /// The write that a read saw in the `nth` cell of its variable.
    pub(super) fn read_from(&self, read: EventId, nth: usize) -> Option<EventId> {
        let write = match self.torn.get(&read) {
            Some(writes) => writes.get(nth).copied().unwrap_or(NONE),
            None => self.read_from[read.index()],
        };
        some(write)
    }

    /// The write that a read saw in all its cells.
    pub(super) fn only_write(&self, read: EventId) -> Option<EventId> {
        if self.torn.contains_key(&read) { None } else { some(self.read_from[read.index()]) }
    }

    /// The last event of a thread.
    pub(super) fn last(&self, thread: ThreadId) -> Option<EventId> {
        self.ends.get(&thread).map(|&(_, last)| last)
    }

    /// The event that created a thread.
    pub(super) fn fork(&self, thread: ThreadId) -> Option<EventId> {
        self.forks.get(&thread).copied()
    }

    /// The notifies that came between a wait and its thread's next event.
    pub(super) fn woken_by(&self, wait: EventId) -> &[EventId] {
        (self.woken_by.get(&wait))
            .and_then(|(cond, range)| self.notifies.get(cond)?.get(range.clone()))
            .unwrap_or(&[])
    }
}

fn some(id: u32) -> Option<EventId> {
    (id != NONE).then_some(EventId(id))
}

fn as_indices(cells: Range<u32>) -> Range<usize> {
    cells.start as usize..cells.end as usize
}
