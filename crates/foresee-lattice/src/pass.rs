//! One pass over an execution with a vector clock per thread: what all causality models have in common.
//!
//! A clock counts steps: `clock[t]` is how many steps of thread t are known to come before. Thread order, fork, join and
//! wake-up (rule (d)) and what blind code keeps in place (rule (f)) are the same in every model; what memory and locks do is up to the model, which calls
//! [`Clocks::learn`] where one event must come after another.
//!
//! If asked for, the pass also writes down the direct edges between events of different threads, from which
//! [`schedule`](super::schedule) makes full schedules. They are needed only once something was found.

use std::rc::Rc;

use foresee_trace::synchronisation::{After, Handover, ThreadWalk};
use foresee_trace::{EventId, Execution, Op, ThreadId};
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
}

/// The clocks of all threads, and the edges between their events.
pub(super) struct Clocks<'e> {
    execution: &'e Execution,
    threads: Vec<Thread>,
    edges: Option<Edges>,
}

/// The pass; see the [module](self).
pub(super) struct Pass<'e> {
    pub(super) execution: &'e Execution,
    pub(super) sharing: Sharing,
    pub(super) causality: Causality,
    pub(super) clocks: Clocks<'e>,
    letter: Letter<'e>,
    walk: ThreadWalk<Known>,
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
        let edges = with_edges.then(Edges::default);
        Pass {
            execution,
            sharing: Sharing::of(execution, counts),
            causality: Causality::new(threads),
            clocks: Clocks { execution, threads: vec![thread; threads], edges },
            letter,
            walk: ThreadWalk::new(),
        }
    }

    /// Before anything else is done about an event: what rules (d) and (f) put before it, and the lock that it takes or gives.
    pub(super) fn begin(&mut self, id: EventId) -> Option<Handover> {
        let Pass { execution, sharing, clocks, walk, .. } = self;
        let thread = execution.thread(id);
        let op = synchronisation_of(execution, id);
        let handover = walk.begin(thread, op.as_ref(), |after| match after {
            After::Fork(before) | After::Section(before) | After::Order(before) => clocks.learn(id, before),
            After::Notifies { notifies, .. } => notifies.iter().for_each(|notify| clocks.learn(id, notify)),
            // A wait that did not return need not have happened.
            After::Wait(wait) if sharing.is_last(execution, wait.event) => {}
            After::Wait(wait) => clocks.learn(id, wait),
            After::End(child) => {
                if let Some(last) = clocks.threads[child.index()].last {
                    let known = clocks.publish(last);
                    clocks.learn(id, &known);
                }
            }
        });
        clocks.threads[thread.index()].last = Some(id);
        handover
    }

    /// After everything else was done about an event: what rules (d) and (f) put after it.
    pub(super) fn end(&mut self, id: EventId) {
        let op = synchronisation_of(self.execution, id);
        self.walk.end(self.execution.thread(id), op.as_ref(), || self.clocks.publish(id));
    }

    /// Makes the event a step if the property looks at it or it takes turns. The number of the step in its thread.
    pub(super) fn step(&mut self, id: EventId, takes: SmallVec<[Take; 1]>) -> Option<u32> {
        let letter = (self.letter)(id);
        if letter.is_none() && takes.is_empty() {
            return None;
        }
        let of = self.execution.thread(id);
        let needs = self.clocks.step(of);
        let letter = letter.unwrap_or(super::causality::SILENT);
        Some(self.causality.push(of.0, Step { event: id.0, letter, needs, takes }))
    }

    /// What was found out.
    pub(super) fn finish(self) -> (Causality, Option<Edges>) {
        (self.causality, self.clocks.edges)
    }
}

/// What an event does, unless it is an access.
fn synchronisation_of(execution: &Execution, id: EventId) -> Option<Op<'_>> {
    execution.access(id).is_none().then(|| execution.op(id))
}

impl Clocks<'_> {
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

    /// A thread does a step; what of other threads that comes after, beyond what its last one did.
    fn step(&mut self, of: ThreadId) -> Needs {
        let thread = &mut self.threads[of.index()];
        let needs = beyond(&thread.clock, &thread.at_step, of);
        thread.clock[of.index()] += 1;
        thread.at_step.copy_from_slice(&thread.clock);
        thread.published = None;
        needs
    }

    /// The edges, if they are written down.
    pub(super) fn edges(&mut self) -> Option<&mut Edges> {
        self.edges.as_mut()
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
