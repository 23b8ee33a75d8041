//! Data races as a temporal property: no two conflicting accesses of different threads are next to each other in any run
//! (Sen, Roşu, Agha 2005, section 7), against the oracle's races.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::collections::BTreeSet;

use foresee_lattice::explorer::{Breadth, Options, explore};
use foresee_lattice::hb::HappensBefore;
use foresee_lattice::machine::Machine;
use foresee_lattice::model::Model;
use foresee_lattice::weak::Weak;
use foresee_monitor::formalism::Categories;
use foresee_oracle::{Config, Oracle, for_each_seed, random_execution};
use foresee_trace::text::TextReader;
use foresee_trace::{EventId, Execution};
use foresee_witness::engine::Budget;

/// Remembers the last event, and tells with which the present one races: the category is the earlier one's number.
struct Adjacent<'e>(&'e Execution);

impl Machine for Adjacent<'_> {
    type State = Option<u32>;

    fn start(&self) -> Option<u32> {
        None
    }

    fn step(&self, last: &Option<u32>, event: u32) -> (Option<u32>, Categories) {
        let races = |last: u32| {
            let (first, second) = (EventId(last), EventId(event));
            let (Some((a, how)), Some((b, then))) = (self.0.access(first), self.0.access(second)) else {
                return false;
            };
            self.0.thread(first) != self.0.thread(second) && self.0.overlap(a, b) && how.races(then)
        };
        (
            Some(event),
            last.filter(|&last| races(last)).map_or(Categories::NONE, |last| Categories::only(last as usize)),
        )
    }
}

fn races(model: &dyn Model, execution: &Execution) -> BTreeSet<(EventId, EventId)> {
    let (causality, _) = model.read(execution, &|id| Some(id.0), false);
    let options = Options {
        breadth: Breadth::All,
        memory: usize::MAX,
        budget: Budget::unlimited(),
        place: &|event| event.into(),
        violations: usize::MAX,
        known: Default::default(),
    };
    let report = explore(&causality, &Adjacent(execution), options);
    let pairs = report.violations.iter().flat_map(|violation| {
        let second = EventId(violation.event);
        violation.categories.indices().map(move |first| {
            let first = EventId(first as u32);
            (first.min(second), first.max(second))
        })
    });
    pairs.collect()
}

#[test]
fn what_happens_before_misses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/zlock.std");
    let text = std::fs::read(path).unwrap();
    let execution = Execution::read(&mut TextReader::new(&text[..])).unwrap();
    assert_eq!(races(&HappensBefore, &execution), BTreeSet::new());
    assert_eq!(races(&Weak, &execution), BTreeSet::from([(EventId(0), EventId(7))]));
    assert_eq!(Oracle::new(&execution).races(), races(&Weak, &execution));
}

#[test]
fn every_race_of_the_lattice_is_a_race() {
    let (mut found, mut all) = (0, 0);
    for_each_seed(1_000, |seed| {
        let execution = random_execution(seed, &Config { events: 5..=10, ..Config::default() });
        let truth = Oracle::new(&execution).races();
        let (hb, weak) = (races(&HappensBefore, &execution), races(&Weak, &execution));
        assert!(hb.is_subset(&weak), "{execution:?}");
        assert!(weak.is_subset(&truth), "{execution:?}{:?}", weak.difference(&truth));
        // Reads that race may read another write, which `weak` does not know; between writes it misses nothing.
        let reads = |id: EventId| execution.access(id).is_some_and(|(_, access)| access.reads);
        if !execution.ids().any(reads) {
            assert_eq!(weak, truth, "{execution:?}");
        }
        found += weak.len();
        all += truth.len();
    });
    println!("{found} of {all} races are adjacent in a run of `weak`");
}
