//! What there is to ask of an execution: one cheap pass that spares engines that could not find anything new.
//!
//! Most traces leave little open. Without an atomic block no block is violated; without a lock taken while another is held
//! there is no circle of locks; and if every pair of places that could race is already proven, or guarded by a common
//! lock, or kept apart by a fork or a join, no engine has a race to predict. The answers err on the side of asking.
//!
//! **Cost.** One pass over the execution, a few nanoseconds per event, beside [`LockHistory`]. Per cell at most
//! 48 kinds of accesses are told apart; a cell with more counts as open.

use foresee_trace::{Access, EventId, Execution, Op, ThreadId};
use rustc_hash::FxHashMap;

use crate::atomicity::AtomicFunctions;
use crate::engine::Proven;
use crate::finding::{Kind, Place};
use crate::locks::{LockHistory, LocksetId};

/// What an engine works on; it is skipped where the survey says that there is none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Runs in any case.
    Nothing,
    /// Pairs of accesses that may race and are not proven yet.
    OpenRaces,
    /// Locks taken while others are held, or a thread that never got its lock.
    NestedLocks,
    /// Either of the two.
    OpenRacesOrNestedLocks,
    /// Atomic blocks.
    Blocks,
}

/// What there is in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Whether places may race that are not proven to.
    pub open_races: bool,
    /// Whether a lock is taken while another is held, or the run ends with a thread waiting for one.
    pub nested_locks: bool,
    /// Whether there are atomic blocks.
    pub blocks: bool,
}

/// A cell with more kinds of accesses than this is not looked into.
const MAX_CLASSES: usize = 48;

/// Accesses of one kind: by whom, where, how, holding what; and from when to when.
#[derive(Clone, Copy)]
struct Class {
    thread: ThreadId,
    place: Place,
    access: Access,
    lockset: LocksetId,
    first: EventId,
    last: EventId,
}

impl Survey {
    /// Looks at an execution of which `proven` is known already.
    pub fn of(execution: &Execution, proven: &Proven, atomic: &AtomicFunctions) -> Survey {
        let locks = LockHistory::of(execution);
        let mut survey = Survey { open_races: false, nested_locks: locks.has_nested(), blocks: false };
        let mut cells: Vec<Vec<Class>> = vec![Vec::new(); execution.cell_count()];
        let mut lives = Lives::default();
        let mut held = locks.walk();
        let mut waiting: FxHashMap<ThreadId, bool> = FxHashMap::default();
        for id in execution.ids() {
            let thread = execution.thread(id);
            let Some((var, access)) = execution.access(id) else {
                match execution.op(id) {
                    Op::Fork { child } => lives.forked(child, thread, id),
                    Op::Join { child } => lives.joined(child, thread, id),
                    Op::BlockBegin { .. } => survey.blocks = true,
                    Op::Enter { function } if !atomic.is_empty() && !survey.blocks => {
                        survey.blocks = atomic.matches(execution.names().str(function));
                    }
                    Op::Request { .. } => drop(waiting.insert(thread, true)),
                    Op::Acquire { .. } => drop(waiting.insert(thread, false)),
                    _ => {}
                }
                continue;
            };
            let lockset = held.before(thread, id);
            let place = Place::of_access(execution, id, var);
            for cell in execution.cells(var) {
                let classes = &mut cells[cell as usize];
                let same = |class: &Class| {
                    class.thread == thread
                        && class.place == place
                        && class.lockset == lockset
                        && class.access == access
                };
                match classes.iter().position(same) {
                    Some(at) => classes[at].last = id,
                    // One more than told apart: open.
                    None if classes.len() > MAX_CLASSES => {}
                    None => classes.push(Class { thread, place, access, lockset, first: id, last: id }),
                }
            }
        }
        survey.nested_locks |= waiting.values().any(|&waits| waits);
        survey.open_races = cells.iter().any(|classes| is_open(classes, &locks, &lives, proven));
        survey
    }

    /// Whether an engine with these needs has something to work on.
    pub fn has(&self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::OpenRaces => self.open_races,
            Needs::NestedLocks => self.nested_locks,
            Needs::OpenRacesOrNestedLocks => self.open_races || self.nested_locks,
            Needs::Blocks => self.blocks,
        }
    }
}

fn is_open(classes: &[Class], locks: &LockHistory, lives: &Lives, proven: &Proven) -> bool {
    if classes.len() > MAX_CLASSES {
        return true;
    }
    classes.iter().enumerate().any(|(nth, a)| {
        classes[nth + 1..].iter().any(|b| {
            a.thread != b.thread
                && a.access.races(b.access)
                && !locks.locksets.exclude(a.lockset, b.lockset)
                && !lives.keep_apart(a, b)
                && !lives.keep_apart(b, a)
                && {
                    let (first, second) = a.place.pair(b.place);
                    !proven.contains(Kind::Race, &[first, second])
                }
        })
    })
}

/// When threads were forked and joined, and by whom.
#[derive(Default)]
struct Lives {
    forks: FxHashMap<ThreadId, (ThreadId, EventId)>,
    joins: FxHashMap<ThreadId, (ThreadId, EventId)>,
}

impl Lives {
    fn forked(&mut self, child: ThreadId, by: ThreadId, at: EventId) {
        self.forks.entry(child).or_insert((by, at));
    }

    fn joined(&mut self, child: ThreadId, by: ThreadId, at: EventId) {
        self.joins.entry(child).or_insert((by, at));
    }

    /// Whether all of `a` is ordered before or after all of `b` because a thread forked or joined the thread of `b`: the
    /// thread of `a` itself, or one that had joined it before.
    fn keep_apart(&self, a: &Class, b: &Class) -> bool {
        let fork = self.forks.get(&b.thread);
        let join = self.joins.get(&b.thread);
        let joined_before = match (self.joins.get(&a.thread), fork) {
            (Some(&(by, joined)), Some(&(forker, forked))) => by == forker && joined < forked,
            _ => false,
        };
        joined_before
            || fork.is_some_and(|&(by, at)| by == a.thread && a.last < at)
            || join.is_some_and(|&(by, at)| by == a.thread && a.first > at)
    }
}

#[cfg(test)]
mod tests {
    use foresee_oracle::{Config, Oracle, for_each_seed, random_execution};

    use super::*;

    /// Where the oracle finds something, the survey must not say that there is nothing.
    #[test]
    fn nothing_real_is_spared() {
        let atomic = AtomicFunctions::new(Vec::<String>::new());
        for_each_seed(20_000, |seed| {
            let lock_heavy = if seed % 2 == 0 { 100 } else { 0 };
            let execution = random_execution(seed, &Config { lock_heavy, ..Config::default() });
            let survey = Survey::of(&execution, &Proven::default(), &atomic);
            let oracle = Oracle::new(&execution);
            assert!(survey.open_races || oracle.races().is_empty());
            assert!(survey.nested_locks || oracle.deadlocks().is_empty());
            assert!(survey.blocks || oracle.atomicity_violations().is_empty());
        });
    }
}
