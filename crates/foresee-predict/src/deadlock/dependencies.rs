//! Requests for a lock while holding others.

use foresee_trace::{EventId, Execution, LockId, Mode, Op, ThreadId};
use rustc_hash::FxHashMap;

use crate::locks::{LockHistory, LocksetId};
use foresee_witness::judge::Place;

/// The requests of one pattern: by thread, in order.
pub(super) type Requests = Vec<(ThreadId, Vec<EventId>)>;

/// What requests of the same lock at the same place, holding the same locks, have in common.
pub(super) struct Pattern {
    pub(super) lock: LockId,
    pub(super) mode: Mode,
    pub(super) held: LocksetId,
    pub(super) place: Place,
    pub(super) requests: Requests,
}

/// All dependencies of an execution.
pub(super) struct Dependencies {
    pub(super) patterns: Vec<Pattern>,
    /// Requests that ended their threads: the run never got these locks.
    pub(super) unanswered: Vec<EventId>,
    /// What each thread did last ([`last_events`]).
    pub(super) last: Vec<Option<EventId>>,
}

impl Dependencies {
    pub(super) fn of(execution: &Execution, locks: &LockHistory) -> Dependencies {
        let last = last_events(execution);
        let asks = |id: &EventId| match execution.op(*id) {
            Op::Request { lock, .. } => {
                let held = locks.held(execution.thread(*id), id.0);
                locks.locksets.get(held).iter().all(|&(other, _)| other != lock)
            }
            _ => false,
        };
        let unanswered: Vec<EventId> = last.iter().copied().flatten().filter(asks).collect();

        let mut builder = Builder::default();
        let mut walk = locks.walk();
        for &id in locks.acquires() {
            let held = walk.before(execution.thread(id), id);
            builder.request(execution, id, held);
        }
        for &id in &unanswered {
            builder.request(execution, id, locks.held(execution.thread(id), id.0));
        }
        Dependencies { patterns: builder.patterns, unanswered, last }
    }
}

/// The last event of each thread. Who waits may still ask for memory, for a queue of those who wait, and run other code of the lock's that is not recorded:
/// that does not count.
fn last_events(execution: &Execution) -> Vec<Option<EventId>> {
    let mut last: Vec<Option<EventId>> = vec![None; execution.thread_count()];
    let is_of_waiting =
        |id: EventId| matches!(execution.op(id), Op::Alloc { .. } | Op::Free { .. } | Op::Blind { .. });
    for id in execution.ids().filter(|&id| !is_of_waiting(id)) {
        last[execution.thread(id).index()] = Some(id);
    }
    last
}

/// The lock that an acquire or request is about.
fn wanted(execution: &Execution, id: EventId) -> Option<(LockId, Mode)> {
    match execution.op(id) {
        Op::Acquire { lock, mode, tried: false } | Op::Request { lock, mode } => Some((lock, mode)),
        _ => None,
    }
}

/// Where a lock is requested, or something else is waited for.
pub(super) fn place(execution: &Execution, id: EventId) -> Option<Place> {
    let target = match execution.op(id) {
        Op::Acquire { lock, .. } | Op::Request { lock, .. } | Op::Wait { cond: lock, .. } => lock.0.into(),
        Op::Await { child } => child.0.into(),
        Op::Blocked { mem } => mem.addr,
        _ => return None,
    };
    Some(Place::new(execution.loc(id), target))
}

#[derive(Default)]
struct Builder {
    patterns: Vec<Pattern>,
    numbers: FxHashMap<(LockId, Mode, LocksetId, Place), usize>,
    /// Where the requests of a thread are in a pattern.
    lists: FxHashMap<(usize, ThreadId), usize>,
}

impl Builder {
    fn request(&mut self, execution: &Execution, id: EventId, held: LocksetId) {
        if held == LocksetId::EMPTY {
            return;
        }
        let (Some((lock, mode)), Some(place)) = (wanted(execution, id), place(execution, id)) else { return };
        let thread = execution.thread(id);
        let number = *self.numbers.entry((lock, mode, held, place)).or_insert(self.patterns.len());
        if number == self.patterns.len() {
            self.patterns.push(Pattern { lock, mode, held, place, requests: Vec::new() });
        }
        let requests = &mut self.patterns[number].requests;
        let list = *self.lists.entry((number, thread)).or_insert(requests.len());
        if list == requests.len() {
            requests.push((thread, Vec::new()));
        }
        requests[list].1.push(id);
    }
}
