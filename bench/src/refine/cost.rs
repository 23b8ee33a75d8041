//! Tables 2 and 3: what logging and checking cost, in processor time.
//!
//! Time is that of the threads that call methods, by their own clocks, so that neither the rest of the machine nor the checker's thread counts. All
//! subjects draw from the same few keys. The program alone is the same code with no recorder: an annotation then costs the look at one thread-local variable. Between operations it works for about
//! [`WORK`] rounds of arithmetic, some microseconds; the programs of the paper took from 50 microseconds (Vector: 0.2 seconds for 20 times 200
//! methods) to 30 milliseconds for each method. What the structure alone takes, and what is added to it, is there in nanoseconds.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use foresee::refine::log::Log;
use foresee::refine::{Choice, Harness, Mode};
use foresee_refine::refine::check;
use rustix::time::{ClockId, clock_gettime};

use super::subjects::{
    BlinkTree, Cache, MultisetTree, MultisetVector, ScanFs, StringBuffers, Subject, Vector, for_each_subject,
};

const THREADS: usize = 10;
/// Rounds of the program's own work for each operation.
const WORK: u64 = 10_000;
/// A thread reads its clock after so many operations.
const PIECE: usize = 500;

macro_rules! table {
    ($($type:ident, $name:literal, $bug:literal;)*) => {
        pub(super) fn run(operations: usize) {
            println!("\nTables 2 and 3: {THREADS} threads, {operations} operations; nanoseconds of processor time for each operation, and per cent of the program's");
            println!("{:<16} {:>9} {:>8} {:>17} {:>17} {:>17}   paper: {:>5} {:>6} {:>9}", "", "structure", "program", "+ results logged", "+ views logged", "checking views", "I/O", "view", "checking");
            $(row::<$type<false>>($name, operations);)*
            println!("(targets: 10 %, 50 %, 100 %)");
        }
    };
}
for_each_subject!(table);

fn row<T: Subject>(name: &str, operations: usize) {
    let each = (operations / THREADS).next_multiple_of(PIECE);
    let timed = |mode: Option<Mode>, work: u64| {
        let harness = Harness {
            threads: THREADS,
            operations: each,
            mode: mode.unwrap_or(Mode::Io),
            yields: 0,
            ..Harness::default()
        };
        let clock = ThreadClock::default();
        let operation = |subject: &T, choice: &mut Choice| {
            clock.counting(|| {
                subject.operate(choice);
                black_box((0..work).fold(choice.bits(), |sum, round| sum.rotate_left(5) ^ round));
            })
        };
        let log = match mode {
            None => {
                harness.drive(&T::new(&harness), None, &operation, T::INTERNAL);
                Log::default()
            }
            Some(_) => match harness.record(|| T::new(&harness), operation, T::INTERNAL) {
                Ok(recording) => recording.log,
                Err(why) => panic!("{name}: {why}"),
            },
        };
        (clock.nanos.into_inner() as f64 / (each * THREADS) as f64, log)
    };
    // The smallest of several: what else the machine does only adds.
    let best = |mode, work| {
        let runs = (0..3).map(|_| timed(mode, work));
        runs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
    };
    let (structure, _) = best(None, 0);
    let (bare, _) = best(None, WORK);
    let (io, _) = best(Some(Mode::Io), WORK);
    let (view, log) = best(Some(Mode::View), WORK);
    let check = |_| {
        let start = thread_nanos();
        let found = check(&T::SPEC, T::Replica::default(), &log, Mode::View);
        assert!(matches!(found, Ok(None)), "{name}: {found:?}");
        (thread_nanos() - start) as f64 / (each * THREADS) as f64
    };
    let checking = (0..3).map(check).fold(f64::INFINITY, f64::min);
    let percent = |nanos: f64| 100.0 * nanos / bare;
    let (io, view) = (io - bare, view - bare);
    let paper = match paper(name) {
        Some([io, view, check]) => format!("{io:>3.0} %  {view:>3.0} %   {check:>5.0} %"),
        None => "  -      -         -".to_owned(),
    };
    println!(
        "{name:<16} {structure:>9.0} {bare:>8.0} {io:>9.0} ({:>4.0} %) {view:>9.0} ({:>4.0} %) {checking:>8.0} ({:>5.0} %)          {paper}",
        percent(io),
        percent(view),
        percent(checking)
    );
}

/// The processor time of threads, added up.
#[derive(Default)]
struct ThreadClock {
    nanos: AtomicU64,
}

impl ThreadClock {
    fn counting(&self, work: impl FnOnce()) {
        thread_local! {
            static DONE: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
        }
        let (done, since) = DONE.get();
        let since = if done == 0 { thread_nanos() } else { since };
        work();
        if done + 1 == PIECE {
            self.nanos.fetch_add(thread_nanos() - since, Ordering::Relaxed);
            DONE.set((0, 0));
        } else {
            DONE.set((done + 1, since));
        }
    }
}

/// The processor time of this thread so far.
fn thread_nanos() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Tables 2 and 3 of the paper, in per cent of the program's time: logging for results, for views, and checking views from the log. It has
/// no figures of the Scan file system.
fn paper(subject: &str) -> Option<[f64; 3]> {
    let [program, io, view, checking] = match subject {
        "multiset-vector" => [15.4, 0.39, 3.69, 82.5],
        "multiset-tree" => [1.1, 0.135, 0.53, 3.1],
        "vector" => [0.2, 0.09, 0.12, 2.03],
        "string-buffer" => [0.92, 0.18, 0.24, 1.85],
        "blink-tree" => [56.2, 2.42, 2.63, 157.32],
        "cache" => [1.8, 1.67, 3.31, 4.45],
        _ => return None,
    };
    Some([io, view, checking].map(|seconds| 100.0 * seconds / program))
}
