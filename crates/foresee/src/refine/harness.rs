//! A test harness for concurrent structures (section 7.1 of the paper): threads that call random methods with keys from a pool which they
//! share and which shrinks over time, until the first violation.

use std::panic::{self, AssertUnwindSafe};
use std::string::String;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{format, thread};

use foresee_refine::refine::{self, Mode, RefineError, Replica};
use foresee_refine::spec::Viewed;

use super::choice::Choice;
use super::progress::{PATIENCE, Progress};
use super::recorder::{Recorder, Recording, Role};
use super::report::{Finding, Report, calls};

/// How a structure is tested.
#[derive(Clone, Copy, Debug)]
pub struct Harness {
    /// How many threads call methods.
    pub threads: usize,
    /// How many methods each of them calls.
    pub operations: usize,
    /// How many keys there are at the beginning: numbers below ten times that, some of which may be the same.
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
            Some(violation) => Some(Finding::of::<S, R>(&spec, &log, violation)?),
            None => None,
        };
        Ok(Report {
            operations: calls(&log, log.events.len()),
            finding,
            mistakes: recording.mistakes,
            block: (self.mode == Mode::View).then(|| refine::broken_block(&log)).flatten(),
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

    /// Lets all threads work until they are done or something is found. Without a recorder nothing is logged. If none of them gets anywhere for
    /// a while, that is said on the standard error: they may wait for each other.
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
        let progress = Progress::of(self.threads);
        if self.threads == 0 {
            return;
        }
        thread::scope(|scope| {
            let _abandoned = Abandoned(&start);
            for nth in 0..self.threads {
                let (pool, busy, stop, start, progress) = (pool.clone(), &busy, &stop, &start, &progress);
                scope.spawn(move || {
                    let _attached =
                        recorder.map(|recorder| recorder.attach(&format!("T{}", nth + 1), Role::Application));
                    let _done = Done { busy, stop, progress };
                    start.wait();
                    let mut choice = Choice::new(self.seed ^ ((nth as u64 + 1) << 32), pool);
                    for done in 0..self.operations {
                        if recorder.is_some_and(Recorder::has_violation) {
                            break;
                        }
                        choice.shrink(100 * done / self.operations);
                        operation(structure, &mut choice);
                        progress.step(nth);
                    }
                });
            }
            let (progress, seed) = (&progress, self.seed);
            scope.spawn(move || {
                progress.watch(PATIENCE, |what| {
                    // Not by a macro: a test that never ends never shows what it has printed so.
                    let _ = std::io::Write::write_fmt(
                        &mut std::io::stderr(),
                        format_args!("note: seed {seed}: {what}\n"),
                    );
                });
            });
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
    progress: &'a Progress,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        if self.busy.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
            self.progress.end();
        }
    }
}

/// How often and how a structure is tested by [`refine_test!`](crate::refine_test!).
#[derive(Clone, Copy, Debug)]
pub struct TestSettings {
    /// How many threads call methods.
    pub threads: usize,
    /// How many methods each of them calls.
    pub operations: usize,
    /// How many keys there are at the beginning: numbers below ten times that, some of which may be the same.
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
    /// At the first run in which the structure is wrong, or a thread panics; and if no operation was logged at all.
    #[track_caller]
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
        let mut operations = 0;
        for seed in 0..self.seeds {
            let harness = self.harness(seed);
            let run =
                with_seed(seed, || harness.run_with::<S, R, T>(spec.clone(), &new, &operation, internal));
            match run {
                Err(why) => panic!("seed {seed}: the log cannot be checked: {why}"),
                Ok(report) if report.is_wrong() => panic!("seed {seed}: {report}"),
                Ok(report) => {
                    operations += report.operations;
                    if report.finding.is_some() {
                        std::eprintln!("note: seed {seed}: {report}");
                    }
                }
            }
        }
        self.must_have_logged(operations);
    }

    /// What logs nothing is not tested.
    ///
    /// # Panics
    /// If no operation was logged.
    #[track_caller]
    pub(super) fn must_have_logged(self, operations: usize) {
        let TestSettings { threads, operations: each, seeds, .. } = self;
        assert!(
            operations > 0,
            "no operation was logged in {seeds} runs of {threads} threads with {each} operations each, so nothing was tested: call methods that \
             have #[mutator] or #[observer], or others by `foresee::refine::logged_call`"
        );
    }
}

/// Does a run; if a thread of it panics, the message has the seed.
#[track_caller]
pub(super) fn with_seed<T>(seed: u64, run: impl FnOnce() -> T) -> T {
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(done) => done,
        Err(why) => {
            let text = why.downcast_ref::<&str>().copied();
            let text = text.or_else(|| why.downcast_ref::<String>().map(String::as_str));
            panic!("seed {seed}: {}", text.unwrap_or("a thread panicked"))
        }
    }
}
