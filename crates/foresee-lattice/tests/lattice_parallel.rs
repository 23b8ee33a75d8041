//! The explorer says the same whatever the number of threads that it uses.

// What tests share is no test to clippy.
#![allow(clippy::unwrap_used)]

use foresee_lattice::causality::{Causality, Need, Step};
use foresee_lattice::explorer::{Breadth, Options, Report, explore};
use foresee_monitor::formalism::Categories;
use foresee_monitor::formalism::automaton::Automaton;
use foresee_witness::engine::Budget;

/// Four threads that learn of each other now and then: levels that are worth sharing.
fn causality() -> Causality {
    let mut causality = Causality::new(4);
    for number in 0..44_u32 {
        for thread in 0..4 {
            let learns = number % 21 == 20;
            let needs = learns
                .then_some(Need { thread: (thread + 3) % 4, count: number.saturating_sub(20) })
                .into_iter()
                .collect();
            let letter = (number + thread) % 4;
            causality
                .push(thread, Step { event: number * 4 + thread, letter, needs, takes: Default::default() });
        }
    }
    causality
}

/// Sixteen states, of which one tells something.
fn machine() -> Automaton {
    let rows: Vec<Vec<u32>> =
        (0..16).map(|state| (0..4).map(|letter| (state * 5 + letter * 3 + 1) % 16).collect()).collect();
    let reported = (0..16).map(|state| if state == 11 { Categories::only(0) } else { Categories::NONE });
    Automaton::new(4, &rows, reported.collect())
}

fn explored(threads: usize, breadth: Breadth) -> Report {
    let options = Options {
        breadth,
        memory: usize::MAX,
        budget: Budget::unlimited(),
        place: &|event| u64::from(event % 13),
        violations: 20,
        known: Default::default(),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| explore(&causality(), &machine(), options))
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for breadth in [Breadth::All, Breadth::Most(40_000)] {
        let alone = explored(1, breadth);
        assert!(!alone.violations.is_empty() && alone.widest > 1 << 16);
        assert_eq!(alone.exhaustive, breadth == Breadth::All);
        for threads in [2, 5] {
            assert_eq!(explored(threads, breadth), alone, "{threads} threads, {breadth:?}");
        }
    }
}
