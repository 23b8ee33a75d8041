//! The explorer makes no more states than it may keep, however many threads there are.

use std::sync::atomic::{AtomicUsize, Ordering};

use foresee_lattice::causality::{Causality, Step};
use foresee_lattice::explorer::{Breadth, Options, explore};
use foresee_lattice::machine::Machine;
use foresee_monitor::formalism::Categories;
use foresee_witness::engine::Budget;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// A state that is counted as long as it is there.
#[derive(Debug, PartialEq, Eq)]
struct Counted;

impl Counted {
    fn new() -> Counted {
        MOST.fetch_max(LIVE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Counted
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Counting;

impl Machine for Counting {
    type State = Counted;

    fn start(&self) -> Counted {
        Counted::new()
    }

    fn step(&self, _: &Counted, _: u32) -> (Counted, Categories) {
        (Counted::new(), Categories::NONE)
    }

    fn bytes(&self, _: usize) -> usize {
        1 << 20
    }
}

#[test]
fn a_level_that_does_not_fit_is_not_made() {
    const THREADS: u32 = 100;
    let mut causality = Causality::new(THREADS as usize);
    for event in 0..THREADS {
        let step = Step { event, letter: 0, needs: Default::default(), takes: Default::default() };
        causality.push(event % THREADS, step);
    }
    let options = Options {
        breadth: Breadth::All,
        memory: 400 << 20,
        budget: Budget::unlimited(),
        place: &u64::from,
        violations: 1,
        known: Default::default(),
    };
    let report = explore(&causality, &Counting, options);
    assert!(!report.exhaustive && report.levels == THREADS as usize + 1, "{report:?}");
    // Two levels of a hundred, one of them twice.
    let most = MOST.load(Ordering::SeqCst);
    assert!((100..=400).contains(&most), "{most}");
}
