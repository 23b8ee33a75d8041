//! Examples of what each engine finds and what it must miss.

use std::collections::BTreeSet;
use std::path::Path;

use foresee_predict::lockset::Lockset;
use foresee_predict::max::Max;
use foresee_predict::reorder::{Facts, Observed};
use foresee_predict::reverse::{Reverse, deadlock_schedule};
use foresee_trace::text::TextReader;
use foresee_trace::{EventId, Execution};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::checker::{Checker, Claim};
use foresee_witness::engine::{Budget, Case, WholeEngine};

type Races = BTreeSet<Vec<u64>>;

/// A trace, and the races (by event, from 0) that `lockset`, `reverse` and `max` report.
type Example = (&'static str, [&'static [[u64; 2]]; 3]);

const EXAMPLES: &[Example] = &[
    ("first_write_outside", [&[[0, 7]], &[[0, 7]], &[[0, 7]]]),
    ("first_write_outside_other_order", [&[[3, 4]], &[[3, 4]], &[[3, 4]]]),
    // The section of T2 has to come before that of T1, which stays open: keeping their order would miss it.
    ("open_section_goes_last", [&[[1, 6]], &[[1, 6]], &[[1, 6]]]),
    ("shared_section_goes_last", [&[[1, 9]], &[[1, 9]], &[[1, 9]]]),
    // The open section of m forces the finished sections of l to swap.
    ("nested_sections_swap", [&[[4, 10]], &[[4, 10]], &[[4, 10]]]),
    // T2 reads inside its section what T1 wrote in the section that would have to stay open.
    ("read_inside_forbids_it", [&[[2, 7]], &[], &[]]),
    ("read_orders_it", [&[], &[], &[]]),
    // T2 cannot tell whose flag it saw.
    ("same_value_by_another_thread", [&[], &[], &[[3, 10]]]),
    ("other_value_orders_it", [&[], &[], &[]]),
    // Nothing that T2 does depends on what it read …
    ("no_branch_after_the_read", [&[], &[], &[[1, 8]]]),
    ("branch_before_the_read", [&[], &[], &[[0, 8]]]),
    // … but here it does; …
    ("branch_after_the_read", [&[], &[], &[]]),
    // … and here T3 depends on what T2 writes, which depends on what T2 read.
    ("branch_on_a_copied_value", [&[], &[], &[]]),
    ("no_branch_on_a_copied_value", [&[], &[], &[[0, 13]]]),
    // Waking up T2 takes a notify that comes after the access of T1.
    ("notify_orders_it", [&[], &[], &[]]),
    ("notify_before_the_access", [&[[5, 6]], &[[5, 6]], &[[5, 6]]]),
];

#[allow(clippy::unwrap_used)]
fn read(text: &[u8]) -> Execution {
    Execution::read(&mut TextReader::new(text)).unwrap()
}

fn races(execution: &Execution, engine: &dyn WholeEngine) -> Races {
    let case = Case::new(execution, AtomicFunctions::default());
    let outcome = case.run(engine, Budget::unlimited());
    assert_eq!(case.refused(), 0);
    assert_eq!(outcome.undecided, 0);
    outcome.findings.into_iter().map(|finding| finding.events).collect()
}

#[test]
fn engines_find_what_they_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reorder");
    for (name, expected) in EXAMPLES {
        let text = std::fs::read(folder.join(name).with_extension("std")).unwrap();
        let execution = read(&text);
        for (engine, expected) in [&Lockset as &dyn WholeEngine, &Reverse, &Max].into_iter().zip(expected) {
            let expected: Races = expected.iter().map(|pair| pair.to_vec()).collect();
            assert_eq!(races(&execution, engine), expected, "{name}");
        }
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), EXAMPLES.len(), "an example is not in the table");
}

fn has_deadlock_witness(text: &str, blocked: &[u32]) -> bool {
    let execution = read(text.as_bytes());
    let blocked: Vec<EventId> = blocked.iter().copied().map(EventId).collect();
    let facts = Facts::of(&execution);
    let schedule = deadlock_schedule(Observed { execution: &execution, facts: &facts }, &blocked);
    let claim = Claim::Deadlock { blocked };
    schedule.is_some_and(|schedule| Checker::new(&execution).check(&schedule.to_vec(), &claim).is_ok())
}

#[test]
fn deadlocks_may_need_sections_reversed() {
    let plain = "T1|acq(a)|1\nT1|acq(b)|2\nT1|rel(b)|3\nT1|rel(a)|4\n\
                 T2|acq(b)|5\nT2|acq(a)|6\nT2|rel(a)|7\nT2|rel(b)|8\n";
    assert!(has_deadlock_witness(plain, &[1, 5]));
    // Both sections of the gate g are needed; T1 stays inside its own, so that of T2 comes first.
    let gate_passed = "T1|acq(g)|1\nT1|acq(a)|2\nT1|acq(b)|3\nT1|rel(b)|4\nT1|rel(a)|5\nT1|rel(g)|6\n\
                       T2|acq(g)|7\nT2|rel(g)|8\nT2|acq(b)|9\nT2|acq(a)|10\nT2|rel(a)|11\nT2|rel(b)|12\n";
    assert!(has_deadlock_witness(gate_passed, &[2, 9]));
    let gate_held = "T1|acq(g)|1\nT1|acq(a)|2\nT1|acq(b)|3\nT1|rel(b)|4\nT1|rel(a)|5\nT1|rel(g)|6\n\
                     T2|acq(g)|7\nT2|acq(b)|9\nT2|acq(a)|10\nT2|rel(a)|11\nT2|rel(b)|12\nT2|rel(g)|13\n";
    assert!(!has_deadlock_witness(gate_held, &[2, 8]));
}
