//! Sync-preserving ideals: the sets of events that can happen in the observed order, without anything else.
//!
//! **Idea** (Mathur, Pavlogiannis, Viswanathan, *Optimal Prediction of Synchronization-Preserving Races*, POPL 2021). Take a
//! set of events closed under the [must-order](crate::order), and let them happen in the observed order. Each read then
//! still reads the write it read, forks, joins and waits are as they were. What can go wrong is a lock: a section that
//! the set cuts off before its release keeps the lock, so no later section that excludes it may be in the set. Hence
//! the closure: while a section of the set is open and a later, excluding section of the same lock has begun in it, add the
//! release of the earlier one and what that needs. Conversely, the events of any correct reordering that keeps the order
//! of sections are such a set, so the smallest one decides.
//!
//! **Deviations from the paper.** Locks may be shared (two shared sections do not exclude each other) and are given up by
//! waits. Closing looks only at the locks that threads hold at their bound (few), not at all locks; and finds its
//! way by binary search, so that a new ideal jumps to where its events are instead of walking there.
//!
//! **Cost.** An ideal is one bound per thread. Growing it costs, per round, one binary search per pair of threads that
//! communicate directly, and one per lock held at a bound and thread that ever takes this lock; the number of
//! rounds is small in practice: a few microseconds in all with tens of threads. It grows with the threads that share the
//! same locks: with 100,000 of them a round takes milliseconds. Ideals only grow until cleared: if events `a` and `b` are not free (not
//! outside) of the ideal that is about to do both, an event that is inside stays inside for all later partners. That
//! monotony is what makes the search for free events linear ([`Ideal::first_free`]).

use foresee_trace::{EventId, Mode, ThreadId};

use crate::locks::{LockHistory, NONE, Section};
use crate::order::MustOrder;
use foresee_witness::checker::Schedule;

/// A growing sync-preserving ideal.
pub struct Ideal<'a> {
    order: &'a MustOrder,
    locks: &'a LockHistory,
    /// All events below are in, whatever their thread.
    observed: u32,
    bounds: Vec<u32>,
    /// Threads with a bound of their own.
    touched: Vec<ThreadId>,
    /// Threads whose needs are not in yet.
    pending: Vec<ThreadId>,
    rounds: u64,
}

/// Events of one thread, in order, of which one is to be left out.
pub type Choice<'a> = (ThreadId, &'a [EventId]);

/// Witnesses up to this length are as short as can be; longer ones share a piece of the observed run.
const SHORT: usize = 1000;

impl<'a> Ideal<'a> {
    /// The empty ideal.
    pub fn new(order: &'a MustOrder, locks: &'a LockHistory) -> Self {
        let bounds = vec![0; order.threads()];
        Ideal { order, locks, observed: 0, bounds, touched: Vec::new(), pending: Vec::new(), rounds: 0 }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        for thread in self.touched.drain(..) {
            self.bounds[thread.index()] = 0;
        }
        self.pending.clear();
        self.observed = 0;
    }

    /// All events of the thread with smaller ids are in.
    #[inline]
    pub fn bound(&self, thread: ThreadId) -> u32 {
        self.bounds[thread.index()].max(self.observed)
    }

    /// Adds the thread's events below `bound`. Call [`close`](Self::close) before asking.
    #[inline]
    pub fn raise(&mut self, thread: ThreadId, bound: u32) {
        let current = &mut self.bounds[thread.index()];
        if bound > (*current).max(self.observed) {
            if *current == 0 {
                self.touched.push(thread);
            }
            *current = bound;
            self.pending.push(thread);
        }
    }

    /// Adds what an event needs to be done as observed (a read: the write), but not the event.
    pub fn raise_needs(&mut self, thread: ThreadId, event: EventId) {
        self.raise(thread, event.0);
        let order = self.order;
        for (other, bound) in order.needs(thread, event.0 + 1) {
            self.raise(other, bound);
        }
    }

    /// Adds what is missing. `false` if there is no such ideal, nor any larger one: a lock would have to be released that
    /// never was.
    pub fn close(&mut self) -> bool {
        loop {
            self.close_needs();
            if !self.close_sections() {
                return false;
            }
            if self.pending.is_empty() {
                return true;
            }
        }
    }

    /// Whether a thread must have ended before another can begin. Forgets everything.
    pub fn ends_before(&mut self, thread: ThreadId, other: ThreadId) -> bool {
        self.clear();
        let Some(first) = self.order.events(other, 0, u32::MAX).next() else { return false };
        self.raise(other, first.0);
        let is_possible = self.close();
        let rest = self.order.events(thread, self.bound(thread), u32::MAX).next();
        !is_possible || rest.is_none()
    }

    /// How many rounds all closing so far took: a measure of work that depends on the execution only.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Adds what is missing but for locks.
    fn close_needs(&mut self) {
        self.rounds += 1;
        let order = self.order;
        while let Some(thread) = self.pending.pop() {
            for (other, bound) in order.needs(thread, self.bounds[thread.index()]) {
                self.raise(other, bound);
            }
        }
    }

    fn close_sections(&mut self) -> bool {
        if self.observed > 0 {
            (0..self.bounds.len()).all(|thread| self.close_sections_of(ThreadId(thread as u32)))
        } else {
            (0..self.touched.len()).all(|nth| self.close_sections_of(self.touched[nth]))
        }
    }

    /// Closes the open sections of a thread that are in the way. `false` if one never ends.
    fn close_sections_of(&mut self, thread: ThreadId) -> bool {
        let locks = self.locks;
        let bound = self.bound(thread);
        for &(lock, mode) in locks.locksets.get(locks.held(thread, bound)) {
            let all = locks.sections(lock);
            let own = all.iter().find(|sections| sections.thread == thread);
            let Some(&Section { acquire, release, .. }) = own.and_then(|own| own.latest(bound)) else {
                continue;
            };
            let in_the_way = all.iter().filter(|sections| sections.thread != thread).any(|sections| {
                match sections.latest(self.bound(sections.thread)) {
                    Some(later) if mode == Mode::Exclusive => later.acquire > acquire,
                    Some(later) => later.exclusive != NONE && later.exclusive > acquire,
                    None => false,
                }
            });
            if in_the_way {
                if release == NONE {
                    return false;
                }
                self.raise(thread, release + 1);
            }
        }
        true
    }

    /// The first events, one of each choice, that can all be about to happen: the ideal closed under what they
    /// need has none of them. `picks` says where to begin in each choice, and then where they are. The threads differ.
    ///
    /// The ideal is left as the one found. An event that is inside is inside for whatever the others become, so each step
    /// passes at least one event: linear in the choices.
    pub fn first_free(&mut self, choices: &[Choice<'_>], picks: &mut [usize]) -> bool {
        loop {
            for (&(thread, events), &pick) in choices.iter().zip(picks.iter()) {
                let Some(event) = events.get(pick) else { return false };
                self.raise(thread, event.0);
            }
            self.close_needs();
            if self.pass(choices, picks) {
                continue;
            }
            if !self.close() {
                return false;
            }
            if !self.pass(choices, picks) {
                return true;
            }
        }
    }

    /// Moves picks that are inside on to events outside. Whether there was one.
    fn pass(&self, choices: &[Choice<'_>], picks: &mut [usize]) -> bool {
        let mut passed = false;
        for (&(thread, events), pick) in choices.iter().zip(picks) {
            let rest = events.get(*pick..).unwrap_or(&[]);
            let bound = self.bound(thread);
            if rest.first().is_some_and(|event| event.0 < bound) {
                *pick += rest.partition_point(|event| event.0 < bound);
                passed = true;
            }
        }
        passed
    }

    /// A schedule of this ideal in the observed order, without `about_to`, the events it was closed for.
    ///
    /// A short ideal is scheduled as it is. A long one is joined with the observed run before the first of `about_to`, or as
    /// much of it as brings none of these in: such schedules are stored in the length of their rest, and the checker
    /// replays what they share once.
    pub fn schedule(&mut self, about_to: &[EventId], threads: &[ThreadId]) -> Schedule {
        let size: usize =
            self.touched.iter().map(|&thread| self.order.count(thread, self.bounds[thread.index()])).sum();
        if size <= SHORT {
            return Schedule::from(self.events());
        }
        let smallest: Vec<(ThreadId, u32)> =
            self.touched.iter().map(|&thread| (thread, self.bounds[thread.index()])).collect();
        let first = about_to.iter().map(|event| event.0).min().unwrap_or(0);
        let mut back = 0;
        while back < first {
            self.observed = first - back;
            let closed = self.close();
            let free = about_to.iter().zip(threads).all(|(event, &thread)| event.0 >= self.bound(thread));
            if closed && free {
                return Schedule::after(self.observed, self.events());
            }
            self.clear();
            for &(thread, bound) in &smallest {
                self.raise(thread, bound);
            }
            back = (4 * back).max(100);
        }
        self.pending.clear();
        Schedule::from(self.events())
    }

    /// The events from `observed` on, in the observed order.
    pub fn events(&self) -> Vec<EventId> {
        let mut events: Vec<EventId> = (self.touched.iter())
            .flat_map(|&thread| self.order.events(thread, self.observed, self.bounds[thread.index()]))
            .collect();
        events.sort_unstable();
        events
    }
}
