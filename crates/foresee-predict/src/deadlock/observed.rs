//! Deadlocks that happened: the run ended with requests that wait for each other.

use foresee_trace::{EventId, Execution, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::locks::{LockHistory, exclude};

/// The cycles of unanswered requests, each waiting for the next one's thread.
///
/// Every thread waits for at most one lock. A lock held by several readers makes its waiter wait for all of them; then one
/// cycle through each request is enough. Linear in requests and holders.
pub(super) fn deadlocks(
    execution: &Execution,
    locks: &LockHistory,
    unanswered: &[EventId],
) -> Vec<Vec<EventId>> {
    let end = execution.len() as u32;
    let requests: FxHashMap<ThreadId, EventId> =
        unanswered.iter().map(|&id| (execution.thread(id), id)).collect();
    let waits_for = |id: EventId| -> Vec<EventId> {
        let Op::Request { lock, mode } = execution.op(id) else { return Vec::new() };
        (locks.sections(lock).iter().map(|sections| sections.thread))
            .filter(|&holder| holder != execution.thread(id))
            .filter(|&holder| {
                let held = locks.locksets.get(locks.held(holder, end));
                held.iter().any(|&(held, held_mode)| held == lock && exclude(held_mode, mode))
            })
            .filter_map(|holder| requests.get(&holder).copied())
            .collect()
    };

    let mut cycles = Vec::new();
    let mut seen: FxHashSet<EventId> = FxHashSet::default();
    for &start in unanswered {
        if !seen.insert(start) {
            continue;
        }
        let mut path = vec![(start, waits_for(start))];
        while let Some((_, holders)) = path.last_mut() {
            let Some(next) = holders.pop() else {
                path.pop();
                continue;
            };
            if let Some(begin) = path.iter().position(|&(id, _)| id == next) {
                cycles.push(path[begin..].iter().map(|&(id, _)| id).collect());
            } else if seen.insert(next) {
                path.push((next, waits_for(next)));
            }
        }
    }
    cycles
}
