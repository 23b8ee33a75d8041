//! Against the oracle, on examples with known answers, and on a trace with published numbers.

use std::collections::BTreeSet;

use foresee_oracle::{Config, Oracle, for_each_seed, random_execution};
use foresee_trace::generate::{Forks, Generator, Shape};
use foresee_trace::text::TextReader;
use foresee_trace::{EventId, Execution, LocId};

use super::SyncPreserving;
use crate::ideal::Ideal;
use crate::locks::LockHistory;
use crate::order::MustOrder;
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::checker::{Checker, Claim};
use foresee_witness::engine::{Budget, Case, Outcome, Proven, WholeEngine};

fn run(execution: &Execution) -> Outcome {
    let case = Case::new(execution, AtomicFunctions::default());
    let outcome = case.run(&SyncPreserving, Budget::unlimited());
    assert_eq!(case.refused(), 0, "{execution:?}");
    outcome
}

fn pairs(outcome: &Outcome) -> BTreeSet<(EventId, EventId)> {
    let id = |event: u64| EventId(event as u32);
    outcome.findings.iter().map(|finding| (id(finding.events[0]), id(finding.events[1]))).collect()
}

/// Whether the race is there only if a read-modify-write writes.
fn depends_on_update(execution: &Execution, (a, b): (EventId, EventId)) -> bool {
    let access = |id| execution.access(id).map(|(_, access)| access).unwrap();
    [access(a), access(b)].iter().all(|access| access.reads || !access.writes)
}

#[test]
fn agrees_with_the_oracle() {
    let config = Config::default();
    let (mut found, mut missed) = (0, 0);
    for_each_seed(20_000, |seed| {
        // Every event has a location of its own, so pairs of places are pairs of events.
        let execution = random_execution(seed, &config);
        let outcome = run(&execution);
        assert_eq!(outcome.undecided, 0, "{execution:?}");
        let ours = pairs(&outcome);
        let all = Oracle::new(&execution).sync_preserving_races();
        assert!(ours.is_subset(&all), "{ours:?} against {all:?}\n{execution:?}");
        found += ours.len();
        for &pair in all.difference(&ours) {
            assert!(depends_on_update(&execution, pair), "{pair:?} is missing\n{execution:?}");
            missed += 1;
        }
    });
    assert!(found == 0 || missed * 500 <= found, "{missed} of {found}");
}

#[test]
fn long_witnesses_begin_as_observed() {
    for (seed, forks) in
        (0..12).zip([Forks::Star, Forks::Tree, Forks::Chain, Forks::None].into_iter().cycle())
    {
        let shape =
            Shape { events: 20_000, threads: 4, variables: 50, locks: 5, forks, seed, ..Shape::default() };
        let execution = Execution::read(&mut Generator::new(&shape)).unwrap();
        let outcome = run(&execution);
        assert_eq!(outcome.undecided, 0);
        assert!(outcome.findings.iter().any(|finding| finding.witness().observed() > 0));
        let checker = Checker::new(&execution);
        for finding in &outcome.findings {
            let [first, second] = [0, 1].map(|nth| EventId(finding.events[nth] as u32));
            assert_eq!(checker.check(&finding.witness().to_vec(), &Claim::Race { first, second }), Ok(()));
        }
    }
}

fn read(text: &str) -> Execution {
    Execution::read(&mut TextReader::new(text.as_bytes())).unwrap()
}

#[track_caller]
fn races_of(text: &str, expected: &[(u32, u32)]) {
    let expected = expected.iter().map(|&(a, b)| (EventId(a), EventId(b))).collect();
    let outcome = run(&read(text));
    assert_eq!(pairs(&outcome), expected);
}

#[test]
fn sections_that_need_not_happen_are_dropped() {
    races_of(
        "T1|w(x)|1\nT1|acq(l)|2\nT1|w(y)|3\nT1|rel(l)|4\nT2|acq(l)|5\nT2|w(y)|6\nT2|rel(l)|7\nT2|w(x)|8\n",
        &[(0, 7)],
    );
}

#[test]
fn sections_that_had_to_be_reversed_are_missed() {
    // The read makes T2's section need T1's write, whose section then is open.
    races_of(
        "T1|acq(l)|1\nT1|w(z)|2\nT1|w(x)|3\nT1|rel(l)|4\nT2|acq(l)|5\nT2|r(z)|6\nT2|rel(l)|7\nT2|w(x)|8\n",
        &[],
    );
}

#[test]
fn readers_do_not_exclude_each_other() {
    races_of(
        "T1|acq.shared(l)|1\nT1|w(x)|2\nT1|rel.shared(l)|3\nT2|acq.shared(l)|4\nT2|w(x)|5\nT2|rel.shared(l)|6\n",
        &[(1, 4)],
    );
    races_of("T1|acq.shared(l)|1\nT1|r(x)|2\nT1|rel.shared(l)|3\nT2|acq(l)|4\nT2|w(x)|5\nT2|rel(l)|6\n", &[]);
}

#[test]
fn a_pair_of_places_is_reported_once() {
    let outcome = run(&read("T1|w(x)|1\nT2|w(x)|2\nT1|w(x)|1\nT2|w(x)|2\nT1|w(y)|1\nT2|w(y)|2\n"));
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].witness().len(), 2);
}

#[test]
fn what_is_proven_is_not_searched() {
    let execution = read("T1|w(x)|1\nT2|w(x)|2\n");
    let mut proven = Proven::default();
    proven.add(&run(&execution).findings[0]);
    let case = Case::new(&execution, AtomicFunctions::default());
    assert_eq!(SyncPreserving.run(&case.job(&proven, Budget::unlimited())), Outcome::default());
}

/// The events that are the later of some sync-preserving racy pair: every pair is tried.
fn racy_events(execution: &Execution) -> Vec<EventId> {
    let (order, locks) = (MustOrder::of(execution), LockHistory::of(execution));
    let mut ideal = Ideal::new(&order, &locks);
    let accesses: Vec<EventId> = execution.ids().filter(|&id| execution.access(id).is_some()).collect();
    let conflict = |a, b| match (execution.access(a), execution.access(b)) {
        (Some((x, a)), Some((y, b))) => execution.overlap(x, y) && a.races(b),
        _ => false,
    };
    let later = accesses.iter().enumerate().filter(|&(nth, &b)| {
        accesses[..nth].iter().any(|&a| {
            let (mine, theirs) = (execution.thread(a), execution.thread(b));
            ideal.clear();
            mine != theirs && conflict(a, b) && ideal.first_free(&[(mine, &[a]), (theirs, &[b])], &mut [0, 0])
        })
    });
    later.map(|(_, &b)| b).collect()
}

#[test]
fn published_numbers() {
    let traces = [
        (include_str!("../../tests/data/account.std"), (2, 2)),
        (include_str!("../../tests/data/critical.std"), (1, 1)),
        (include_str!("../../tests/data/mergesort.std"), (1, 1)),
        (include_str!("../../tests/data/bubblesort.std"), (47, 5)),
    ];
    for (text, expected) in traces {
        let execution = read(text);
        let events = racy_events(&execution);
        let locations: BTreeSet<LocId> = events.iter().map(|&event| execution.loc(event)).collect();
        assert_eq!((events.len(), locations.len()), expected);
        let outcome = run(&execution);
        assert_eq!(outcome.undecided, 0);
        // Which of two accesses at racing locations comes later may differ from pair to pair.
        let found: BTreeSet<LocId> = (outcome.findings.iter().flat_map(|finding| &finding.events))
            .map(|&event| execution.loc(EventId(event as u32)))
            .collect();
        assert!(locations.is_subset(&found), "{locations:?} {found:?}");
    }
}

/// Blind code keeps the sections of its lock in place, and what is behind them.
#[test]
fn blind_code_keeps_sections_in_place() {
    let races = |trace: &str| {
        let execution = Execution::read(&mut TextReader::new(trace.as_bytes())).unwrap();
        assert_eq!(Oracle::new(&execution).sync_preserving_races(), pairs(&run(&execution)));
        pairs(&run(&execution)).len()
    };
    let behind = |acquire: &str, inside: &str, after: &str| {
        format!("A|w(x)\nA|{acquire}(l)\nA|{inside}\nA|rel(l)\nB|acq(l)\nB|{after}\nB|rel(l)\nB|r(x)\n")
    };
    assert_eq!(races(&behind("acq", "w(y)", "w(z)")), 1);
    assert_eq!(races(&behind("acq", "blind(f)", "w(z)")), 0);
    assert_eq!(races(&behind("acq", "w(y)", "blind(f)")), 0);
    assert_eq!(races(&behind("acq.shared", "blind(f)", "w(z)")), 0);
    let shared = "A|w(x)\nA|acq.shared(l)\nA|blind(f)\nA|rel.shared(l)\n\
        B|acq.shared(l)\nB|blind(g)\nB|rel.shared(l)\nB|r(x)\n";
    assert_eq!(races(shared), 1);
    assert_eq!(races("A|w(x)\nA|blind(f)\nB|blind(g)\nB|r(x)\n"), 1);
    assert_eq!(races("A|w(x)\nA|blind.orders(f)\nB|blind.orders(g)\nB|r(x)\n"), 0);
}
