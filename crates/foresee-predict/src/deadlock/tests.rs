//! Against the oracle, and on examples with known answers.

use std::collections::BTreeSet;

use foresee_oracle::{Config, Oracle, for_each_seed, random_execution};
use foresee_trace::text::TextReader;
use foresee_trace::{EventId, Execution};

use super::{DeadlockSearch, Deadlocks};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Budget, Case, Outcome, Proven};
use foresee_witness::judge::Certainty;

fn run(execution: &Execution) -> (Outcome, usize) {
    let (outcome, unproven, refused) = run_any(execution);
    assert_eq!(refused, 0, "{execution:?}");
    (outcome, unproven)
}

/// The same for what need not be a possible run: of that, the judge may refuse something.
fn run_any(execution: &Execution) -> (Outcome, usize, u64) {
    let case = Case::new(execution, AtomicFunctions::default());
    let DeadlockSearch { outcome, unproven, .. } =
        DeadlockSearch::of(&case.job(&Proven::default(), Budget::unlimited()));
    (outcome, unproven.len(), case.refused())
}

/// The blocked events of each deadlock, sorted.
fn blocked(outcome: &Outcome) -> BTreeSet<Vec<EventId>> {
    let sorted = |events: &[u64]| {
        let mut events: Vec<EventId> = events.iter().map(|&event| EventId(event as u32)).collect();
        events.sort_unstable();
        events
    };
    outcome.findings.iter().map(|finding| sorted(&finding.events)).collect()
}

#[test]
fn agrees_with_the_oracle() {
    let deadlock_prone = Config {
        threads: 2..=3,
        events: 8..=15,
        locking: 60,
        plain: 15,
        lock_heavy: 60,
        requests: 15,
        ..Config::default()
    };
    let mut found = 0;
    for_each_seed(20_000, |seed| {
        let config = if seed % 2 == 0 { &deadlock_prone } else { &Config::default() };
        let execution = random_execution(seed, config);
        let (outcome, _) = run(&execution);
        assert_eq!(outcome.undecided, 0, "{execution:?}");
        let ours = blocked(&outcome);
        let oracle = Oracle::new(&execution);
        assert_eq!(ours, oracle.sync_preserving_deadlocks(), "{execution:?}");
        assert!(ours.is_subset(&oracle.deadlocks()), "{execution:?}");
        found += ours.len();
    });
    assert!(found > 0 || std::env::var_os("FORESEE_TEST_SEED").is_some(), "no deadlock in any execution");
}

fn read(text: &str) -> Execution {
    Execution::read(&mut TextReader::new(text.as_bytes())).unwrap()
}

/// Each line: a thread and what it does, without locations.
fn deadlocks_of(text: &str) -> Vec<Vec<u32>> {
    let numbered: String = text.lines().enumerate().map(|(n, line)| format!("{line}|{}\n", n + 1)).collect();
    let (outcome, _) = run(&read(&numbered));
    assert_eq!(outcome.undecided, 0);
    blocked(&outcome).into_iter().map(|events| events.iter().map(|event| event.0).collect()).collect()
}

const AB_BA: &str = "T1|acq(a)\nT1|acq(b)\nT1|rel(b)\nT1|rel(a)\nT2|acq(b)\nT2|acq(a)\nT2|rel(a)\nT2|rel(b)";

#[test]
fn opposite_orders_deadlock() {
    assert_eq!(deadlocks_of(AB_BA), [[1, 5]]);
}

#[test]
fn who_only_tries_does_not_wait() {
    assert!(deadlocks_of(&AB_BA.replacen("T2|acq(a)", "T2|acq.try(a)", 1)).is_empty());
    let held_by_trying = AB_BA.replacen("T2|acq(b)", "T2|acq.try(b)", 1);
    assert_eq!(deadlocks_of(&held_by_trying), [[1, 5]]);
}

#[test]
fn cycles_of_three() {
    let text = "T1|acq(a)\nT1|acq(b)\nT1|rel(b)\nT1|rel(a)\nT2|acq(b)\nT2|acq(c)\nT2|rel(c)\nT2|rel(b)\n\
                T3|acq(c)\nT3|acq(a)\nT3|rel(a)\nT3|rel(c)";
    assert_eq!(deadlocks_of(text), [[1, 5, 9]]);
}

#[test]
fn one_thread_does_not_deadlock_with_itself() {
    assert!(deadlocks_of(&AB_BA.replace("T2", "T1")).is_empty());
}

#[test]
fn gates_protect() {
    let gated = "T1|acq(g)\nT1|acq(a)\nT1|acq(b)\nT1|rel(b)\nT1|rel(a)\nT1|rel(g)\n\
                 T2|acq(g)\nT2|acq(b)\nT2|acq(a)\nT2|rel(a)\nT2|rel(b)\nT2|rel(g)";
    assert!(deadlocks_of(gated).is_empty());
    let shared = gated.replace("acq(g)", "acq.shared(g)").replace("rel(g)", "rel.shared(g)");
    assert_eq!(deadlocks_of(&shared), [[2, 8]]);
}

#[test]
fn readers_do_not_block_readers() {
    let writers = "T1|acq.shared(a)\nT1|acq(b)\nT1|rel(b)\nT1|rel.shared(a)\nT2|acq(b)\nT2|acq(a)\nT2|rel(a)\nT2|rel(b)";
    assert_eq!(deadlocks_of(writers), [[1, 5]]);
    let readers = writers.replace("T2|acq(a)\nT2|rel(a)", "T2|acq.shared(a)\nT2|rel.shared(a)");
    assert!(deadlocks_of(&readers).is_empty());
}

#[test]
fn what_is_ordered_does_not_deadlock() {
    assert!(deadlocks_of(&AB_BA.replace("T2|acq(b)", "T1|fork(T2)\nT2|acq(b)")).is_empty());
}

#[test]
fn a_wait_gives_its_lock_up() {
    let text = "T1|acq(a)\nT1|wait(a)\nT1|acq(b)\nT1|rel(b)\nT2|acq(b)\nT2|acq(a)\nT2|rel(a)\nT2|rel(b)";
    assert!(deadlocks_of(text).is_empty());
}

#[test]
fn re_entry_is_no_request() {
    let text = "T1|acq(a)\nT1|acq(b)\nT1|acq(a)\nT1|rel(a)\nT1|rel(b)\nT1|rel(a)\n\
                T2|acq(a)\nT2|acq(b)\nT2|rel(b)\nT2|rel(a)";
    assert!(deadlocks_of(text).is_empty());
}

#[test]
fn a_hung_run_is_observed() {
    let (outcome, _) = run(&read("T1|acq(a)|1\nT2|acq(b)|2\nT1|req(b)|3\nT2|req(a)|4\nT3|req(a)|5\n"));
    assert_eq!(outcome.findings.len(), 1);
    let finding = &outcome.findings[0];
    assert_eq!((finding.certainty(), finding.events.len()), (Certainty::Observed, 2));
    assert_eq!(blocked(&outcome), BTreeSet::from([vec![EventId(2), EventId(3)]]));
}

/// What is observed in a run, by the whole engine.
fn observed(text: &str) -> Vec<Vec<u64>> {
    let execution = read(text);
    let outcome = Case::new(&execution, AtomicFunctions::default()).run(&Deadlocks, Budget::unlimited());
    let observed = outcome.findings.iter().filter(|finding| finding.certainty() == Certainty::Observed);
    observed.map(|finding| finding.events.clone()).collect()
}

#[test]
fn who_waits_for_what_nobody_does_is_stuck() {
    let cases: [(&str, &[&[u64]]); 17] = [
        ("T1|acq(a)|1\nT1|req(a)|2\n", &[&[1, 0]]),
        // It lets its holder in again.
        ("T1|acq(a)|1\nT1|acq(a)|2\nT1|rel(a)|3\nT1|req(a)|4\n", &[]),
        // Readers do.
        ("T1|acq.shared(a)|1\nT1|req.shared(a)|2\n", &[]),
        ("T1|acq.shared(a)|1\nT1|req(a)|2\n", &[&[1, 0]]),
        // The holder has ended, or goes on.
        ("T1|acq(a)|1\nT1|thread_end\nT2|req(a)|2\n", &[&[2, 0]]),
        ("T1|acq(a)|1\nT2|req(a)|2\nT1|w(x)|3\n", &[]),
        ("T1|acq(a)|1\nT1|rel(a)|2\nT1|thread_end\nT2|req(a)|3\n", &[]),
        // Nobody is there to notify, or somebody is, or has, or time ends it.
        ("T1|acq(a)|1\nT1|wait(a)|2\n", &[&[1]]),
        ("T1|acq(a)|1\nT1|wait.timed(a)|2\n", &[]),
        ("T1|acq(a)|1\nT1|wait(a)|2\nT2|w(x)|3\n", &[]),
        ("T1|acq(a)|1\nT1|wait(a)|2\nT2|notify(a)|3\nT2|thread_end\n", &[]),
        ("T1|acq(a)|1\nT1|wait(a)|2\nT2|w(x)|3\nT2|thread_end\n", &[&[1]]),
        // Who waits for the end of one that is stuck is stuck, too; not who waits for one that goes on.
        ("T1|fork(T2)|1\nT1|await(T2)|2\nT2|acq(a)|3\nT2|wait(c)|4\n", &[&[1, 3]]),
        ("T1|fork(T2)|1\nT1|await(T2)|2\nT2|acq(a)|3\nT2|w(x)|4\n", &[]),
        ("T1|fork(T2)|1\nT1|await(T2)|2\nT2|thread_end\n", &[]),
        // Two that wait for a third, which is stuck by itself.
        ("T1|acq(a)|1\nT1|req(a)|2\nT2|req(a)|3\nT3|await(T2)|4\n", &[&[1, 0, 2, 3]]),
        // Known as a cycle.
        ("T1|acq(a)|1\nT2|acq(b)|2\nT1|req(b)|3\nT2|req(a)|4\nT3|await(T1)|5\n", &[&[2, 3]]),
    ];
    for (text, expected) in cases {
        assert_eq!(observed(text), expected, "{text}");
    }
}

#[test]
fn who_waits_may_ask_for_memory() {
    let text = "T1|acq(a)|1\nT2|acq(b)|2\nT1|req(b)|3\nT1|alloc(queue)|4\nT2|req(a)|5\nT2|blind(grow)\nT2|free(queue)|6\n";
    let (outcome, _) = run(&read(text));
    assert_eq!(blocked(&outcome), BTreeSet::from([vec![EventId(2), EventId(4)]]));
    let (going_on, _) = run(&read(&format!("{text}T2|w(x)|7\n")));
    assert!(going_on.findings.iter().all(|finding| finding.certainty() != Certainty::Observed));
}

#[test]
fn what_needs_reversed_sections_is_handed_out() {
    // T2 must take b before T1, yet needs the write that T1 does after its own section on b.
    let text = "T1|acq(b)|1\nT1|rel(b)|2\nT1|acq(a)|3\nT1|acq(b)|4\nT1|rel(b)|5\nT1|rel(a)|6\nT1|acq(c)|7\nT1|w(x)|8\n\
                T1|rel(c)|9\nT2|acq(c)|10\nT2|rel(c)|11\nT2|acq(b)|12\nT2|r(x)|13\nT2|acq(a)|14\nT2|rel(a)|15\nT2|rel(b)|16\n";
    let (outcome, unproven) = run(&read(text));
    assert!(outcome.findings.is_empty());
    assert_eq!(unproven, 1);
}

#[test]
fn a_trace_that_is_no_run_is_survived() {
    let text = "T1|acq(a)|1\nT2|acq(a)|2\nT1|acq(b)|3\nT2|acq(b)|4\nT2|rel(c)|5\nT1|rel(a)|6\nT2|acq(a)|7\nT1|acq(a)|8\n";
    let (outcome, ..) = run_any(&read(text));
    assert!(outcome.findings.is_empty());
}
