//! Refinement logging in programs in which something goes wrong: methods and specifications that panic, threads that do nothing, recorders that nobody
//! finishes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use foresee::attr::{mutator, observer};
use foresee::refine::log::Action;
use foresee::refine::{
    Harness, Kind, Mode, Outcome, Recorder, Role, Specification, TestSettings, Unsupported, Value, Viewed,
    WrongCall, logged_call, models, structures,
};
use foresee::{commit, log_write};

/// More entries than a buffer holds.
const MANY: i64 = 10_000;

#[derive(Default)]
struct Counter(AtomicI64);

/// An argument that cannot be logged.
#[derive(Clone)]
struct Unspeakable;

impl From<Unspeakable> for Value {
    fn from(_: Unspeakable) -> Value {
        panic!("an argument without a value")
    }
}

impl Counter {
    #[mutator]
    fn inc(&self) -> &'static str {
        self.0.fetch_add(1, Ordering::Relaxed);
        // What is logged may itself be asked of a logged method.
        log_write!("count", self.read());
        commit!();
        "ok"
    }

    #[mutator("inc")]
    fn inc_and_panic(&self) -> &'static str {
        self.0.fetch_add(1, Ordering::Relaxed);
        commit!();
        panic!("after its effect")
    }

    #[observer("get")]
    fn read(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    #[observer("get")]
    fn wrong(&self) -> i64 {
        -1
    }

    #[observer("get")]
    fn read_with(&self, _unspeakable: Unspeakable) -> i64 {
        self.read()
    }
}

fn quietly<T>(act: impl FnOnce() -> T) -> thread::Result<T> {
    catch_unwind(AssertUnwindSafe(act))
}

#[test]
fn what_is_logged_may_be_asked_of_a_logged_method() {
    let recorder = Recorder::keeping(Mode::View, 0);
    let attached = recorder.attach("main", Role::Application);
    Counter::default().inc();
    drop(attached);
    let recording = recorder.finish().unwrap();
    let writes = recording.log.events.iter().filter(|event| matches!(event.action, Action::Write { .. }));
    assert_eq!(writes.count(), 1);
    assert_eq!(recording.log.events.len(), 4, "{:?}", recording.log.events);
}

#[test]
fn a_method_that_panics_never_returns_and_the_next_ones_are_logged() {
    let recorder = Recorder::checking(models::Counter, Unsupported, Mode::Io, 0);
    let counter = Counter::default();
    {
        let _attached = recorder.attach("main", Role::Application);
        counter.inc();
        assert!(quietly(|| counter.inc_and_panic()).is_err());
        assert!(quietly(|| counter.read_with(Unspeakable)).is_err());
        assert_eq!(counter.read(), 2);
    }
    let recording = recorder.finish().unwrap();
    assert_eq!(recording.violation, None);
    let panics = recording.log.events.iter().filter(|event| event.action == Action::Panic);
    assert_eq!(panics.count(), 1);
    let (history, _) = recording.log.history().unwrap();
    let clients: Vec<&str> = history.ops().iter().map(|op| op.client.as_str()).collect();
    assert_eq!(clients, ["main", "main", "main+1"]);
    let calls = recording.log.events.iter().filter(|event| matches!(event.action, Action::Call { .. }));
    assert_eq!(calls.count(), 3);
}

#[test]
fn a_wrong_result_after_a_panic_is_found() {
    let recorder = Recorder::checking(models::Counter, Unsupported, Mode::Io, 0);
    let counter = Counter::default();
    {
        let _attached = recorder.attach("main", Role::Application);
        assert!(quietly(|| counter.inc_and_panic()).is_err());
        counter.wrong();
    }
    assert_eq!(recorder.finish().unwrap().violation.unwrap().kind, Kind::Observer);
}

/// Whoever waits for the result of a method that panicked learns that there is none.
#[test]
fn a_panic_after_the_commit_does_not_hold_up_the_checker() {
    let recorder = Recorder::checking(models::Counter, Unsupported, Mode::Io, 0);
    let counter = Counter::default();
    let _attached = recorder.attach("main", Role::Application);
    assert!(quietly(|| counter.inc_and_panic()).is_err());
    counter.wrong();
    let start = Instant::now();
    while !recorder.has_violation() && start.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(recorder.has_violation());
}

#[test]
fn a_thread_that_does_nothing_holds_nobody_up() {
    let recorder = Recorder::checking(models::Counter, Unsupported, Mode::Io, 0);
    let counter = Counter::default();
    let (end, ended) = channel::<()>();
    thread::scope(|scope| {
        let (begin, begun) = channel();
        let (counter, recorder) = (&counter, &recorder);
        scope.spawn(move || {
            let _attached = recorder.attach("idle", Role::Application);
            counter.inc();
            begin.send(()).unwrap();
            let _ = ended.recv();
        });
        begun.recv().unwrap();
        {
            let _attached = recorder.attach("main", Role::Application);
            counter.wrong();
        }
        let start = Instant::now();
        while !recorder.has_violation() && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(recorder.has_violation());
        drop(end);
    });
    assert!(recorder.finish().unwrap().violation.is_some());
}

#[test]
fn all_that_was_logged_is_there_while_threads_are_attached() {
    let recorder = Recorder::keeping(Mode::Io, 0);
    let counter = Counter::default();
    let attached = recorder.attach("main", Role::Application);
    for _ in 0..MANY {
        counter.inc();
    }
    let recording = recorder.finish().unwrap();
    assert_eq!(recording.log.events.len(), 3 * MANY as usize);
    // Nobody listens any more, and nobody waits.
    for _ in 0..MANY {
        counter.inc();
    }
    drop(attached);
}

#[test]
fn nobody_waits_for_a_recorder_that_was_dropped() {
    let recorder = Recorder::checking(models::Counter, Unsupported, Mode::Io, 0);
    let counter = Counter::default();
    let attached = recorder.attach("main", Role::Application);
    drop(recorder);
    for _ in 0..MANY {
        counter.inc();
    }
    drop(attached);
}

#[test]
fn a_thread_logs_for_one_recorder_at_a_time() {
    let (one, other) = (Recorder::keeping(Mode::Io, 0), Recorder::keeping(Mode::Io, 0));
    let counter = Counter::default();
    let attached = one.attach("main", Role::Application);
    assert!(quietly(|| drop(other.attach("main", Role::Application))).is_err());
    counter.inc();
    drop(attached);
    let attached = other.attach("main", Role::Application);
    counter.read();
    drop(attached);
    assert_eq!(one.finish().unwrap().log.events.len(), 3);
    assert_eq!(other.finish().unwrap().log.events.len(), 2);
}

/// A specification with a bug of its own.
#[derive(Clone)]
struct Panics;

impl Specification for Panics {
    type Op = ();
    type State = ();

    fn decode(&self, _method: &str, _args: &[Value]) -> Result<(), WrongCall> {
        Ok(())
    }

    fn initial(&self) {}

    fn is_observer(&self, _op: &()) -> bool {
        false
    }

    fn apply(&self, _state: &mut (), _op: &(), _ret: &Value) -> Outcome {
        panic!("a specification that cannot")
    }

    fn returns(&self, _state: &(), _op: &()) -> Vec<Value> {
        Vec::new()
    }
}

impl Viewed for Panics {}

#[test]
fn a_specification_that_panics_holds_nobody_up_and_is_told() {
    let recorder = Recorder::checking(Panics, Unsupported, Mode::Io, 0);
    let counter = Counter::default();
    {
        let _attached = recorder.attach("main", Role::Application);
        for _ in 0..MANY {
            counter.inc();
        }
    }
    let told = quietly(|| recorder.finish()).unwrap_err();
    assert_eq!(told.downcast_ref::<&str>(), Some(&"a specification that cannot"));
}

/// What a test that fails says.
fn failure(test: impl FnOnce()) -> String {
    let why = quietly(test).expect_err("the test passed");
    why.downcast_ref::<String>().cloned().unwrap_or_else(|| format!("{:?}", why.downcast_ref::<&str>()))
}

/// A test that logs nothing tests nothing, and does not pass.
#[test]
fn a_test_that_logs_nothing_fails() {
    let counter = |settings: TestSettings, operation: fn(&Counter)| {
        let run = || {
            settings.run::<_, Unsupported, _>(
                models::Counter,
                Counter::default,
                |counter, _| operation(counter),
                None,
            );
        };
        let linearize =
            || settings.linearize(&models::Counter, Counter::default, |counter, _| operation(counter));
        [quietly(run).is_ok(), quietly(linearize).is_ok()]
    };
    let settings = TestSettings { threads: 2, operations: 3, seeds: 2, ..TestSettings::default() };
    let add: fn(&Counter) = |counter| {
        counter.inc();
    };
    assert_eq!(counter(settings, add), [true, true]);
    let unlogged: fn(&Counter) = |counter| {
        counter.0.fetch_add(1, Ordering::Relaxed);
    };
    assert_eq!(counter(settings, unlogged), [false, false]);
    assert_eq!(counter(TestSettings { threads: 0, ..settings }, add), [false, false]);
    assert_eq!(counter(TestSettings { operations: 0, ..settings }, add), [false, false]);
    assert_eq!(counter(TestSettings { seeds: 0, ..settings }, add), [false, false]);
    let said = failure(|| settings.linearize(&models::Counter, Counter::default, |_, _| ()));
    assert!(said.contains("no operation was logged in 2 runs") && said.contains("logged_call"), "{said}");
    // Methods of others are logged by name.
    settings.linearize(&models::Counter, Counter::default, |counter, _| {
        logged_call("fetch_add", [1], || counter.0.fetch_add(1, Ordering::Relaxed));
    });
}

#[test]
fn a_panic_in_a_test_is_told_with_its_seed() {
    let settings = TestSettings { threads: 1, operations: 1, seeds: 3, ..TestSettings::default() };
    let runs = AtomicI64::new(0);
    let said = failure(|| {
        settings.linearize(&models::Counter, Counter::default, |counter, _| {
            counter.read();
            assert!(runs.fetch_add(1, Ordering::Relaxed) < 1, "the second run");
        });
    });
    assert!(said.starts_with("seed 1: "), "{said}");
}

/// What a report says is in the words of the command.
#[test]
fn a_report_names_the_operation_and_what_was_expected() {
    let harness = Harness { threads: 1, operations: 1, mode: Mode::Io, ..Harness::default() };
    let wrong = |counter: &Counter, _: &mut _| {
        counter.wrong();
    };
    let report = harness.run::<_, Unsupported, _>(models::Counter, Counter::default, wrong).unwrap();
    let text = report.finding.unwrap().text;
    let expected = "get() → -1 by T1: the specification allows this result in no state while it was under way\n  \
                    the specification allows 0\n  whatever the order, nothing explains get() → -1 of T1. \
                    The smallest part that does not fit:\n    T1 get() → -1";
    assert_eq!(text, expected);
}

/// A multiset in which one thread has written and another commits before the first does.
#[derive(Default)]
struct Slots {
    is_taken: AtomicBool,
    has_written: AtomicBool,
    has_returned: AtomicBool,
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

impl Slots {
    #[mutator("insert")]
    fn insert_first(&self, x: i64) -> &'static str {
        log_write!("A[0].elt", x);
        log_write!("A[0].valid", true);
        self.has_written.store(true, Ordering::SeqCst);
        wait_for(&self.has_returned);
        commit!();
        "success"
    }

    #[mutator("insert")]
    fn insert_second(&self, x: i64) -> &'static str {
        wait_for(&self.has_written);
        log_write!("A[1].elt", x);
        log_write!("A[1].valid", true);
        commit!();
        "success"
    }
}

#[test]
fn writes_before_their_commit_need_a_block_and_the_report_says_so() {
    let settings = TestSettings { threads: 2, operations: 1, seeds: 1, ..TestSettings::default() };
    let operation = |slots: &Slots, _: &mut _| {
        if slots.is_taken.swap(true, Ordering::SeqCst) {
            slots.insert_second(2);
            slots.has_returned.store(true, Ordering::SeqCst);
        } else {
            slots.insert_first(1);
        }
    };
    let said = failure(|| {
        settings.run::<_, structures::SlotsReplica, _>(models::Multiset, Slots::default, operation, None);
    });
    for part in ["commit blocks are missing", "put its writes and its commit into one commit"] {
        assert!(said.contains(part), "`{part}` expected in: {said}");
    }
}
