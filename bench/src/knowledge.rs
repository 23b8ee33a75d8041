//! What it costs to have threads check what they know of each other: the bank of the DAME paper with its atomicity property, and single accesses.
//!
//! The bank: two tellers move money between two accounts under one lock, each transfer an atomic block, with a line in the journal or without. *Unmonitored* is the
//! same program with the standard library's types, which is what the SDK's are where no property is in the program: every account is a cell with a lock of its own.
//! The paper has 3.4 times for some 2,000 transactions in Java.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

use foresee::{Lock, Shared};

foresee::monitor! {
    property AtomicInvocations {
        thread i, j;
        local invocation: int = 0;
        mttl: @i(invocation > 0 -> !exists j != i: invocation == @j @i invocation)
        @violation { count; }
    }

    // Three remote expressions.
    property Remote {
        thread i: "accessing-*";
        thread other: "accessing-1";
        local p, q, r: int = 0;
        mttl: @i(@other p + @other q <= @other r + 1000)
        @violation { count; }
    }
}

/// A bank, however its accounts are kept.
trait Bank: Sync {
    fn transfer(&self, invocation: u64, amount: i64);
}

struct Plain {
    lock: Mutex<()>,
    checking: Mutex<i64>,
    saving: Mutex<i64>,
}

fn value(account: &Mutex<i64>) -> i64 {
    *account.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn set(account: &Mutex<i64>, value: i64) {
    *account.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = value;
}

impl Bank for Plain {
    fn transfer(&self, _: u64, amount: i64) {
        let _held = self.lock.lock();
        set(&self.checking, value(&self.checking) - amount);
        set(&self.saving, value(&self.saving) + amount);
    }
}

struct Monitored {
    lock: Lock<()>,
    checking: Shared<i64>,
    saving: Shared<i64>,
}

impl Bank for Monitored {
    fn transfer(&self, invocation: u64, amount: i64) {
        let _held = self.lock.lock();
        foresee::local!(invocation = invocation);
        self.checking.set(self.checking.get() - amount);
        self.saving.set(self.saving.get() + amount);
        foresee::local!(invocation = 0_u64);
    }
}

/// Seconds for so many transactions by two tellers.
fn day(bank: &'static dyn Bank, transactions: u64, writes_journal: bool) -> f64 {
    let teller = move |number: u64| {
        move || {
            let started = Instant::now();
            let mut journal = String::new();
            for invocation in 1..=transactions / 2 {
                let amount = (invocation % 50) as i64;
                bank.transfer(invocation, amount);
                if writes_journal {
                    journal.clear();
                    journal +=
                        &format!("teller {number}, transfer {invocation}: {amount} from checking to saving");
                    black_box(&journal);
                }
            }
            started.elapsed().as_secs_f64()
        }
    };
    let tellers: Vec<_> = (1..=2)
        .filter_map(|number| foresee::spawn_named(&format!("teller-{number}"), teller(number)).ok())
        .collect();
    tellers.into_iter().filter_map(|teller| teller.join().ok()).fold(0.0, f64::max)
}

static PLAIN: Plain = Plain { lock: Mutex::new(()), checking: Mutex::new(0), saving: Mutex::new(0) };
static MONITORED: Monitored =
    Monitored { lock: Lock::new(()), checking: Shared::new(0), saving: Shared::new(0) };

/// One day in a process of its own: prints nanoseconds per transaction. (Threads that have ended stay known, so days in one process would not be alike.)
pub(crate) fn child(kind: &str, transactions: &str, journal: &str) {
    let bank: &'static dyn Bank = if kind == "plain" { &PLAIN } else { &MONITORED };
    let transactions: u64 = transactions.parse().unwrap_or(0);
    let seconds = day(bank, transactions, journal == "journal");
    assert_eq!(atomic_invocations::MONITOR.violations(), 0, "the blocks are atomic");
    println!("{}", seconds * 1e9 / transactions.max(1) as f64);
}

/// The least of some days.
fn least_of_days(kind: &str, transactions: u64, journal: &str) -> f64 {
    let day = || {
        let me = std::env::current_exe().ok()?;
        let args = ["child-knowledge", kind, &transactions.to_string(), journal];
        let output = std::process::Command::new(me).args(args).output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse().ok()
    };
    (0..9).filter_map(|_| day()).fold(f64::INFINITY, f64::min)
}

/// The least of some runs: others share the machine.
fn least(runs: usize, run: impl Fn() -> f64) -> f64 {
    (0..runs).map(|_| run()).fold(f64::INFINITY, f64::min)
}

pub(crate) fn run(sizes: &[u64]) {
    println!("{:<38} {:>12} {:>12} {:>8}   target", "bank, two tellers", "unmonitored", "monitored", "ratio");
    for &transactions in sizes {
        for (name, journal) in [("with a journal", "journal"), ("bare", "bare")] {
            let plain = least_of_days("plain", transactions, journal);
            let monitored = least_of_days("monitored", transactions, journal);
            println!(
                "{:<38} {plain:>9.0} ns {monitored:>9.0} ns {:>7.2}x   1.8x",
                format!("{transactions} transactions, {name}"),
                monitored / plain
            );
        }
    }
    accesses();
}

/// One thread, one cell: what an access costs that changes nothing.
fn accesses() {
    const COUNT: u64 = 2_000_000;
    static CELL: Shared<u64> = Shared::new(0);
    static PLAIN_CELL: Mutex<u64> = Mutex::new(0);
    let nanoseconds = |run: &dyn Fn(u64)| {
        least(5, || {
            let started = Instant::now();
            (0..COUNT).for_each(run);
            started.elapsed().as_secs_f64()
        }) * 1e9
            / COUNT as f64
    };
    let set_plain = |n| *PLAIN_CELL.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = black_box(n);
    println!("\n{:<38} {:>12}   target", "one access, 3 remote expressions", "");
    println!("{:<38} {:>9.1} ns", "write of a mutex's value", nanoseconds(&set_plain));
    println!("{:<38} {:>9.1} ns   60 ns", "write of a shared cell", nanoseconds(&|n| CELL.set(black_box(n))));
    println!(
        "{:<38} {:>9.1} ns   60 ns",
        "read of a shared cell",
        nanoseconds(&|_| _ = black_box(CELL.get()))
    );
}
