//! What it costs to have threads check what they know of each other: the programs of the DAME paper as far as they can be rebuilt, single accesses, and memory.
//!
//! The bank: two tellers move money between two accounts under one lock, each transfer an atomic block, with a line in the journal or without. The section of the mutual
//! exclusion protocol: two threads count in turn. The race: two threads access one variable under a lock, which the formula for races looks at. *Unmonitored* is the same program with
//! the standard library's types, which is what the SDK's are where no property is in the program: every account is a cell with a lock of its own.
//!
//! The paper has 3.4 times for some 2,000 transactions of its bank in Java, and 1.8 to 5 times for its programs. *Bare* programs do nothing but events, of a few nanoseconds each
//! where nothing is monitored: that shows the cost of the monitors, and hardly that of a program. What bounds it there: five locks are taken and given back in a bare transaction, and nothing else is done;
//! monitored, it is eight events, of which two change the thread's state, so that formulas are worked out twice and three variables get the thread's new entry. Time is that of the processor, for all threads together, as others share the machine.

use std::hint::black_box;
use std::sync::{Barrier, Mutex, PoisonError};

use foresee::{Lock, Shared};
use rustix::time::{ClockId, clock_gettime};

foresee::monitor! {
    property AtomicInvocations {
        thread i, j: "teller-*";
        local invocation: int = 0;
        mttl: @i(invocation > 0 -> !exists j != i: invocation == @j @i invocation)
        @violation { count; }
    }

    property ExclusiveSections {
        thread i, j: "section-*";
        local critical: bool = false;
        mttl: @i(critical -> !exists j != i: @j critical)
        @violation { count; }
    }

    property OrderedAccesses {
        thread i, j: "racer-*";
        var SHARED: int;
        mttl: @i(forall j != i: (read(SHARED) -> !@j write(SHARED))
              && (write(SHARED) -> !@j read(SHARED))
              && (write(SHARED) -> !@j write(SHARED)))
        @violation { count; }
    }

    // Three remote expressions.
    property Remote {
        thread i: "accessing-*";
        thread other: "accessing-0";
        local p, q, r: int = 0;
        mttl: @i(@other p + @other q <= @other r + 1000)
        @violation { count; }
    }
}

/// A program, however its data are kept: what its threads do again and again.
trait Work: Sync {
    fn round(&self, number: u64);
}

struct Plain {
    lock: Mutex<()>,
    one: Mutex<i64>,
    other: Mutex<i64>,
}

fn value(cell: &Mutex<i64>) -> i64 {
    *cell.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(cell: &Mutex<i64>, value: i64) {
    *cell.lock().unwrap_or_else(PoisonError::into_inner) = value;
}

static PLAIN: Plain = Plain { lock: Mutex::new(()), one: Mutex::new(0), other: Mutex::new(0) };
static LOCK: Lock<()> = Lock::new(());
static CHECKING: Shared<i64> = Shared::new(0);
static SAVING: Shared<i64> = Shared::new(0);
static COUNTER: Shared<i64> = Shared::new(0);
static SHARED: Shared<i64> = Shared::named("SHARED", 0);

struct PlainBank;
struct MonitoredBank;
struct PlainSection;
struct MonitoredSection;
struct MonitoredRace;

impl Work for PlainBank {
    fn round(&self, number: u64) {
        let _held = PLAIN.lock.lock();
        let amount = (number % 50) as i64;
        set(&PLAIN.one, value(&PLAIN.one) - amount);
        set(&PLAIN.other, value(&PLAIN.other) + amount);
    }
}

impl Work for MonitoredBank {
    fn round(&self, number: u64) {
        let _held = LOCK.lock();
        let amount = (number % 50) as i64;
        foresee::local!(invocation = number);
        CHECKING.set(CHECKING.get() - amount);
        SAVING.set(SAVING.get() + amount);
        foresee::local!(invocation = 0_u64);
    }
}

impl Work for PlainSection {
    fn round(&self, _: u64) {
        let _held = PLAIN.lock.lock();
        set(&PLAIN.one, value(&PLAIN.one) + 1);
    }
}

impl Work for MonitoredSection {
    fn round(&self, _: u64) {
        let _held = LOCK.lock();
        foresee::local!(critical = true);
        COUNTER.set(COUNTER.get() + 1);
        foresee::local!(critical = false);
    }
}

impl Work for MonitoredRace {
    fn round(&self, _: u64) {
        let _held = LOCK.lock();
        SHARED.set(SHARED.get() + 1);
    }
}

/// Seconds of processor time that something takes the calling thread.
fn seconds(what: impl FnOnce()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let before = now();
    what();
    now() - before
}

/// Seconds of two threads of this name together, for so many rounds.
fn two_threads(work: &'static dyn Work, name: &str, rounds: u64, writes_journal: bool) -> f64 {
    let thread = move |number: u64| {
        move || {
            let mut journal = String::new();
            seconds(|| {
                for round in 1..=rounds / 2 {
                    work.round(round);
                    if writes_journal {
                        journal.clear();
                        journal += &format!(
                            "teller {number}, transfer {round}: {} from checking to saving",
                            round % 50
                        );
                        black_box(&journal);
                    }
                }
            })
        }
    };
    let threads: Vec<_> = (1..=2)
        .filter_map(|number| foresee::spawn_named(&format!("{name}-{number}"), thread(number)).ok())
        .collect();
    threads.into_iter().filter_map(|thread| thread.join().ok()).sum()
}

/// One run in a process of its own: prints nanoseconds per round. (Threads that have ended stay known, so runs in one process would not be alike.)
pub(crate) fn child(program: &str, rounds: &str, journal: &str) {
    let rounds: u64 = rounds.parse().unwrap_or(0);
    if program == "memory" {
        return println!("{}", growth(rounds));
    }
    if let Some(threads) = program.strip_prefix("accesses-") {
        return println!("{}", many_threads(threads.parse().unwrap_or(1), rounds));
    }
    let (work, name): (&'static dyn Work, _) = match program {
        "plain-bank" => (&PlainBank, "plain"),
        "monitored-bank" => (&MonitoredBank, "teller"),
        "monitored-section" => (&MonitoredSection, "section"),
        "monitored-race" => (&MonitoredRace, "racer"),
        _ => (&PlainSection, "plain"),
    };
    let seconds = two_threads(work, name, rounds, journal == "journal");
    let monitors = [&atomic_invocations::MONITOR, &exclusive_sections::MONITOR, &ordered_accesses::MONITOR];
    assert!(monitors.iter().all(|monitor| monitor.violations() == 0), "the programs are correct");
    println!("{}", seconds * 1e9 / rounds.max(1) as f64);
}

/// What a process of our own prints.
fn of_child(program: &str, rounds: u64, journal: &str) -> Option<f64> {
    let me = std::env::current_exe().ok()?;
    let args = ["child-knowledge", program, &rounds.to_string(), journal];
    let output = std::process::Command::new(me).args(args).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// The least of some runs.
fn least(program: &str, rounds: u64, journal: &str) -> f64 {
    (0..7).filter_map(|_| of_child(program, rounds, journal)).fold(f64::INFINITY, f64::min)
}

pub(crate) fn run(sizes: &[u64], events: u64) {
    println!(
        "{:<40} {:>12} {:>12} {:>8}   target",
        "two threads, one round", "unmonitored", "monitored", "ratio"
    );
    for &rounds in sizes {
        for (program, plain, monitored, journal) in [
            ("bank with a journal", "plain-bank", "monitored-bank", "journal"),
            ("bare bank", "plain-bank", "monitored-bank", "bare"),
            ("bare section", "plain-section", "monitored-section", "bare"),
            ("bare race", "plain-section", "monitored-race", "bare"),
        ] {
            let (plain, monitored) = (least(plain, rounds, journal), least(monitored, rounds, journal));
            let name = format!("{program}, {rounds} rounds");
            println!("{name:<40} {plain:>9.0} ns {monitored:>9.0} ns {:>7.2}x   1.8x", monitored / plain);
        }
    }
    accesses();
    for threads in [1, 2, 64] {
        let nanos = of_child(&format!("accesses-{threads}"), 1_000_000, "").unwrap_or(f64::NAN);
        let name = format!("{threads} threads, each with its own cell");
        println!("{name:<40} {nanos:>9.1} ns   60 ns");
    }
    let grown = of_child("memory", events, "").unwrap_or(f64::NAN);
    println!(
        "\n{:<40} {grown:>9.0} KiB   0 KiB",
        format!("memory grown over the last 90% of {events} events")
    );
    if let Err(why) = crate::instrumented::run(sizes) {
        eprintln!("fully instrumented: {why}");
    }
}

/// Processor nanoseconds of a write by so many threads at once, of which each has a cell of its own.
fn many_threads(threads: u64, each: u64) -> f64 {
    static CELLS: [Shared<u64>; 64] = [const { Shared::new(0) }; 64];
    let thread = move |number: u64| {
        move || {
            let cell = &CELLS[number as usize % CELLS.len()];
            seconds(|| (0..each).for_each(|n| cell.set(black_box(n))))
        }
    };
    let started: Vec<_> = (0..threads)
        .filter_map(|number| foresee::spawn_named(&format!("accessing-{number}"), thread(number)).ok())
        .collect();
    let seconds: f64 = started.into_iter().filter_map(|thread| thread.join().ok()).sum();
    seconds * 1e9 / (each * threads) as f64
}

/// By how many KiB this process has grown after the first tenth of so many events: eight for each transaction.
fn growth(events: u64) -> f64 {
    // What the process has written to: pages of its code come and go, and `statm` may be some hundred KiB late.
    let resident = || {
        let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
        let written = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"));
        written.and_then(|kib| kib.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(f64::NAN)
    };
    let transactions = events / 8;
    // What a thread has for itself is there when it has begun.
    static HAVE_BEGUN: Barrier = Barrier::new(2);
    let teller = move || {
        let round = |number| MonitoredBank.round(number);
        (1..=transactions / 20).for_each(round);
        // Asking takes memory, too, the first time.
        resident();
        HAVE_BEGUN.wait();
        let before = resident();
        HAVE_BEGUN.wait();
        (transactions / 20..=transactions / 2).for_each(round);
        resident() - before
    };
    let tellers: Vec<_> =
        (1..=2).filter_map(|number| foresee::spawn_named(&format!("teller-{number}"), teller).ok()).collect();
    tellers.into_iter().filter_map(|teller| teller.join().ok()).fold(0.0, f64::max)
}

/// One thread, one cell: what an access costs that changes nothing.
fn accesses() {
    const COUNT: u64 = 2_000_000;
    static CELL: Shared<u64> = Shared::new(0);
    static PLAIN_CELL: Mutex<u64> = Mutex::new(0);
    fn nanoseconds(run: impl Fn(u64)) -> f64 {
        let once = || seconds(|| (0..COUNT).for_each(&run));
        (0..5).map(|_| once()).fold(f64::INFINITY, f64::min) * 1e9 / COUNT as f64
    }
    let measured = foresee::spawn_named("accessing-1", || {
        [
            nanoseconds(|n| *PLAIN_CELL.lock().unwrap_or_else(PoisonError::into_inner) = black_box(n)),
            nanoseconds(|n| CELL.set(black_box(n))),
            nanoseconds(|_| _ = black_box(CELL.get())),
        ]
    });
    let [plain, set, get] = measured.ok().and_then(|thread| thread.join().ok()).unwrap_or([f64::NAN; 3]);
    println!("\n{:<40} {:>12}   target", "one access, 3 remote expressions", "");
    println!("{:<40} {plain:>9.1} ns", "write of a mutex's value");
    println!("{:<40} {set:>9.1} ns   60 ns", "write of a shared cell");
    println!("{:<40} {get:>9.1} ns   60 ns", "read of a shared cell");
}
