//! What it costs to have threads check what they know of each other: the programs of the DAME paper as far as they can be rebuilt, single accesses, and memory.
//!
//! The bank: two tellers move money between two accounts under one lock, each transfer an atomic block, with a line in the journal or without. The section of the mutual
//! exclusion protocol: two threads count in turn. The race: two threads access one variable under a lock, which the formula for races looks at. *Unmonitored* is the same program
//! without any property. Beside it is what it takes with the standard library's types, every account a cell with a lock of its own: those of the SDK without a property are these, but for how somebody waits for a lock.
//!
//! The paper has 3.4 times for some 2,000 transactions of its bank in Java, and 1.8 to 5 times for its programs. *Bare* programs do nothing but events, of a few nanoseconds each
//! where nothing is monitored: that shows the cost of the monitors, and hardly that of a program. What bounds it there: five locks are taken and given back in a bare transaction, and nothing else is done;
//! monitored, it is eight events, of which two change the thread's state, so that formulas are worked out twice and three variables get the thread's new entry. On several processors it is that threads
//! are in each other's way: the lock is held for most of a round, and with it go the cache lines of what is accessed under it. Programs that do little but that vary by a factor of two or more, with and without monitors, and with what else the machine does. Time is that of the processor, for all threads together, as others share the machine.

use std::hint::black_box;
use std::process::Command;
use std::sync::{Barrier, Mutex, PoisonError};

use foresee::Shared;

use crate::corpus::Failed;
use crate::record::built;
use crate::sdk_programs::{SdkBank, Work as _, nanoseconds, seconds};

/// Of so many runs the least counts.
const RUNS: usize = 7;

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

/// One run in a process of its own: prints nanoseconds per round. (Threads that have ended stay known, so runs in one process would not be alike.)
pub(crate) fn child(program: &str, rounds: &str, journal: &str) {
    let rounds: u64 = rounds.parse().unwrap_or(0);
    if program == "memory" {
        return println!("{}", growth(rounds));
    }
    if let Some(threads) = program.strip_prefix("accesses-") {
        return println!("{}", many_threads(threads.parse().unwrap_or(1), rounds));
    }
    let nanos = nanoseconds(program, rounds, journal == "journal").unwrap_or(f64::NAN);
    let monitors = [&atomic_invocations::MONITOR, &exclusive_sections::MONITOR, &ordered_accesses::MONITOR];
    assert!(monitors.iter().all(|monitor| monitor.violations() == 0), "the programs are correct");
    println!("{nanos}");
}

/// What one of our programs prints.
fn printed(command: &mut Command) -> Option<f64> {
    let output = command.output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// What a process of our own prints.
fn of_child(program: &str, rounds: u64, journal: &str) -> Option<f64> {
    let args = ["child-knowledge", program, &rounds.to_string(), journal];
    printed(Command::new(std::env::current_exe().ok()?).args(args))
}

pub(crate) fn run(sizes: &[u64], events: u64) {
    if let Err(why) = programs(sizes) {
        eprintln!("programs: {why}");
    }
    rest(sizes, events);
}

/// Prints what the programs take.
fn programs(sizes: &[u64]) -> Result<(), Failed> {
    // The program that has no property.
    let unmonitored = built(&["-p", "foresee-bench", "--bin", "unmonitored"], "unmonitored")?;
    println!(
        "{:<40} {:>12} {:>12} {:>12} {:>8} {:>8}   target",
        "two threads, one round", "std's types", "unmonitored", "monitored", "to std", "ratio"
    );
    for &rounds in sizes {
        for (program, plain, sdk, journal) in [
            ("bank with a journal", "plain-bank", "sdk-bank", "journal"),
            ("bare bank", "plain-bank", "sdk-bank", "bare"),
            ("bare section", "plain-section", "sdk-section", "bare"),
            ("bare race", "plain-section", "sdk-race", "bare"),
        ] {
            // In turn, as the machine is not always alike.
            let mut least = [f64::INFINITY; 3];
            for _ in 0..RUNS {
                let mut without = Command::new(&unmonitored);
                without.args([sdk, &rounds.to_string(), journal]);
                let took =
                    [of_child(plain, rounds, journal), printed(&mut without), of_child(sdk, rounds, journal)];
                least
                    .iter_mut()
                    .zip(took)
                    .for_each(|(least, took)| *least = least.min(took.unwrap_or(f64::INFINITY)));
            }
            let [plain, without, monitored] = least;
            println!(
                "{:<40} {plain:>9.0} ns {without:>9.0} ns {monitored:>9.0} ns {:>7.2}x {:>7.2}x   1.8x",
                format!("{program}, {rounds} rounds"),
                monitored / plain,
                monitored / without
            );
        }
    }
    Ok(())
}

fn rest(sizes: &[u64], events: u64) {
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
        let round = |number| SdkBank.round(number);
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
