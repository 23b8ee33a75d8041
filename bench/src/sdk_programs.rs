//! The programs of `foresee-bench knowledge`: with the standard library's types, and with the SDK's. What the latter cost without any property, `bin/unmonitored.rs` measures, which has none.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use foresee::{Lock, Shared};
use rustix::time::{ClockId, clock_gettime};

/// A program, however its data are kept: what its threads do again and again.
pub(crate) trait Work: Sync {
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
pub(crate) struct SdkBank;
struct PlainSection;
struct SdkSection;
struct SdkRace;

impl Work for PlainBank {
    fn round(&self, number: u64) {
        let _held = PLAIN.lock.lock();
        let amount = (number % 50) as i64;
        set(&PLAIN.one, value(&PLAIN.one) - amount);
        set(&PLAIN.other, value(&PLAIN.other) + amount);
    }
}

impl Work for SdkBank {
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

impl Work for SdkSection {
    fn round(&self, _: u64) {
        let _held = LOCK.lock();
        foresee::local!(critical = true);
        COUNTER.set(COUNTER.get() + 1);
        foresee::local!(critical = false);
    }
}

impl Work for SdkRace {
    fn round(&self, _: u64) {
        let _held = LOCK.lock();
        SHARED.set(SHARED.get() + 1);
    }
}

/// Seconds of processor time that something takes the calling thread.
pub(crate) fn seconds(what: impl FnOnce()) -> f64 {
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

/// Processor nanoseconds of a round of one of these programs, so many rounds in all, by two threads; `None` if there is no such program.
pub(crate) fn nanoseconds(program: &str, rounds: u64, writes_journal: bool) -> Option<f64> {
    let (work, name): (&'static dyn Work, _) = match program {
        "plain-bank" => (&PlainBank, "plain"),
        "plain-section" => (&PlainSection, "plain"),
        "sdk-bank" => (&SdkBank, "teller"),
        "sdk-section" => (&SdkSection, "section"),
        "sdk-race" => (&SdkRace, "racer"),
        _ => return None,
    };
    Some(two_threads(work, name, rounds, writes_journal) * 1e9 / rounds.max(1) as f64)
}
