//! Data races as a temporal property: no two conflicting accesses of different threads are next to each other in any run
//! (Sen, Roşu, Agha 2005, section 7), against the oracle's races.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::cell::RefCell;
use std::collections::BTreeSet;

use foresee_lattice::explorer::{Breadth, Options, explore};
use foresee_lattice::hb::HappensBefore;
use foresee_lattice::machine::Machine;
use foresee_lattice::model::Model;
use foresee_lattice::weak::Weak;
use foresee_monitor::formalism::Categories;
use foresee_oracle::{Causality, Config, Oracle, for_each_seed, random_execution};
use foresee_trace::text::TextReader;
use foresee_trace::{EventId, Execution, Op, ThreadId};
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

/// The same by the oracle's definition of the model, event by event.
fn races_by_definition(model: Causality, execution: &Execution) -> BTreeSet<(EventId, EventId)> {
    let pairs = RefCell::new(BTreeSet::new());
    let step = |last: &Option<u32>, id: EventId| {
        let (next, races) = Adjacent(execution).step(last, id.0);
        pairs.borrow_mut().extend(races.indices().map(|first| {
            let first = EventId(first as u32);
            (first.min(id), first.max(id))
        }));
        (next, false)
    };
    Oracle::new(execution).told(model, &|_| true, None, step);
    pairs.into_inner()
}

/// Whether the event is a notify during a wait of another thread that returned later.
fn wakes(execution: &Execution, notify: EventId) -> bool {
    let Op::Notify { cond, .. } = execution.op(notify) else { return false };
    let later =
        |of: ThreadId| (notify.0 + 1..execution.len() as u32).any(|e| execution.thread(EventId(e)) == of);
    let mut threads = (0..execution.thread_count() as u32).map(ThreadId);
    threads.any(|of| {
        let last = (0..notify.0).rev().map(EventId).find(|&id| execution.thread(id) == of);
        last.is_some_and(|id| execution.op(id) == Op::Wait { cond, timed: false }) && later(of)
    })
}

fn parsed(text: &[u8]) -> Execution {
    Execution::read(&mut TextReader::new(text)).unwrap()
}

#[test]
fn what_happens_before_misses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/zlock.std");
    let execution = parsed(&std::fs::read(path).unwrap());
    assert_eq!(races(&HappensBefore, &execution), BTreeSet::new());
    assert_eq!(races(&Weak, &execution), BTreeSet::from([(EventId(0), EventId(7))]));
    assert_eq!(Oracle::new(&execution).races(), races(&Weak, &execution));
}

/// The notify, and with it the second write, could come before the first write: only a wait that has returned comes before what woke
/// it. For `weak` it does so wherever it returned in the observed run. If it never did, nothing is missed.
#[test]
fn notifies_that_come_too_early() {
    let text = "T1|w(x)\nT1|wait(c)\nT2|notify(c)\nT2|w(x)\n";
    let execution = parsed(text.as_bytes());
    let race = BTreeSet::from([(EventId(0), EventId(3))]);
    assert_eq!(Oracle::new(&execution).races(), race);
    assert_eq!(races(&Weak, &execution), race);

    let execution = parsed(format!("{text}T1|thread_end\n").as_bytes());
    assert_eq!(Oracle::new(&execution).races(), race);
    assert_eq!(races(&Weak, &execution), BTreeSet::new());
    assert_eq!(races_by_definition(Causality::Weak, &execution), BTreeSet::new());
}

#[test]
fn every_race_of_the_lattice_is_a_race() {
    let (mut found, mut all, mut complete) = (0, 0, 0);
    for_each_seed(1_000, |seed| {
        let execution = random_execution(seed, &Config { events: 5..=10, ..Config::default() });
        let truth = Oracle::new(&execution).races();
        let (hb, weak) = (races(&HappensBefore, &execution), races(&Weak, &execution));
        assert!(hb.is_subset(&weak), "{execution:?}");
        assert!(weak.is_subset(&truth), "{execution:?}{:?}", weak.difference(&truth));
        assert_eq!(hb, races_by_definition(Causality::HappensBefore, &execution), "{execution:?}");
        assert_eq!(weak, races_by_definition(Causality::Weak, &execution), "{execution:?}");
        // Reads that race may read another write, and a notify may come too early for a wait that then never returns: `weak` has
        // neither. Else it misses nothing.
        let reads = |id: EventId| execution.access(id).is_some_and(|(_, access)| access.reads);
        if !execution.ids().any(|id| reads(id) || wakes(&execution, id)) {
            assert_eq!(weak, truth, "{execution:?}");
            complete += 1;
        }
        found += weak.len();
        all += truth.len();
    });
    println!("{found} of {all} races are adjacent in a run of `weak`, which was complete {complete} times");
}
