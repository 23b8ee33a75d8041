//! Table 1: how many operations it takes to find a bug.
//!
//! Both ways look at the same log, so chance treats them alike. Without their bugs the subjects raise no alarm, so every alarm is the bug.

use foresee::refine::log::{Action, Log};
use foresee::refine::{Harness, Mode};
use foresee_refine::refine::check;

use super::harness;
use super::subjects::{
    BlinkTree, Cache, MultisetTree, MultisetVector, ScanFs, StringBuffers, Subject, Vector, for_each_subject,
};

/// How many operations each run has.
const OPERATIONS: usize = 6_000;

macro_rules! table {
    ($($type:ident, $name:literal, $bug:literal;)*) => {
        pub(super) fn run(runs: u64) {
            println!("\nTable 1: operations until detection           ours                         paper");
            println!("{:<20} {:>7} {:>9} {:>9} {:>7} {:>9} {:>8} {:>8} {:>7}", "", "threads", "results", "views", "ratio", "found", "results", "views", "ratio");
            $(row::<$type<true>>($name, runs);)*
            println!("(mean of {runs} runs of {OPERATIONS} operations; a run in which nothing was found counts with all of its operations; found: of these, by results/by views)");
        }
    };
}
for_each_subject!(table);

fn row<T: Subject>(name: &str, runs: u64) {
    for threads in [4, 8, 16, 32] {
        let (mut sums, mut found) = ([0, 0], [0, 0]);
        for seed in 0..runs {
            let harness = Harness { yields: 20, ..harness(name, threads, OPERATIONS / threads, seed) };
            let Ok(recording) = harness.record(|| T::new(&harness), T::operate, T::INTERNAL) else {
                continue;
            };
            let log = recording.log;
            for (mode, nth) in [(Mode::Io, 0), (Mode::View, 1)] {
                let detected = detected::<T>(&log, mode);
                sums[nth] += detected.unwrap_or(OPERATIONS);
                found[nth] += usize::from(detected.is_some());
            }
        }
        let [io, view] = sums.map(|sum| sum as f64 / runs as f64);
        let found = format!("{}/{}", found[0], found[1]);
        let ratio = io / view;
        print!("{name:<20} {threads:>7} {io:>9.0} {view:>9.0} {ratio:>7.1} {found:>9}");
        match paper(name, threads) {
            Some((io, view)) => println!(" {io:>8} {view:>8} {:>7.1}", f64::from(io) / f64::from(view)),
            None => println!(" {:>8} {:>8} {:>7}", "-", "-", "-"),
        }
    }
}

/// How many methods had been called when the first violation was established.
fn detected<T: Subject>(log: &Log, mode: Mode) -> Option<usize> {
    let violation = check(&T::SPEC, T::Replica::default(), log, mode).ok()??;
    let until = &log.events[..(violation.first + 1).min(log.events.len())];
    Some(until.iter().filter(|event| matches!(event.action, Action::Call { .. })).count())
}

/// Table 1 of the paper; it has no figures of the Scan file system.
fn paper(subject: &str, threads: usize) -> Option<(u32, u32)> {
    let column = match threads {
        4 => 0,
        8 => 1,
        16 => 2,
        _ => 3,
    };
    let figures = match subject {
        "multiset-vector" => [(1308, 25), (773, 21), (758, 10), (820, 6)],
        "multiset-tree" => [(3648, 736), (930, 217), (330, 76), (262, 78)],
        "vector" => [(219, 219), (58, 58), (52, 52), (25, 25)],
        "string-buffer" => [(195, 90), (152, 63), (124, 19), (29, 17)],
        "blink-tree" => [(4450, 483), (3332, 611), (1069, 301), (2111, 715)],
        "cache" => [(521, 14), (805, 8), (302, 29), (311, 34)],
        _ => return None,
    };
    Some(figures[column])
}
