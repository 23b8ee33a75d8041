//! Ten times as many operations that never return take about ten times as long to check.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use foresee_refine::linear::Limits;
use foresee_refine::log::{Action, Event, Log, Thread};
use foresee_refine::named::{Structure, refine_at};
use foresee_refine::refine::{Mode, RefineError};
use foresee_refine::{History, Operation, Value, named};

/// A log under construction: each operation has a thread of its own.
#[derive(Default)]
struct Builder {
    log: Log,
}

impl Builder {
    fn thread(&mut self) -> u32 {
        let id = self.log.threads.len() as u32;
        self.log.threads.push(Thread { name: format!("T{id}").into(), is_internal: false });
        id
    }

    fn push(&mut self, thread: u32, action: Action) {
        self.log.events.push(Event { thread, action });
    }

    fn call(&mut self, method: &str, args: &[usize]) -> u32 {
        let thread = self.thread();
        let args = args.iter().map(|arg| Value::from(*arg)).collect();
        self.push(thread, Action::Call { method: method.into(), args });
        thread
    }

    /// An operation that commits and never returns.
    fn pending(&mut self, method: &str, args: &[usize]) {
        let thread = self.call(method, args);
        self.push(thread, Action::Commit);
    }

    fn lookup(&mut self, key: usize, ret: bool) {
        let thread = self.call("lookup", &[key]);
        self.push(thread, Action::Return { method: "lookup".into(), ret: ret.into() });
    }
}

fn log_of(many: usize, mut each: impl FnMut(&mut Builder, usize)) -> Log {
    let mut built = Builder::default();
    (0..many).for_each(|nth| each(&mut built, nth));
    built.log
}

/// The least time of some runs, so that other work on the machine counts little.
fn time_of(runs: usize, mut work: impl FnMut()) -> Duration {
    let timed = || {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    std::iter::repeat_with(timed).take(runs).min().unwrap()
}

/// One at a time: they are measured.
static MEASURED: Mutex<()> = Mutex::new(());

/// A quadratic check takes a hundred times as long, however often it is measured; ten is what is wanted, and the rest is for caches and a busy machine.
fn grows_slowly(what: &str, mut check: impl FnMut(usize)) {
    let _alone = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ratio = || {
        let [_, small, large] = [(2_000, 3), (20_000, 3), (200_000, 1)].map(|(many, runs)| {
            let time = time_of(runs, || check(many));
            println!("{what}: {many} in {time:?}");
            time
        });
        large.as_secs_f64() / small.as_secs_f64()
    };
    let ratios: Vec<f64> =
        std::iter::repeat_with(&mut ratio).take(3).take_while(|ratio| *ratio >= 40.0).collect();
    assert!(ratios.len() < 3, "{what}: ten times as many took {ratios:.0?} times as long");
}

/// What comes of a log by results and by views.
fn refined(structure: Structure, log: &Log, views: Mode) -> Result<bool, RefineError> {
    let found = refine_at(structure, log, views, Limits::default())?;
    Ok(found.io.is_none() && found.view.is_none_or(|view| view.is_none()))
}

#[test]
fn inserts_of_different_elements() {
    for views in [Mode::View, Mode::Quiescent] {
        grows_slowly("inserts", |many| {
            let log = log_of(many, |log, nth| log.pending("insert", &[nth]));
            assert_eq!(refined(Structure::Multiset, &log, views), Ok(true));
        });
    }
}

/// Each is asked for: whether it is there is known then, and that is right.
#[test]
fn inserts_that_are_looked_for() {
    grows_slowly("looked for", |many| {
        let log = log_of(many, |log, nth| {
            log.pending("insert", &[nth]);
            log.lookup(nth, nth % 2 == 0);
        });
        assert_eq!(refined(Structure::Multiset, &log, Mode::View), Ok(true));
    });
}

/// What was written shows which of them were successful.
#[test]
fn inserts_whose_writes_are_known() {
    let log = |many: usize, valid: bool| {
        log_of(many, |log, nth| {
            let thread = log.call("insert", &[nth]);
            let write =
                |field: &str, value| Action::Write { target: format!("A[{nth}].{field}").into(), value };
            log.push(thread, write("elt", nth.into()));
            log.push(thread, write("valid", (valid || nth % 2 == 0).into()));
            log.push(thread, Action::Commit);
        })
    };
    for valid in [true, false] {
        grows_slowly("written", |many| {
            assert_eq!(refined(Structure::Multiset, &log(many, valid), Mode::View), Ok(true));
        });
    }
}

/// Where all operations hang together there is no room for all results: those that are tried explain it, or it is not known.
#[test]
fn inserts_that_hang_together() {
    let pairs = |many: usize| log_of(many, |log, nth| log.pending("insertPair", &[nth, nth + 1]));
    let same = |many: usize| log_of(many, |log, _| log.pending("insert", &[1]));
    let looked_for = |many: usize| {
        log_of(many, |log, nth| {
            log.pending("insertPair", &[nth, nth + 1]);
            log.lookup(nth + 1, true);
        })
    };
    for (what, log) in
        [("pairs", &pairs as &dyn Fn(usize) -> Log), ("same", &same), ("pairs, looked for", &looked_for)]
    {
        grows_slowly(what, |many| {
            assert_eq!(refined(Structure::Multiset, &log(many), Mode::View), Ok(true));
        });
    }
}

#[test]
fn puts_into_a_queue() {
    let queue = "queue".parse().unwrap();
    grows_slowly("puts", |many| {
        let log = log_of(many, |log, nth| log.pending("enq", &[nth]));
        assert_eq!(refined(queue, &log, Mode::View), Ok(true));
    });
}

/// All wait for the same value, which comes last.
#[test]
fn observers_that_wait_for_each_other() {
    let counter = "counter".parse().unwrap();
    grows_slowly("observers", |many| {
        let mut built = Builder::default();
        for _ in 0..many {
            built.call("get", &[]);
        }
        for _ in 0..many {
            let thread = built.call("inc", &[]);
            built.push(thread, Action::Commit);
            built.push(thread, Action::Return { method: "inc".into(), ret: "ok".into() });
        }
        for thread in 0..many as u32 {
            built.push(thread, Action::Return { method: "get".into(), ret: many.into() });
        }
        assert_eq!(refined(counter, &built.log, Mode::View), Ok(true));
    });
}

#[test]
fn calls_that_do_not_even_commit() {
    grows_slowly("calls", |many| {
        let log = log_of(many, |log, nth| {
            log.call(if nth % 2 == 0 { "lookup" } else { "insert" }, &[nth]);
        });
        assert_eq!(refined(Structure::Multiset, &log, Mode::Quiescent), Ok(true));
    });
}

/// Calls without a return, and one read that most of them have nothing to do with.
#[test]
fn histories_of_calls_without_a_return() {
    let cases: [(&str, &str, usize, &str, Value); 9] = [
        ("register", "write", 1, "read", 1.into()),
        ("counter", "inc", 0, "get", 1.into()),
        ("set", "add", 1, "contains", true.into()),
        ("multiset", "insert", 1, "lookup", true.into()),
        ("queue", "enq", 1, "deq", 1.into()),
        ("stack", "push", 1, "pop", 1.into()),
        ("pqueue", "insert", 1, "delete_min", 1.into()),
        ("kv", "put", 2, "get", "1".into()),
        ("vector", "add", 1, "lastIndexOf", 0.into()),
    ];
    for (model, put, args, look, seen) in cases {
        let structure: Structure = model.parse().unwrap();
        let argument = |nth: usize| if model == "kv" { nth.to_string().into() } else { Value::from(nth) };
        grows_slowly(model, |many| {
            let put = |nth: usize| Operation {
                client: nth.to_string().into(),
                method: put.into(),
                args: (0..args).map(|_| argument(nth)).collect(),
                call: nth as i64,
                returned: None,
            };
            let mut ops: Vec<Operation> = (0..many).map(put).collect();
            let takes_one =
                ["contains", "lookup", "get", "lastIndexOf"].contains(&look) && model != "counter";
            ops.push(Operation {
                client: "reader".into(),
                method: look.into(),
                args: if takes_one { vec![argument(1)] } else { Vec::new() },
                call: many as i64,
                returned: Some((many as i64 + 1, seen.clone())),
            });
            let history = History::new(ops).unwrap();
            let verdict = named::check(
                structure.model(),
                &Value::Int(0),
                &history,
                named::Consistency::Linearizable,
                Limits::default(),
            );
            assert_eq!(verdict.unwrap().is_linearizable(), Some(true), "{model}");
        });
    }
}
