//! One pass over an execution with a vector clock per thread: what all causality models have in common.
//!
//! A clock counts steps: `clock[t]` is how many steps of thread t are known to come before. Thread order, fork, join and
//! wake-up are the same in every model (rule (d)); what memory and locks do is up to the model, which calls
//! [`Pass::learn`] where one event must come after another.
//!
//! If asked for, the pass also writes down the direct edges between events of different threads, from which
//! [`schedule`](super::schedule) makes full schedules. They are needed only once something was found.

use std::rc::Rc;

use foresee_trace::{EventId, Execution, LockId, Mode, Op, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::causality::{Causality, Need, Needs, Step, Take};
use super::model::{Edges, Letter};
use super::sharing::Sharing;

/// What is known after an event.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) event: EventId,
    pub(super) clock: Rc<[u32]>,
}

#[derive(Clone, Default)]
struct Thread {
    clock: Vec<u32>,
    /// The clock at the last step: what later steps need not say again.
    at_step: Vec<u32>,
    published: Option<Rc<[u32]>>,
    last: Option<EventId>,
    /// What its next event comes after: the fork, the notifies.
    awaits: Vec<Known>,
}

/// The pass; see the [module](self).
pub(super) struct Pass<'e> {
    pub(super) execution: &'e Execution,
    pub(super) sharing: Sharing,
    pub(super) causality: Causality,
    pub(super) edges: Option<Edges>,
    letter: Letter<'e>,
    threads: Vec<Thread>,
    held: FxHashMap<(ThreadId, LockId), (u32, Mode)>,
    /// Who waits for a condition, and since when.
    waiting: FxHashMap<LockId, Vec<(ThreadId, Known)>>,
}

/// A lock is taken or given up, not counting re-entry.
#[derive(Clone, Copy)]
pub(super) enum Handover {
    Takes(LockId, Mode),
    Gives(LockId, Mode),
}

impl<'e> Pass<'e> {
    /// Of the accesses only those that `counts` says count.
    pub(super) fn new(
        execution: &'e Execution,
        letter: Letter<'e>,
        with_edges: bool,
        counts: &dyn Fn(EventId) -> bool,
    ) -> Self {
        let threads = execution.thread_count();
        let thread = Thread { clock: vec![0; threads], at_step: vec![0; threads], ..Thread::default() };
        Pass {
            execution,
            sharing: Sharing::of(execution, counts),
            causality: Causality::new(threads),
            edges: with_edges.then(Edges::default),
            letter,
            threads: vec![thread; threads],
            held: FxHashMap::default(),
            waiting: FxHashMap::default(),
        }
    }

    /// Before anything else is done about an event: what rule (d) puts before it.
    pub(super) fn begin(&mut self, id: EventId) {
        let thread = self.execution.thread(id);
        for known in std::mem::take(&mut self.threads[thread.index()].awaits) {
            self.learn(id, &known);
        }
        match self.execution.op(id) {
            Op::Join { child } => {
                if let Some(last) = self.threads[child.index()].last {
                    let known = self.publish(last);
                    self.learn(id, &known);
                }
            }
            Op::Notify { cond, .. } => {
                let waiting = self.waiting.get(&cond).cloned().unwrap_or_default();
                for (_, since) in waiting {
                    self.learn(id, &since);
                }
            }
            _ => {}
        }
        self.threads[thread.index()].last = Some(id);
    }

    /// After everything else was done about an event: what rule (d) puts after it.
    pub(super) fn end(&mut self, id: EventId) {
        let thread = self.execution.thread(id);
        if !self.waiting.is_empty() {
            // The thread does something: its wait, if it was in one, has returned.
            self.waiting.values_mut().for_each(|waiting| waiting.retain(|&(who, _)| who != thread));
        }
        match self.execution.op(id) {
            Op::Fork { child } if self.threads[child.index()].last.is_none() => {
                let known = self.publish(id);
                self.threads[child.index()].awaits.push(known);
            }
            Op::Notify { cond, .. } => {
                let known = self.publish(id);
                for (thread, _) in self.waiting.get(&cond).into_iter().flatten() {
                    self.threads[thread.index()].awaits.push(known.clone());
                }
            }
            Op::Wait { cond } if !self.sharing.is_last(self.execution, id) => {
                let known = self.publish(id);
                self.waiting.entry(cond).or_default().push((thread, known));
            }
            _ => {}
        }
    }

    /// The event comes after what is known there.
    pub(super) fn learn(&mut self, id: EventId, known: &Known) {
        let thread = self.execution.thread(id);
        if self.execution.thread(known.event) == thread {
            return;
        }
        let thread = &mut self.threads[thread.index()];
        if join(&mut thread.clock, &known.clock) {
            thread.published = None;
        }
        if let Some(edges) = &mut self.edges {
            edges.add(id, known.event);
        }
    }

    /// What is known after an event of which everything has been learnt.
    pub(super) fn publish(&mut self, id: EventId) -> Known {
        let thread = &mut self.threads[self.execution.thread(id).index()];
        let clock = thread.published.get_or_insert_with(|| thread.clock.as_slice().into());
        Known { event: id, clock: clock.clone() }
    }

    /// The thread's clock now.
    pub(super) fn clock(&self, thread: ThreadId) -> &[u32] {
        &self.threads[thread.index()].clock
    }

    /// Makes the event a step if the property looks at it or it takes turns. The number of the step in its thread.
    pub(super) fn step(&mut self, id: EventId, takes: SmallVec<[Take; 1]>) -> Option<u32> {
        let letter = (self.letter)(id);
        if letter.is_none() && takes.is_empty() {
            return None;
        }
        let of = self.execution.thread(id);
        let thread = &mut self.threads[of.index()];
        let needs = beyond(&thread.clock, &thread.at_step, of);
        thread.clock[of.index()] += 1;
        thread.at_step.copy_from_slice(&thread.clock);
        thread.published = None;
        let letter = letter.unwrap_or(super::causality::SILENT);
        Some(self.causality.push(of.0, Step { event: id.0, letter, needs, takes }))
    }

    /// How the event changes who holds a lock.
    pub(super) fn handover(&mut self, id: EventId) -> Option<Handover> {
        let thread = self.execution.thread(id);
        match self.execution.op(id) {
            Op::Acquire { lock, mode, .. } => {
                let (depth, _) = self.held.entry((thread, lock)).or_insert((0, mode));
                *depth += 1;
                (*depth == 1).then_some(Handover::Takes(lock, mode))
            }
            Op::Release { lock, .. } => {
                let (depth, mode) = self.held.get_mut(&(thread, lock))?;
                *depth -= 1;
                let (left, mode) = (*depth, *mode);
                if left > 0 {
                    return None;
                }
                self.held.remove(&(thread, lock));
                Some(Handover::Gives(lock, mode))
            }
            Op::Wait { cond } => {
                self.held.remove(&(thread, cond)).map(|(_, mode)| Handover::Gives(cond, mode))
            }
            _ => None,
        }
    }
}

/// Covers what the other clock covers, too; whether that was anything new.
pub(super) fn join(clock: &mut [u32], other: &[u32]) -> bool {
    let mut new = false;
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        new |= theirs > *mine;
        *mine = theirs.max(*mine);
    }
    new
}

/// What a clock covers beyond another one, of threads but `except`.
pub(super) fn beyond(clock: &[u32], than: &[u32], except: ThreadId) -> Needs {
    (clock.iter().zip(than).zip(0..))
        .filter(|&((count, known), thread)| count > known && thread != except.0)
        .map(|((&count, _), thread)| Need { thread, count })
        .collect()
}
