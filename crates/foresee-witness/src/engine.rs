//! What an engine is, and what it works on.
//!
//! Two shapes, one report. A [`StreamEngine`] sees each event once, in order, in memory that does not depend on the length
//! of the trace. A [`WholeEngine`] looks at an [`Execution`] in memory. An [`Engine`] has a name and one or both of them.

use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use foresee_trace::{Event, EventBatch, Execution, Names};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::atomic::AtomicFunctions;
use crate::judge::{Finding, FindingKind, Judge, Place};

/// An engine that is ready to run. It may look at the stream, at the whole execution, or at both.
pub struct Engine<'o> {
    /// The name on the command line.
    pub name: &'static str,
    /// Whether it only tries what others left over, and only for the time that [`Limits::rest`] gives.
    ///
    /// [`Limits::rest`]: crate::analysis::Limits::rest
    pub rest: bool,
    /// The part that sees each event once.
    pub stream: Option<Stream<'o>>,
    /// The part that looks at the whole execution.
    pub whole: Option<Box<dyn WholeEngine + 'o>>,
}

/// Where the part of an engine runs that sees each event once.
pub enum Stream<'o> {
    /// With whoever reads the trace: it wants to know names as they come.
    Along(Box<dyn StreamEngine + 'o>),
    /// Perhaps on another thread, and later: it gets no names before the end.
    Apart(Box<dyn StreamEngine + Send>),
}

impl<'o> Stream<'o> {
    /// The engine by itself.
    pub fn engine(self) -> Box<dyn StreamEngine + 'o> {
        match self {
            Stream::Along(engine) => engine,
            Stream::Apart(engine) => engine,
        }
    }
}

/// An engine that sees every event once.
pub trait StreamEngine {
    /// The names known so far, unless it runs [apart](Stream::Apart). Called before an event whenever there are more of them than at the last call.
    fn names(&mut self, _names: &Names) {}

    /// The next event of the observed run and its index.
    fn event(&mut self, index: u64, event: &Event<'_>);

    /// The next events, and the index of the first: as one by one.
    fn events(&mut self, first: u64, batch: &EventBatch) {
        for (index, event) in (first..).zip(batch.iter()) {
            self.event(index, &event);
        }
    }

    /// The places of what was found since the last call, for those who cannot wait for the end.
    fn news(&mut self) -> Vec<Vec<Place>> {
        Vec::new()
    }

    /// What was found.
    fn finish(self: Box<Self>, names: &Names) -> Outcome;
}

/// An engine that looks at a whole execution.
pub trait WholeEngine: Sync {
    /// Whether there is anything in the execution that it could find. Errs on the side of running.
    fn has_work(&self, _job: &Job<'_>) -> bool {
        true
    }

    /// Analyses it.
    fn run(&self, job: &Job<'_>) -> Outcome;
}

/// What a whole-trace engine works on.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The observed run.
    pub execution: &'a Execution,
    /// Tables that engines have in common.
    pub shared: &'a Shared,
    /// Accepts or refuses what the engine proposes.
    pub judge: &'a Judge<'a>,
    /// What other engines have proven already and need not be proven again.
    pub proven: &'a Proven,
    /// When to stop.
    pub budget: Budget,
}

/// All that jobs on one execution have in common.
pub struct Case<'e> {
    execution: &'e Execution,
    shared: Shared,
    judge: Judge<'e>,
}

impl<'e> Case<'e> {
    /// Nothing is worked out yet. Calls of `atomic` are atomic blocks, beside the annotated ones.
    pub fn new(execution: &'e Execution, atomic: AtomicFunctions) -> Case<'e> {
        Case { execution, shared: Shared::default(), judge: Judge::new(execution, atomic) }
    }

    /// A job for one engine.
    pub fn job<'a>(&'a self, proven: &'a Proven, budget: Budget) -> Job<'a> {
        Job { execution: self.execution, shared: &self.shared, judge: &self.judge, proven, budget }
    }

    /// How many proposals the judge refused so far.
    pub fn refused(&self) -> u64 {
        self.judge.refused()
    }

    /// Runs one engine by itself.
    pub fn run(&self, engine: &dyn WholeEngine, budget: Budget) -> Outcome {
        engine.run(&self.job(&Proven::default(), budget))
    }
}

/// Tables that several engines need of the same execution, one of each type: worked out when the first engine asks.
#[derive(Default)]
pub struct Shared(Mutex<FxHashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Shared {
    /// The table of this type.
    pub fn get<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let table = known().get(&TypeId::of::<T>()).cloned();
        if let Some(table) = table.and_then(|table| table.downcast().ok()) {
            return table;
        }
        // Made without the lock, as one table may need another.
        let table = Arc::new(make());
        known().insert(TypeId::of::<T>(), Arc::<T>::clone(&table));
        table
    }
}

/// Places for which a finding of a kind is already observed or predicted.
#[derive(Clone, Debug, Default)]
pub struct Proven(FxHashSet<(FindingKind, Vec<Place>)>);

impl Proven {
    /// Notes a finding's places.
    pub fn add(&mut self, finding: &Finding) {
        self.0.insert((finding.kind, finding.places.clone()));
    }

    /// Whether a finding of this kind at these (sorted) places is known.
    pub fn contains(&self, kind: FindingKind, places: &[Place]) -> bool {
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

    /// More than one thread, if that is wanted and the system gives them.
    pub fn pool(&self) -> Option<rayon::ThreadPool> {
        let threads = self.threads;
        (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()).flatten()
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
    /// What it would have to know of the run and does not, for people: it may have missed something.
    pub unknown: Vec<String>,
}
