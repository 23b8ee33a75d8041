use foresee_monitor::compile;
use foresee_witness::judge::{Certainty, Finding};

use super::*;
use crate::property::tests::over_text;

const MUTEX: &str = r#"property Mutex { thread i, j; local critical: bool = false;
    mttl: @i(critical -> !exists j != i: @j critical)
    @violation { report "{i} and {j} at {loc}"; } }"#;

fn findings(spec: &str, trace: &str) -> Vec<Finding> {
    let compiled = compile(spec).unwrap_or_else(|problems| panic!("{problems:#?}"));
    over_text(Box::new(KnownVerdicts::new(&compiled.properties, "run.std")), trace).findings
}

/// The events at which something was found.
fn at(spec: &str, trace: &str) -> Vec<u64> {
    findings(spec, trace).iter().map(|finding| finding.events[0]).collect()
}

/// A property with these declarations and this formula.
fn property(declarations: &str, formula: &str) -> String {
    format!("property P {{ {declarations} mttl: {formula} @violation {{ report \"\"; }} }}")
}

#[test]
fn a_violation_tells_what_was_known_and_how() {
    let trace = "T1|fork(T2)\nT2|local(critical=1)|2\nT2|w(x=1)|3\nT2|w(z)|4\nT2|local(critical=0)|5\nT1|local(critical=1)|6\n\
                 T1|r(x=1)|7\nT1|w(x=2)|8\n";
    let found = findings(MUTEX, trace);
    let [first] = &found[..] else { panic!("{found:#?}") };
    // At the write after the read it is still so: that is no news.
    assert_eq!((&first.events[..], first.instances), (&[6][..], 1));
    assert_eq!(first.certainty(), Certainty::Observed);
    assert_eq!(first.statement.as_ref().unwrap().message, "T1 and T2 at 7");
    let [known] = &first.known[..] else { panic!("{found:#?}") };
    assert_eq!((known.thread.as_str(), known.says.as_str()), ("T2", "critical is true"));
    // It came to be at the assignment; the write of x handed it on, the read took it.
    assert_eq!(known.way, [1, 2, 6]);
}

#[test]
fn locks_carry_knowledge_and_shared_holders_learn_from_the_last_writer_only() {
    let section = |thread: &str, lock: &str, unlock: &str| {
        format!(
            "{thread}|{lock}(l)\n{thread}|local(critical=1)\n{thread}|local(critical=0)\n{thread}|{unlock}(l)\n"
        )
    };
    let kept = section("T1", "acq", "rel") + &section("T2", "acq", "rel");
    assert_eq!(at(MUTEX, &kept), [0; 0]);
    // Two shared holders are not ordered: neither knows of the other.
    let shared = "T1|acq.shared(l)\nT1|local(critical=1)\nT2|acq.shared(l)\nT2|local(critical=1)\nT1|rel.shared(l)\n\
                  T2|rel.shared(l)\nT1|acq.shared(l)\n";
    assert_eq!(at(MUTEX, shared), [0; 0]);
    // A writer after them knows of both.
    let writer =
        "T1|acq.shared(l)\nT1|local(critical=1)\nT1|rel.shared(l)\nT2|local(critical=1)\nT2|acq(l)\n";
    assert_eq!(at(MUTEX, writer), [4]);
    // Re-entry is no lock operation of its own.
    let again =
        "T1|acq(l)\nT1|local(critical=1)\nT1|acq(l)\nT1|rel(l)\nT2|local(critical=1)\nT2|w(x)\nT1|w(y)\n";
    assert_eq!(at(MUTEX, again), [0; 0]);
}

#[test]
fn notifies_order_what_follows_the_wait() {
    let spec = property("thread a: \"T1\"; thread b: \"T2\"; local n: int;", "@a(@b n == 0)");
    let trace = "T1|wait(c)\nT2|local(n=1)\nT2|notify(c)\nT1|r(x)\n";
    assert_eq!(at(&spec, trace), [3]);
    assert_eq!(at(&spec, "T1|r(x)\nT2|local(n=1)\nT2|notify(c)\nT1|r(x)\n"), [0; 0]);
}

#[test]
fn forks_and_joins_hand_knowledge_on_and_an_end_is_a_state() {
    let declared = "thread a: \"T1\"; thread b: \"T2\"; var x: int;";
    let race = property(declared, "@a(write(x) -> !@b write(x))");
    assert_eq!(at(&race, "T1|fork(T2)\nT2|w(x=1)\nT1|join(T2)\nT1|w(x=2)\n"), [3]);
    assert_eq!(at(&race, "T1|fork(T2)\nT2|w(x=1)\nT2|thread_end\nT1|join(T2)\nT1|w(x=2)\n"), [0; 0]);
    let child = property(declared, "@b(x == 1)");
    assert_eq!(at(&child, "T1|w(x=1)\nT1|fork(T2)\nT1|w(x=2)\nT2|r(y)\nT2|r(x=2)\n"), [4]);
}

#[test]
fn an_access_touches_bytes() {
    let spec = property("thread a: \"T1\"; thread b: \"T2\"; local n: int;", "@a(@b n == 0)");
    // The other half of the variable carries nothing; the part that was written does.
    let half = "#var x - 8\nT2|local(n=1)\nT2|w(x[0..4]=1)\nT1|r(x[4..8])\n";
    assert_eq!(at(&spec, half), [0; 0]);
    assert_eq!(at(&spec, &format!("{half}T1|r(x[2..6])\n")), [3]);
    // Memory that was freed is other memory.
    assert_eq!(at(&spec, "T2|local(n=1)\nT2|w(x)\nT2|free(x)\nT1|r(x)\n"), [0; 0]);
}

#[test]
fn a_read_modify_write_reads_and_writes_at_once() {
    let spec = property("thread i; var x: int;", "@i(read(x) -> write(x) && x == 5)");
    assert_eq!(at(&spec, "T1|rmw(x=0->5)|1\nT1|rmw(x=5->6)|2\nT1|w(x=7)|3\nT1|r(x=7)|4\n"), [1, 3]);
}

#[test]
fn groups_and_threads_that_come_later() {
    let spec = property(
        "thread main: \"main\"; thread w: \"worker-*\"; local n: int;",
        "@main(forall w: @w(n <= 1))",
    );
    let trace = "main|fork(worker-1)\nmain|fork(other)\nother|local(n=2)\nother|w(x)\nmain|r(x)\nworker-1|local(n=2)\n\
                 worker-1|w(x)\nmain|r(x)\n";
    assert_eq!(at(&spec, trace), [7]);
    // `historically` of a thread that was not there speaks of what it began with.
    let spec = property("thread i, j; local n: int = 1;", "@i(forall j: [*] @j(n == 1))");
    assert_eq!(at(&spec, "T1|r(x)\nT1|fork(T2)\nT2|w(x)\nT1|r(x)\n"), [0; 0]);
}

#[test]
fn several_properties_share_one_run() {
    // The same variable with another initial value is another variable of formulas.
    let from = |name: &str, initial: &str, formula: &str| {
        property(&format!("thread i; var x: int{initial};"), formula).replacen("P", name, 1)
    };
    let all = format!("{MUTEX} {} {}", from("Three", " = 3", "@i(x == 3)"), from("None", "", "@i(x == 0)"));
    let found = findings(&all, "T1|local(critical=1)|1\nT1|w(x=4)|2\n");
    let name = |finding: &Finding| finding.statement.as_ref().unwrap().property.clone();
    assert_eq!(found.iter().map(name).collect::<Vec<_>>(), ["Three", "None"]);
}

#[test]
fn what_blind_code_may_have_ordered_is_a_candidate() {
    let trace = "T2|local(critical=1)\nT2|w(x)\nT2|local(critical=0)\nT2|blind.orders(send)\nT1|blind.orders(receive)\n\
                 T1|local(critical=1)\nT1|r(x)\n";
    let found = findings(MUTEX, trace);
    assert_eq!((found.len(), found[0].certainty()), (1, Certainty::Candidate));
}
