//! A partial order of a window's events that is kept transitive, and how many events of each thread are in the schedule.
//!
//! Threads are chains, so what comes before an event is one number per thread: a clock. Adding `a → b` raises the clocks of
//! `b` and of all that comes after it: in each thread a suffix, found by binary search, whose tail that knows `a` already
//! stays untouched. Copying an order is copying two arrays, so a search can branch.

use super::window::{At, Window};

/// No order of the events keeps the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

#[derive(Clone)]
pub(super) struct Order {
    /// How many events of each thread are in the schedule.
    pub(super) ends: Vec<u32>,
    /// The reads of each thread before this position count: they read what they are to read.
    pub(super) counted: Vec<u32>,
    /// How many of each thread's [`Source`](super::window::Source)s count and come before their reads.
    pub(super) settled: Vec<usize>,
    /// How many events of each thread come before each node; row by row.
    clocks: Vec<u32>,
}

impl Order {
    pub(super) fn of(window: &Window) -> Order {
        Order {
            ends: window.needed.clone(),
            counted: window.counted.clone(),
            settled: vec![0; window.threads()],
            clocks: window.clocks.clone(),
        }
    }

    /// What comes before an event, as a number of events of each thread.
    pub(super) fn clock(&self, window: &Window, at: At) -> &[u32] {
        let (node, threads) = (window.node(at), window.threads());
        &self.clocks[node * threads..(node + 1) * threads]
    }

    /// How many events of a thread come before an event.
    pub(super) fn before(&self, window: &Window, at: At, thread: u32) -> u32 {
        self.clocks[window.node(at) * window.threads() + thread as usize]
    }

    /// Whether `a` comes before `b`.
    pub(super) fn is_before(&self, window: &Window, a: At, b: At) -> bool {
        self.before(window, b, a.thread) > a.position
    }

    /// Whether an event is in the schedule.
    pub(super) fn has(&self, at: At) -> bool {
        at.position < self.ends[at.thread as usize]
    }

    /// Whether an event, if it reads, has to read what it is to read.
    pub(super) fn counts(&self, at: At) -> bool {
        at.position < self.counted[at.thread as usize]
    }

    /// Whether a write has its observed value: all its thread has read before counts.
    pub(super) fn is_known(&self, window: &Window, write: At) -> bool {
        let next = window.sources[write.thread as usize].get(self.settled[write.thread as usize]);
        next.is_none_or(|source| source.read > write.position)
    }

    /// Puts an event and all before it into the schedule. Whether they were not there yet.
    pub(super) fn include(&mut self, window: &Window, at: At) -> bool {
        if self.has(at) {
            return false;
        }
        for thread in 0..window.threads() {
            let before = self.before(window, at, thread as u32);
            self.ends[thread] = self.ends[thread].max(before);
        }
        self.ends[at.thread as usize] = at.position + 1;
        true
    }

    /// Makes `a` come before `b`. Whether it did not yet.
    pub(super) fn add(&mut self, window: &Window, a: At, b: At) -> Result<bool, Contradiction> {
        if self.is_before(window, a, b) {
            return Ok(false);
        }
        if a == b || self.is_before(window, b, a) {
            return Err(Contradiction);
        }
        let mut clock = self.clock(window, a).to_vec();
        clock[a.thread as usize] = a.position + 1;
        let threads = window.threads();
        for thread in 0..threads {
            let nodes = window.first[thread] as usize..window.first[thread + 1] as usize;
            let start = if thread == b.thread as usize {
                nodes.start + b.position as usize
            } else {
                let rows = &self.clocks[nodes.start * threads..nodes.end * threads];
                let knows_b = |n: usize| rows[n * threads + b.thread as usize] > b.position;
                nodes.start + partition_point(nodes.len(), |n| !knows_b(n))
            };
            for row in self.clocks[start * threads..nodes.end * threads].chunks_exact_mut(threads) {
                let mut raised = false;
                for (mine, &new) in row.iter_mut().zip(&clock) {
                    if *mine < new {
                        *mine = new;
                        raised = true;
                    }
                }
                if !raised {
                    break;
                }
            }
        }
        Ok(true)
    }
}

/// The first of `len` numbers for which `holds` no longer does.
pub(super) fn partition_point(len: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
