//! Refinement logging in programs in which something goes wrong: methods and specifications that panic, threads that do nothing, recorders that nobody
//! finishes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use foresee::attr::{mutator, observer};
use foresee::refine::log::Action;
use foresee::refine::{
    Kind, Mode, Outcome, Recorder, Role, Specification, Unsupported, Value, Viewed, WrongCall, models,
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
