//! The conformance suite for MTTL: 220 runs with the verdict at each event, and 13 formulas that are to be refused.
#![allow(clippy::unwrap_used)]

use foresee_lattice::knowledge::case::{Case, CaseVerdict, Suite, read, refusal};

fn suite() -> Suite {
    read(include_str!("data/mttl.json")).unwrap()
}

fn expected(case: &Case) -> &[CaseVerdict] {
    case.verdicts.as_deref().unwrap()
}

#[test]
fn every_case_has_the_suites_verdicts() {
    let cases = suite().cases;
    assert_eq!(cases.len(), 220);
    for case in &cases {
        assert_eq!(case.run().unwrap(), expected(case), "{}", case.name);
    }
}

#[test]
fn the_same_formulas_as_properties_have_the_same_verdicts() {
    for mut case in suite().cases {
        case.formula = None;
        assert_eq!(case.run().unwrap(), expected(&case), "{}", case.name);
    }
}

#[test]
fn another_run_of_the_same_computation_has_the_same_verdicts() {
    let mut reordered = 0;
    for case in suite().cases {
        let Some(order) = case.reordering.clone() else { continue };
        let mut verdicts = case.run_in(order).unwrap();
        verdicts.sort_by_key(|verdict| verdict.event_index);
        assert_eq!(verdicts, expected(&case), "{}", case.name);
        reordered += 1;
    }
    assert!(reordered > 100, "{reordered}");
}

#[test]
fn what_is_to_be_refused_is() {
    let suite = suite();
    assert_eq!(suite.refused.len(), 13);
    for refused in &suite.refused {
        assert!(refusal(refused).is_some(), "{}", refused.name);
    }
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let case = |formula: &str, events: &str| {
        let text = format!(
            "{{\"name\":\"c\",\"threads\":[\"t1\"],\"variables\":{{\"x\":0}},\"formula\":\"{formula}\",\"events\":[{events}]}}"
        );
        read(&text).unwrap().cases.remove(0).run().map_err(|why| why.to_string())
    };
    let event = |rest: &str| format!("{{\"thread\":\"t1\",{rest}}}");
    assert!(case("(at t1 true)", &event("\"op\":\"end\"")).is_ok());
    assert_eq!(
        case("(at t1 true)", &event("\"op\":\"leap\"")).unwrap_err(),
        "c: event 0: there is no such operation"
    );
    assert_eq!(case("(at t1 (and true", "").unwrap_err(), "c: a `)` is missing or too many");
    assert_eq!(case("(at t1 (nand true true))", "").unwrap_err(), "c: `nand` makes no sense here");
    assert!(
        case(&format!("{}true{}", "(not ".repeat(5000), ")".repeat(5000)), "")
            .unwrap_err()
            .contains("too deeply")
    );
    assert!(case("(local c)", "").unwrap_err().contains("belongs to a thread"));
    assert!(read("{}").is_err() && read("[").is_err());
}
