//! A test harness for concurrent structures (section 7.1 of the paper): threads that call random methods with keys from a pool which they
//! share and which shrinks over time, until the first violation.

use std::fmt;
use std::string::String;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::vec::Vec;
use std::{format, thread};

use foresee_refine::linear::{self, Limits, Verdict};
use foresee_refine::log::{Action, Log};
use foresee_refine::refine::{self, BrokenBlock, Judgement, Mode, RefineError, Replica, Violation};
use foresee_refine::spec::Viewed;

use super::choice::Choice;
use super::recorder::{Recorder, Recording, Role};

/// How a structure is tested.
#[derive(Clone, Copy, Debug)]
pub struct Harness {
    /// How many threads call methods.
    pub threads: usize,
    /// How many methods each of them calls.
    pub operations: usize,
    /// How many keys there are at the beginning.
    pub keys: usize,
    /// The choices of all threads follow from it; the schedule does not.
    pub seed: u64,
    /// Whether views are compared, or results alone.
    pub mode: Mode,
    /// Of a hundred entries of the log, after how many the thread lets others run: more schedules are met so.
    pub yields: u8,
}

impl Default for Harness {
    fn default() -> Harness {
        Harness { threads: 4, operations: 200, keys: 32, seed: 0, mode: Mode::View, yields: 10 }
    }
}

/// What a test came to.
#[derive(Debug)]
pub struct Report {
    /// How many methods were called.
    pub operations: usize,
    /// The first violation.
    pub finding: Option<Finding>,
    /// Operations that did not commit exactly once.
    pub mistakes: Vec<String>,
    /// A commit block that is not one step: what others wrote came in between.
    pub block: Option<BrokenBlock>,
    /// All that was logged.
    pub log: Log,
}

/// A violation of a test.
#[derive(Debug)]
pub struct Finding {
    /// What is wrong.
    pub violation: Violation,
    /// Who is to blame.
    pub judgement: Judgement,
    /// How many methods had been called until then, in the order of the log.
    pub after: usize,
    /// The operation that is wrong, what was expected, and the smallest part of the history that shows it.
    pub text: String,
}

impl Report {
    /// Whether the structure or its annotations are wrong, and not only the order of its commits: not if another order explains
    /// everything, or may do so. A commit block that is not one step is wrong.
    pub fn is_wrong(&self) -> bool {
        let excused = |finding: &Finding| {
            matches!(finding.judgement, Judgement::CommitPoints { .. } | Judgement::Undecided)
        };
        !self.mistakes.is_empty()
            || self.block.is_some()
            || self.finding.as_ref().is_some_and(|finding| !excused(finding))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mistake in &self.mistakes {
            writeln!(f, "{mistake}")?;
        }
        if let Some(block) = &self.block {
            let thread = |event: usize| &*self.log.threads[self.log.events[event].thread as usize].name;
            writeln!(
                f,
                "a commit block of {} (event {}) is not one step: {} wrote `{}` (event {}) before it did (event {})",
                thread(block.begin),
                block.begin,
                thread(block.between),
                block.target,
                block.between,
                block.write
            )?;
        }
        match &self.finding {
            None => write!(f, "{} operations, no violation", self.operations),
            Some(finding) => write!(f, "a violation after {} operations: {}", finding.after, finding.text),
        }
    }
}

/// The threads of a structure that work inside of it.
type Internal<T> = fn(&T);

impl Harness {
    /// Tests a new structure: each thread calls `operation` again and again.
    pub fn run<S, R, T>(
        &self,
        spec: S,
        new: impl FnOnce() -> T,
        operation: impl Fn(&T, &mut Choice) + Sync,
    ) -> Result<Report, RefineError>
    where
        S: Viewed + Clone + Send + 'static,
        R: Replica + Default + Send + 'static,
        T: Sync,
    {
        self.run_with::<S, R, T>(spec, new, operation, None)
    }

    /// The same with a thread of the structure's own, which does `internal` again and again.
    pub fn run_with<S, R, T>(
        &self,
        spec: S,
        new: impl FnOnce() -> T,
        operation: impl Fn(&T, &mut Choice) + Sync,
        internal: Option<Internal<T>>,
    ) -> Result<Report, RefineError>
    where
        S: Viewed + Clone + Send + 'static,
        R: Replica + Default + Send + 'static,
        T: Sync,
    {
        let structure = new();
        let recorder = Recorder::checking(spec.clone(), R::default(), self.mode, self.yields);
        self.drive(&structure, Some(&recorder), &operation, internal);
        let recording = recorder.finish()?;
        let log = recording.log;
        let finding = match recording.violation {
            Some(violation) => Some(explained::<S, R>(&spec, &log, violation)?),
            None => None,
        };
        Ok(Report {
            operations: calls(&log, log.events.len()),
            finding,
            mistakes: recording.mistakes,
            block: refine::broken_block(&log),
            log,
        })
    }

    /// Drives a new structure to the end, and keeps the log without checking it.
    pub fn record<T: Sync>(
        &self,
        new: impl FnOnce() -> T,
        operation: impl Fn(&T, &mut Choice) + Sync,
        internal: Option<Internal<T>>,
    ) -> Result<Recording, RefineError> {
        let recorder = Recorder::keeping(self.mode, self.yields);
        self.drive(&new(), Some(&recorder), &operation, internal);
        recorder.finish()
    }

    /// Lets all threads work until they are done or something is found. Without a recorder nothing is logged.
    pub fn drive<T: Sync>(
        &self,
        structure: &T,
        recorder: Option<&Recorder>,
        operation: &(impl Fn(&T, &mut Choice) + Sync),
        internal: Option<Internal<T>>,
    ) {
        let mut pool = Choice::new(self.seed, Arc::new([0]));
        let pool: Arc<[i64]> =
            (0..self.keys.max(1)).map(|_| pool.below(10 * self.keys.max(1)) as i64).collect();
        let (busy, stop) = (AtomicUsize::new(self.threads), AtomicBool::new(false));
        let start = Start { missing: AtomicUsize::new(self.threads), is_over: AtomicBool::new(false) };
        thread::scope(|scope| {
            let _abandoned = Abandoned(&start);
            for nth in 0..self.threads {
                let (pool, busy, stop, start) = (pool.clone(), &busy, &stop, &start);
                scope.spawn(move || {
                    let _attached =
                        recorder.map(|recorder| recorder.attach(&format!("T{}", nth + 1), Role::Application));
                    let _done = Done { busy, stop };
                    start.wait();
                    let mut choice = Choice::new(self.seed ^ ((nth as u64 + 1) << 32), pool);
                    for done in 0..self.operations {
                        if recorder.is_some_and(Recorder::has_violation) {
                            break;
                        }
                        choice.shrink(100 * done / self.operations);
                        operation(structure, &mut choice);
                    }
                });
            }
            if let Some(internal) = internal {
                let stop = &stop;
                scope.spawn(move || {
                    let _attached = recorder.map(|recorder| recorder.attach("internal", Role::Internal));
                    while !stop.load(Ordering::Relaxed) {
                        internal(structure);
                        thread::yield_now();
                    }
                });
            }
        });
    }
}

/// Threads begin together: otherwise the first would be alone for as long as it takes to start the others.
struct Start {
    missing: AtomicUsize,
    is_over: AtomicBool,
}

impl Start {
    /// Waits until all threads are here.
    fn wait(&self) {
        if self.missing.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.is_over.store(true, Ordering::Relaxed);
        }
        while !self.is_over.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
}

/// If a thread cannot be started, nobody waits for it.
struct Abandoned<'a>(&'a Start);

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.is_over.store(true, Ordering::Relaxed);
        }
    }
}

/// The last thread that is done stops the internal one, also if it panics.
struct Done<'a> {
    busy: &'a AtomicUsize,
    stop: &'a AtomicBool,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        if self.busy.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn calls(log: &Log, until: usize) -> usize {
    log.events[..until].iter().filter(|event| matches!(event.action, Action::Call { .. })).count()
}

/// A violation with whom to blame, and the smallest history that shows it.
fn explained<S: Viewed, R: Replica + Default>(
    spec: &S,
    log: &Log,
    violation: Violation,
) -> Result<Finding, RefineError> {
    // To know whom to blame is worth some seconds, not more.
    let deadline = Instant::now().checked_add(Duration::from_secs(5));
    let limits = Limits { memory: 1 << 28, deadline };
    let judgement = refine::judge::<S, R>(spec, log, &violation, limits)?;
    let mut text = format!("{} at event {} ({})", violation.kind, violation.first, judgement.name());
    if let Some(event) = violation.call.and_then(|call| log.events.get(call))
        && let Action::Call { method, args } = &event.action
    {
        text += &format!("\n  {method}{args:?} by {}", log.threads[event.thread as usize].name);
    }
    if let (Some(actual), false) = (&violation.actual, violation.expected.is_empty()) {
        text += &format!("\n  gave {actual}; the specification allows {:?}", violation.expected);
    }
    for difference in violation.differences.iter().take(8) {
        let (own, spec) = (&difference.implementation, &difference.specification);
        text += &format!("\n  {}: the structure has {own:?}, the specification {spec:?}", difference.part);
    }
    if let Some(invariant) = &violation.invariant {
        text += &format!("\n  {invariant}");
    }
    if violation.kind.is_about_order()
        && judgement == Judgement::Structure
        && let Ok((history, _)) = log.history()
        && let Ok(Verdict::Violation(wrong)) = linear::check(spec, &history, limits)
        && let Ok(told) = linear::explain(spec, &history, &wrong, limits)
    {
        text += "\n  these operations have no order that explains them:";
        for op in told.minimal.iter().map(|op| &history.ops()[*op]).rev().take(12).rev() {
            text += &format!("\n    {} {}", op.client, op);
        }
    }
    let after = calls(log, (violation.first + 1).min(log.events.len()));
    Ok(Finding { violation, judgement, after, text })
}

/// How often and how a structure is tested by [`refine_test!`](crate::refine_test!).
#[derive(Clone, Copy, Debug)]
pub struct TestSettings {
    /// How many threads call methods.
    pub threads: usize,
    /// How many methods each of them calls.
    pub operations: usize,
    /// How many keys there are at the beginning.
    pub keys: usize,
    /// How many runs there are, each with another seed.
    pub seeds: u64,
}

impl Default for TestSettings {
    fn default() -> TestSettings {
        let Harness { threads, operations, keys, .. } = Harness::default();
        TestSettings { threads, operations, keys, seeds: 10 }
    }
}

impl TestSettings {
    pub(super) fn harness(self, seed: u64) -> Harness {
        let TestSettings { threads, operations, keys, .. } = self;
        Harness { threads, operations, keys, seed, ..Harness::default() }
    }

    /// Tests a structure with each seed.
    ///
    /// # Panics
    /// At the first run in which the structure is wrong.
    pub fn run<S, R, T>(
        self,
        spec: S,
        new: impl Fn() -> T,
        operation: impl Fn(&T, &mut Choice) + Sync,
        internal: Option<Internal<T>>,
    ) where
        S: Viewed + Clone + Send + 'static,
        R: Replica + Default + Send + 'static,
        T: Sync,
    {
        for seed in 0..self.seeds {
            match self.harness(seed).run_with::<S, R, T>(spec.clone(), &new, &operation, internal) {
                Err(why) => panic!("seed {seed}: the log cannot be checked: {why}"),
                Ok(report) if report.is_wrong() => panic!("seed {seed}: {report}"),
                Ok(report) if report.finding.is_some() => std::eprintln!("note: seed {seed}: {report}"),
                Ok(_) => {}
            }
        }
    }
}
