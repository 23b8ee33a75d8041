//! The same run through both homes: the SDK's types monitor it in the process, and the engine over traces finds the same violations at the same events.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use foresee::{JoinHandle, Lock, LockGuard, ReadGuard, RwLock, Shared, WriteGuard};
use foresee_lattice::knowledge::KnownVerdicts;
use foresee_trace::EventSource as _;
use foresee_trace::text::TextReader;
use foresee_witness::engine::StreamEngine;

/// The properties, for the program and as text.
macro_rules! in_both {
    ($($spec:tt)*) => {
        foresee::monitor! { $($spec)* }

        const SPEC: &str = stringify!($($spec)*);
    };
}

in_both! {
    property Exclusive {
        thread i, j;
        local critical: bool = false;
        mttl: @i(critical -> !exists j != i: @j critical)
        @violation { count; report "exclusive"; }
    }

    property Atomic {
        thread i, j;
        local invocation: int = 0;
        mttl: @i(invocation > 0 -> !exists j != i: invocation == @j @i invocation)
        @violation { count; report "atomic"; }
    }

    property Ordered {
        thread i, j;
        var NAMED: int;
        mttl: @i(write(NAMED) -> !exists j != i: @j write(NAMED))
        @violation { count; report "ordered"; }
    }

    property Small {
        thread i, j;
        local critical: bool = false;
        var NAMED: int;
        mttl: @i(NAMED < 5 || (forall j != i: (@j NAMED < 5 || @j critical)))
        @violation { count; report "small"; }
    }
}

static CELLS: [Shared<u64>; 3] = [const { Shared::new(0) }; 3];
static NAMED: Shared<i64> = Shared::named("NAMED", 0);
static LOCK: Lock<()> = Lock::new(());
static READERS: RwLock<()> = RwLock::new(());

#[derive(Clone, Copy, Debug)]
enum Op {
    Get(usize),
    Set(usize),
    GetNamed,
    SetNamed(i64),
    Critical(bool),
    Invocation(u64),
    Acquire,
    Release,
    Read,
    ReadDone,
    Write,
    WriteDone,
}

/// What a thread holds.
#[derive(Default)]
struct Held {
    lock: Option<LockGuard<'static, ()>>,
    read: Option<ReadGuard<'static, ()>>,
    write: Option<WriteGuard<'static, ()>>,
}

thread_local! {
    static HELD: RefCell<Held> = RefCell::default();
}

impl Op {
    /// Does it on the calling thread.
    fn run(self) {
        HELD.with_borrow_mut(|held| match self {
            Op::Get(cell) => _ = CELLS[cell].get(),
            Op::Set(cell) => CELLS[cell].set(1),
            Op::GetNamed => _ = NAMED.get(),
            Op::SetNamed(value) => NAMED.set(value),
            Op::Critical(value) => foresee::local!(critical = value),
            Op::Invocation(value) => foresee::local!(invocation = value),
            Op::Acquire => held.lock = Some(LOCK.lock()),
            Op::Release => held.lock = None,
            Op::Read => held.read = Some(READERS.read()),
            Op::ReadDone => held.read = None,
            Op::Write => held.write = Some(READERS.write()),
            Op::WriteDone => held.write = None,
        });
    }

    /// As the trace has it.
    fn text(self) -> String {
        match self {
            Op::Get(cell) => format!("r(cell{cell})"),
            Op::Set(cell) => format!("w(cell{cell}=1)"),
            Op::GetNamed => "r(NAMED)".to_owned(),
            Op::SetNamed(value) => format!("w(NAMED={value})"),
            Op::Critical(value) => format!("local(critical={})", u8::from(value)),
            Op::Invocation(value) => format!("local(invocation={value})"),
            Op::Acquire => "acq(lock)".to_owned(),
            Op::Release => "rel(lock)".to_owned(),
            Op::Read => "acq.shared(readers)".to_owned(),
            Op::ReadDone => "rel.shared(readers)".to_owned(),
            Op::Write => "acq(readers)".to_owned(),
            Op::WriteDone => "rel(readers)".to_owned(),
        }
    }
}

/// Numbers that look random, always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % limit
    }
}

/// A thread that does what it is told.
struct Worker {
    number: usize,
    tell: Sender<Op>,
    done: Receiver<()>,
    thread: JoinHandle<()>,
}

/// What was done so far: the trace, and how many violations of all properties the SDK has found up to each line's end.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    found: BTreeMap<usize, u64>,
}

fn violations() -> u64 {
    [&exclusive::MONITOR, &atomic::MONITOR, &ordered::MONITOR, &small::MONITOR]
        .iter()
        .map(|monitor| monitor.violations())
        .sum()
}

impl Log {
    /// Does something that is these lines of the trace.
    fn event<R>(&mut self, lines: &[String], what: impl FnOnce() -> R) -> R {
        let before = violations();
        let result = what();
        for line in lines {
            let place = format!("{line}|run.rs:{}", self.lines.len() + 1);
            self.lines.push(place);
        }
        let found = violations() - before;
        if found > 0 {
            self.found.insert(self.lines.len(), found);
        }
        result
    }
}

/// Who holds what, so that nobody has to wait.
#[derive(Default)]
struct Model {
    lock: Option<usize>,
    readers: Vec<usize>,
    writer: Option<usize>,
    invocations: u64,
}

impl Model {
    fn op(&mut self, random: &mut Random, thread: usize) -> Op {
        match random.below(12) {
            0 | 1 => Op::Get(random.below(3) as usize),
            2 | 3 => Op::Set(random.below(3) as usize),
            4 => Op::GetNamed,
            5 => Op::SetNamed(random.below(8) as i64),
            6 => Op::Critical(random.below(2) == 0),
            7 => {
                self.invocations += 1;
                Op::Invocation(if random.below(2) == 0 { self.invocations } else { 0 })
            }
            8 | 9 => match self.lock {
                None => {
                    self.lock = Some(thread);
                    Op::Acquire
                }
                Some(holder) if holder == thread => {
                    self.lock = None;
                    Op::Release
                }
                Some(_) => Op::Get(0),
            },
            _ if self.writer == Some(thread) => {
                self.writer = None;
                Op::WriteDone
            }
            _ if self.readers.contains(&thread) => {
                self.readers.retain(|reader| *reader != thread);
                Op::ReadDone
            }
            10 if self.writer.is_none() && self.readers.is_empty() => {
                self.writer = Some(thread);
                Op::Write
            }
            _ if self.writer.is_none() => {
                self.readers.push(thread);
                Op::Read
            }
            _ => Op::GetNamed,
        }
    }

    /// What a thread still has to give back.
    fn rest(&mut self, thread: usize) -> Vec<Op> {
        let mut rest = Vec::new();
        if self.lock == Some(thread) {
            self.lock = None;
            rest.push(Op::Release);
        }
        if self.writer == Some(thread) {
            self.writer = None;
            rest.push(Op::WriteDone);
        }
        if self.readers.contains(&thread) {
            self.readers.retain(|reader| *reader != thread);
            rest.push(Op::ReadDone);
        }
        rest
    }
}

fn name(number: usize) -> String {
    if number == 0 { "main".to_owned() } else { format!("t{number}") }
}

fn start(log: &mut Log, number: usize) -> Worker {
    let (tell, told) = channel::<Op>();
    let (acted, done) = channel();
    let thread = log.event(&[format!("main|fork({})", name(number))], || {
        foresee::spawn(move || {
            for op in told {
                op.run();
                acted.send(()).unwrap();
            }
        })
    });
    Worker { number, tell, done, thread }
}

#[test]
fn both_homes_find_the_same_at_the_same_events() {
    let mut random = Random(0x5eed);
    let (mut log, mut model) = (Log::default(), Model::default());
    let mut next = 1;
    for _ in 0..25 {
        let workers: Vec<Worker> = (next..next + 3).map(|number| start(&mut log, number)).collect();
        next += 3;
        let do_it = |log: &mut Log, worker: Option<&Worker>, op: Op| {
            let number = worker.map_or(0, |worker| worker.number);
            log.event(&[format!("{}|{}", name(number), op.text())], || match worker {
                None => op.run(),
                Some(worker) => {
                    worker.tell.send(op).unwrap();
                    worker.done.recv().unwrap();
                }
            });
        };
        for _ in 0..120 {
            let worker = (random.below(4) as usize).checked_sub(1).map(|at| &workers[at]);
            let op = model.op(&mut random, worker.map_or(0, |worker| worker.number));
            do_it(&mut log, worker, op);
        }
        for worker in workers {
            for op in model.rest(worker.number) {
                do_it(&mut log, Some(&worker), op);
            }
            let child = name(worker.number);
            let Worker { tell, thread, .. } = worker;
            // Its end and the join are one step here.
            log.event(&[format!("{child}|thread_end"), format!("main|join({child})")], || {
                drop(tell);
                thread.join().unwrap();
            });
        }
    }
    let compiled = foresee_monitor::compile(SPEC).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let mut engine = Box::new(KnownVerdicts::new(&compiled.properties, "run.std"));
    let trace = log.lines.join("\n") + "\n";
    let mut reader = TextReader::new(trace.as_bytes());
    let mut index = 0;
    while reader.advance().unwrap() {
        engine.names(reader.names());
        engine.event(index, &reader.event());
        index += 1;
    }
    assert_eq!(index as usize, log.lines.len());
    let mut found: BTreeMap<usize, u64> = BTreeMap::new();
    for finding in engine.finish(reader.names()).findings {
        let mut line = finding.events[0] as usize + 1;
        if log.lines[line - 1].contains("thread_end") {
            line += 1;
        }
        *found.entry(line).or_default() += finding.instances;
    }
    assert!(log.found.len() > 50, "too little happens: {:?}", log.found);
    assert_eq!(log.found, found);
}
