//! Computations, and the two ways to hold a formula against them.

#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod algorithm;
pub(crate) mod generate;
pub(crate) mod semantics;

/// What an event does. Threads, variables, locals and locks are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Read(usize),
    Write(usize, i64),
    /// An atomic operation that reads and writes.
    Update(usize, i64),
    Local(usize, i64),
    /// Taking, giving back or waiting with a lock.
    Lock(usize),
    /// A notify, a thread's end.
    Internal,
    Fork(usize),
    Join(usize),
}

/// Events of threads that are called `t1`, `t2`, …, in the observed order.
#[derive(Clone, Debug)]
pub(crate) struct Computation {
    pub(crate) threads: usize,
    pub(crate) events: Vec<(usize, Op)>,
}

impl Computation {
    /// Whether somebody forks the thread.
    pub(crate) fn is_forked(&self, thread: usize) -> bool {
        self.events.iter().any(|(_, op)| *op == Op::Fork(thread))
    }
}
