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
        assert_eq!(case.run(None).unwrap(), expected(case), "{}", case.name);
    }
}

#[test]
fn the_same_formulas_as_properties_have_the_same_verdicts() {
    for mut case in suite().cases {
        case.formula = None;
        assert_eq!(case.run(None).unwrap(), expected(&case), "{}", case.name);
    }
}

#[test]
fn another_run_of_the_same_computation_has_the_same_verdicts() {
    let mut reordered = 0;
    for case in suite().cases {
        let Some(order) = case.reordering.clone() else { continue };
        let mut verdicts = case.run_in(order, None).unwrap();
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
        read(&text).unwrap().cases.remove(0).run(None).map_err(|why| why.to_string())
    };
    let event = |rest: &str| format!("{{\"thread\":\"t1\",{rest}}}");
    assert!(case("(at t1 true)", &event("\"op\":\"end\"")).is_ok());
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

#[test]
fn what_cannot_have_happened_is_refused_with_the_reason() {
    let said = |events: &str| {
        let case = format!(
            r#"{{"name":"c","threads":["t1","t2"],"variables":{{"x":0,"b":false}},"locals":{{"a":0}},"formula":"(at t1 (== (var x) 0))","events":[{events}]}}"#
        );
        let outcome = read(&case).unwrap().cases.remove(0).run(None);
        outcome.map(|verdicts| verdicts.len()).map_err(|why| why.to_string())
    };
    let event = |thread: &str, op: &str, target: &str, value: &str| {
        let value = if value.is_empty() { String::new() } else { format!(r#","value":{value}"#) };
        format!(r#"{{"thread":"{thread}","op":"{op}","target":"{target}"{value}}}"#)
    };
    assert_eq!(said(&event("t1", "read", "x", "0")), Ok(1));
    let refused = [
        (vec![event("t1", "fork", "t1", "")], "`t1` does something before it is forked"),
        (vec![event("t1", "fork", "t2", ""), event("t1", "fork", "t2", "")], "it has begun already"),
        (vec![event("t1", "end", "", ""), event("t1", "read", "x", "")], "after its end"),
        (vec![event("t1", "join", "t2", ""), event("t2", "end", "", "")], "after it was joined"),
        (vec![event("t1", "join", "t1", "")], "joins itself"),
        (vec![event("t1", "read", "x", "1")], "`x` is read as 1, and is 0"),
        (vec![event("t1", "read", "y", "")], "`variables` has no `y`"),
        (vec![event("t1", "write", "b", "1")], "`b` needs a `value`"),
        (vec![event("t1", "write", "x", "")], "`x` needs a `value`"),
        (vec![event("t1", "local", "c", "1")], "`locals` has no `c`"),
        (vec![event("t3", "end", "", "")], "`threads` has no `t3`"),
        (vec![event("t1", "sleep", "", "")], "`sleep` is none of read, write"),
    ];
    for (events, why) in refused {
        let said = said(&events.join(",")).unwrap_err();
        assert!(said.contains(&format!("event {}", events.len() - 1)) && said.contains(why), "{why}: {said}");
    }
    assert!(read(r#"{"version":99,"cases":[]}"#).unwrap_err().to_string().contains("version 99"));
}
