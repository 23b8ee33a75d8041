//! Runs in which one thread is held up: it stops before one of its events while others go on, and continues later.
//!
//! Whoever needs what the thread has not done yet waits with it: for a lock that it holds, for the end of a thread that waits, for what it would have
//! written. Whether what comes out is a correct reordering is for the checker to say; this only makes runs that are likely to be.

use foresee_trace::{EventId, Execution, LockId, Mode, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::operations::Words;

/// So many words of other threads after the moment at which it stops, the thread goes on at the latest.
pub(super) const WINDOW: usize = 48;

/// What each event needs of others.
pub(super) struct Needs {
    /// The writes that each read reads.
    writes: FxHashMap<EventId, Vec<EventId>>,
}

impl Needs {
    pub(super) fn of(execution: &Execution) -> Needs {
        let mut last: FxHashMap<u32, EventId> = FxHashMap::default();
        let mut writes: FxHashMap<EventId, Vec<EventId>> = FxHashMap::default();
        for id in execution.ids() {
            let Some((var, access)) = execution.access(id) else { continue };
            if access.reads {
                let read = execution.cells(var).filter_map(|cell| last.get(&cell).copied());
                let others = read.filter(|write| execution.thread(*write) != execution.thread(id));
                let others: Vec<EventId> = others.collect();
                if !others.is_empty() {
                    writes.insert(id, others);
                }
            }
            if access.writes {
                last.extend(execution.cells(var).map(|cell| (cell, id)));
            }
        }
        Needs { writes }
    }
}

/// The moments at which a thread may be held up: before a word, before it takes a lock, before an access to memory.
pub(super) fn moments(execution: &Execution, words: &Words) -> Vec<EventId> {
    let matters = |&id: &EventId| {
        words.has(execution, id)
            || matches!(execution.op(id), Op::Acquire { .. } | Op::Request { .. })
            || execution.access(id).is_some()
    };
    execution.ids().filter(matters).collect()
}

/// The places up to which a thread that stops at a moment may be held up: words of others after it, in the order of a run.
pub(super) fn ends(
    execution: &Execution,
    words: &Words,
    base: impl Iterator<Item = EventId>,
    stop: EventId,
) -> Vec<EventId> {
    let own = execution.thread(stop);
    let later = base.skip_while(|id| *id != stop).skip(1);
    let others = later.filter(|id| execution.thread(*id) != own && words.has(execution, *id));
    // Nobody can tell that a block has begun.
    let matters = |id: &EventId| !matches!(execution.op(*id), Op::CommitBegin { .. });
    others.take(WINDOW).filter(matters).collect()
}

/// The run in which the thread of `stop` does not go on before it until `end` has happened. All of the rest follows, in the order of `base`, which is the
/// observed run or another.
pub(super) fn run(
    execution: &Execution,
    needs: &Needs,
    base: impl Iterator<Item = EventId>,
    stop: EventId,
    end: EventId,
) -> Option<Vec<EventId>> {
    let mut waiting: FxHashSet<ThreadId> = FxHashSet::default();
    let mut locks = Locks::default();
    let mut run: Vec<EventId> = Vec::with_capacity(execution.len());
    let mut later = Vec::new();
    // What waits, for whoever reads it.
    let mut undone: FxHashSet<EventId> = FxHashSet::default();
    let mut is_over = false;
    for id in base {
        if is_over {
            later.push(id);
            continue;
        }
        is_over = id == end;
        let (thread, op) = (execution.thread(id), execution.op(id));
        let must_wait = id == stop
            || waiting.contains(&thread)
            || locks.is_taken(thread, op)
            || needs.writes.get(&id).into_iter().flatten().any(|write| undone.contains(write))
            || matches!(op, Op::Join { child } if waiting.contains(&child));
        if must_wait {
            // A thread that never began waits for its fork, as its parent does.
            waiting.insert(thread);
            if let Op::Fork { child } = op {
                waiting.insert(child);
            }
            later.push(id);
            undone.insert(id);
        } else {
            locks.event(thread, op);
            run.push(id);
        }
    }
    // The end itself had to wait: nothing that matters was moved.
    if run.last() != Some(&end) {
        return None;
    }
    run.extend(later);
    Some(run)
}

/// Who holds which lock.
#[derive(Default)]
struct Locks(FxHashMap<LockId, Vec<(ThreadId, Mode)>>);

impl Locks {
    /// Whether the thread cannot have the lock that it is about to take.
    fn is_taken(&self, thread: ThreadId, op: Op<'_>) -> bool {
        let Op::Acquire { lock, mode, .. } = op else { return false };
        let mut holders = self.0.get(&lock).into_iter().flatten();
        holders
            .any(|&(holder, held)| holder != thread && (held == Mode::Exclusive || mode == Mode::Exclusive))
    }

    fn event(&mut self, thread: ThreadId, op: Op<'_>) {
        match op {
            Op::Acquire { lock, mode, .. } => self.0.entry(lock).or_default().push((thread, mode)),
            Op::Release { lock, .. } => {
                if let Some(holders) = self.0.get_mut(&lock)
                    && let Some(own) = holders.iter().rposition(|(holder, _)| *holder == thread)
                {
                    holders.remove(own);
                }
            }
            _ => {}
        }
    }
}
