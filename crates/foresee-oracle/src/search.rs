//! The program as a state machine: one step, and all states that steps can reach.
//!
//! The state is what the next steps depend on: which events are done (each thread a prefix, hence also which locks are held),
//! the last write of each cell, which reads read another write than observed, and which waits missed a notify they
//! needed. A thread whose last read was such a changed one has stopped: it is not known what it does next. Where branches
//! tell, it goes on to the next one that depends on a changed read, and what it writes on the way has changed, too, if it depends
//! on one.

use std::collections::HashSet;
use std::rc::Rc;

use foresee_trace::{EventId, LockId, Mode, Op};

use crate::facts::{Facts, Rule, exclude};

/// A set of events.
pub(crate) type Events = u64;

/// What the future of a schedule depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) done: Events,
    /// The last write of each cell.
    writers: Vec<Option<u8>>,
    /// Reads that read another write than in the execution, and what their threads wrote then.
    pub(crate) changed: Events,
    /// Waits for which a notify that should wake them came too early.
    missed: Events,
}

pub(crate) fn has(events: Events, event: usize) -> bool {
    events >> event & 1 == 1
}

impl Facts<'_> {
    pub(crate) fn start(&self) -> State {
        State { done: 0, writers: vec![None; self.execution.cell_count()], changed: 0, missed: 0 }
    }

    /// How many events the thread has done.
    pub(crate) fn progress(&self, state: &State, thread: usize) -> usize {
        self.by_thread[thread].iter().take_while(|&&e| has(state.done, e)).count()
    }

    /// The next event of each thread that has one.
    pub(crate) fn nexts(&self, state: &State) -> Vec<usize> {
        let next = |t: usize| self.by_thread[t].get(self.progress(state, t)).copied();
        (0..self.by_thread.len()).filter_map(next).collect()
    }

    /// The state after `event`, its thread's next; `None` if it cannot happen now.
    pub(crate) fn step(&self, state: &State, event: usize) -> Option<State> {
        let can = self.may_go_on(state, self.thread(event))
            && self.may_branch(state, event)
            && self.may_join(state, event)
            && self.may_lock(state, event)
            && self.blind[event].iter().all(|&before| has(state.done, before));
        if !can {
            return None;
        }
        let mut after = state.clone();
        after.done |= 1 << event;
        if let Some(touch) = &self.touches[event] {
            if touch.access.reads {
                let as_observed = touch.cells.iter().zip(&touch.observed).all(|(&cell, &observed)| {
                    let write = state.writers[cell].map(usize::from);
                    write == observed && !write.is_some_and(|write| has(state.changed, write))
                });
                if !as_observed {
                    after.changed |= 1 << event;
                }
            }
            if touch.access.writes {
                if self.writes_a_value(event) && self.depends_on_changed(&after, event) {
                    after.changed |= 1 << event;
                }
                for &cell in &touch.cells {
                    after.writers[cell] = Some(event as u8);
                }
            }
        }
        for (wait, wakeups) in self.wakeups.iter().enumerate() {
            if wakeups.contains(&event) && !has(state.done, wait) {
                after.missed |= 1 << wait;
            }
        }
        Some(after)
    }

    /// Whether the thread was forked, knows what to do next, and is in no wait that cannot return.
    pub(crate) fn may_go_on(&self, state: &State, thread: usize) -> bool {
        if self.forks[thread].is_some_and(|fork| !has(state.done, fork)) {
            return false;
        }
        let Some(last) = self.progress(state, thread).checked_sub(1) else { return true };
        let last = self.by_thread[thread][last];
        let stopped = self.rule == Rule::AllReads && has(state.changed, last);
        !stopped
            && !has(state.missed, last)
            && self.wakeups[last].iter().all(|&notify| has(state.done, notify))
    }

    fn may_join(&self, state: &State, event: usize) -> bool {
        let Op::Join { child } = self.op(event) else { return true };
        self.by_thread[child.index()].iter().all(|&e| has(state.done, e))
            && (self.rule == Rule::ReadsBeforeBranches || !self.has_changed(state, child.index()))
    }

    fn may_branch(&self, state: &State, event: usize) -> bool {
        !self.is_branch(event) || !self.depends_on_changed(state, event)
    }

    fn depends_on_changed(&self, state: &State, event: usize) -> bool {
        self.depends[event].iter().any(|&read| has(state.changed, read))
    }

    /// Whether the thread has read another write than in the execution.
    fn has_changed(&self, state: &State, thread: usize) -> bool {
        self.by_thread[thread].iter().any(|&e| has(state.changed, e))
    }

    fn may_lock(&self, state: &State, event: usize) -> bool {
        let Op::Acquire { lock, mode, .. } = self.op(event) else { return true };
        let me = self.thread(event);
        self.mode(state, me, lock).is_some() // re-entry
            || (0..self.by_thread.len()).all(|t| {
                self.mode(state, t, lock).is_none_or(|held| !exclude(held, mode))
            })
    }

    /// How a thread holds a lock.
    pub(crate) fn mode(&self, state: &State, thread: usize, lock: LockId) -> Option<Mode> {
        let held = &self.held[thread][self.progress(state, thread)];
        held.iter().find(|&&(l, _)| l == lock).map(|&(_, mode)| mode)
    }

    /// All states reachable by steps to states that are `allowed`.
    pub(crate) fn reach(&self, allowed: impl Fn(&State, usize) -> bool) -> Reached {
        let start = Rc::new(self.start());
        let mut reached = Reached { states: vec![(start.clone(), None)] };
        let mut known = HashSet::from([start]);
        let mut at = 0;
        while at < reached.states.len() {
            let state = reached.states[at].0.clone();
            for event in self.nexts(&state) {
                if let Some(after) = self.step(&state, event).filter(|after| allowed(after, event)) {
                    let after = Rc::new(after);
                    if known.insert(after.clone()) {
                        reached.states.push((after, Some((at, event))));
                    }
                }
            }
            at += 1;
        }
        reached
    }
}

/// The number of the state before, and the event that led on from it.
type Origin = (usize, usize);

/// Reachable states, nearest first, each with the state and the event it was first reached by.
pub(crate) struct Reached {
    states: Vec<(Rc<State>, Option<Origin>)>,
}

impl Reached {
    /// All of them, numbered.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &State)> {
        self.states.iter().enumerate().map(|(number, (state, _))| (number, state.as_ref()))
    }

    /// A shortest schedule that leads to a state, and on with `more` events.
    pub(crate) fn schedule(&self, state: usize, more: &[usize]) -> Vec<EventId> {
        let mut backwards: Vec<usize> = more.iter().rev().copied().collect();
        let mut at = state;
        while let Some((from, event)) = self.states[at].1 {
            backwards.push(event);
            at = from;
        }
        backwards.iter().rev().map(|&e| EventId(e as u32)).collect()
    }
}
