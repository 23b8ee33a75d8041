//! What an engine is, and the registry of all of them.
//!
//! Two shapes, one report. A [`StreamEngine`] sees each event once, in order, in memory that does not depend on the length
//! of the trace. A [`WholeEngine`] looks at an [`Execution`] in memory. Adding an engine is one file and one line in
//! [`registry`](crate::registry).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foresee_trace::{Event, Execution, Names};
use rustc_hash::FxHashSet;

use crate::finding::{Finding, Kind, Place};
use crate::locks::LockHistory;
use crate::order::MustOrder;
use crate::witness::Checker;

/// An engine that sees every event once.
pub trait StreamEngine {
    /// The names known so far. Called before an event whenever there are more of them than at the last call.
    fn names(&mut self, _names: &Names) {}

    /// The next event of the observed run and its index.
    fn event(&mut self, index: u64, event: &Event<'_>);

    /// The places of what was found since the last call, for who cannot wait.
    fn news(&mut self) -> Vec<Vec<Place>> {
        Vec::new()
    }

    /// What was found.
    fn finish(self: Box<Self>, names: &Names) -> Outcome;
}

/// An engine that looks at a whole execution.
pub trait WholeEngine: Sync {
    /// Analyses it.
    fn run(&self, job: &Job<'_>) -> Outcome;
}

/// What a whole-trace engine works on.
pub struct Job<'a> {
    /// The observed run.
    pub execution: &'a Execution,
    /// What engines have in common.
    pub prepared: &'a Prepared<'a>,
    /// Accepts or refuses witnesses.
    pub checker: &'a Checker<'a>,
    /// What other engines have proven already and need not be proven again.
    pub proven: &'a Proven,
    /// When to stop.
    pub budget: Budget,
}

/// What several engines need to know of the same execution: worked out when the first one asks.
pub struct Prepared<'e> {
    execution: &'e Execution,
    locks: OnceLock<LockHistory>,
    order: OnceLock<MustOrder>,
}

impl<'e> Prepared<'e> {
    /// Nothing yet.
    pub fn new(execution: &'e Execution) -> Prepared<'e> {
        Prepared { execution, locks: OnceLock::new(), order: OnceLock::new() }
    }

    /// The execution.
    pub fn execution(&self) -> &'e Execution {
        self.execution
    }

    /// Who held which locks when.
    pub fn locks(&self) -> &LockHistory {
        self.locks.get_or_init(|| LockHistory::of(self.execution))
    }

    /// What must come before what.
    pub fn order(&self) -> &MustOrder {
        self.order.get_or_init(|| MustOrder::of(self.execution))
    }
}

/// Places for which a finding of a kind is already observed or predicted.
#[derive(Clone, Debug, Default)]
pub struct Proven(FxHashSet<(Kind, Vec<Place>)>);

impl Proven {
    /// Notes a finding's places.
    pub fn add(&mut self, finding: &Finding) {
        self.0.insert((finding.kind, finding.places.clone()));
    }

    /// Whether a finding of this kind at these (sorted) places is known.
    pub fn contains(&self, kind: Kind, places: &[Place]) -> bool {
        // The key owns its places; looking up is rare next to proving.
        self.0.contains(&(kind, places.to_vec()))
    }
}

/// How much an engine may spend. An engine that runs out says so in its [`Outcome`].
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Stop at this moment.
    pub deadline: Option<Instant>,
    /// Threads to use.
    pub threads: usize,
    /// About so many bytes, for engines whose need does not follow from the length of the execution.
    pub memory: usize,
    /// Set from outside to stop soon.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Budget {
    /// No limit, one thread.
    pub fn unlimited() -> Budget {
        Budget { deadline: None, threads: 1, memory: usize::MAX, interrupt: None }
    }

    /// This much time from now, on one thread.
    pub fn lasting(time: Duration) -> Budget {
        Budget { deadline: Instant::now().checked_add(time), ..Budget::unlimited() }
    }

    /// Whether to stop. Reads the clock: ask once per candidate, not once per event.
    pub fn is_exhausted(&self) -> bool {
        self.interrupt.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// What an engine says in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What it found, in an order that depends only on the trace.
    pub findings: Vec<Finding>,
    /// Candidates it could not decide within its budget.
    pub undecided: u64,
    /// Findings whose witness the checker refused: bugs of the engine, dropped but not hidden.
    pub refused: u64,
}
