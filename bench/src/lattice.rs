//! The computation lattice: cuts per second, memory, and long traces with a limited breadth.

use foresee_lattice::causality::{Causality, Need, Step};
use foresee_lattice::explorer::{Breadth, Options, Report, explore};
use foresee_monitor::formalism::Categories;
use foresee_monitor::formalism::automaton::Automaton;
use foresee_witness::engine::Budget;

use crate::{Took, peak_memory};

/// Sixteen states, each reached from many others, and nothing to tell.
fn monitor() -> Automaton {
    let rows: Vec<Vec<u32>> =
        (0..16).map(|state| (0..4).map(|letter| (state * 5 + letter * 3 + 1) % 16).collect()).collect();
    Automaton::new(4, &rows, vec![Categories::NONE; 16])
}

/// Threads that take turns in the observed run; every `sync` steps each learns what the one before it has done.
fn threads(threads: u32, steps: u32, sync: u32) -> Causality {
    let mut causality = Causality::new(threads as usize);
    for number in 0..steps {
        for thread in 0..threads {
            let from = (thread + threads - 1) % threads;
            let learns = sync > 0 && number > 0 && number % sync == 0;
            let needs = learns.then_some(Need { thread: from, count: number }).into_iter().collect();
            // A letter for each thread and half of its steps: the state depends on how threads interleave.
            let letter = if number % 64 == 63 { thread % 4 } else { 0 };
            let event = number * threads + thread;
            causality.push(thread, Step { event, letter, needs, takes: Default::default() });
        }
    }
    causality
}

fn walk(causality: &Causality, breadth: Breadth) -> Report {
    let options = Options {
        breadth,
        memory: usize::MAX,
        budget: Budget::unlimited(),
        place: &|event| event.into(),
        violations: 0,
        known: Default::default(),
    };
    explore(causality, &monitor(), options)
}

/// The lattice of four threads with this many steps each, and how long it took.
fn grid(steps: u32) {
    let causality = threads(4, steps, 0);
    let (took, report) = Took::of(1, || walk(&causality, Breadth::All));
    println!(
        "4 threads, {steps} steps each: {:.1} M cuts, {:.1} M entries, widest level {:.2} M entries",
        report.cuts as f64 / 1e6,
        report.entries as f64 / 1e6,
        report.widest as f64 / 1e6
    );
    println!(
        "  {:.2} M cuts/s, {:.2} M entries/s (target: 3 M cuts/s); peak memory {} MiB, {:.0} bytes per entry of two widest levels",
        report.cuts as f64 / took.seconds / 1e6,
        report.entries as f64 / took.seconds / 1e6,
        peak_memory() / 1024,
        peak_memory() as f64 * 1024.0 / (2.0 * report.widest as f64)
    );
}

/// Two lengths of the same kind of trace with a limited breadth. The more often threads learn of each other, the narrower the levels.
fn long(steps: u32, sync: u32, breadth: usize) {
    for steps in [steps / 10, steps] {
        let causality = threads(4, steps / 4, sync);
        let (took, report) = Took::of(steps.into(), || walk(&causality, Breadth::Most(breadth)));
        println!(
            "breadth {breadth}, {:>5.2} M steps, {sync} apart: {:.1} s, {:.2} us per step, {:.2} M cuts/s, widest level {}",
            f64::from(steps) / 1e6,
            took.seconds,
            took.nanos() / 1e3,
            report.cuts as f64 / took.seconds / 1e6,
            report.widest
        );
    }
}

/// Prints all of it; the lattice first, so that the memory is its own.
pub fn run(steps: u32, long_steps: u32) {
    grid(steps);
    long(long_steps, 2, 1000);
    long(long_steps / 100, 16, 1000);
}
