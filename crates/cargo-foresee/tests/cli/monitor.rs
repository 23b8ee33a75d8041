//! `foresee monitor` and `foresee spec`, through the real program.

use crate::support::Folder;

const SPEC: &str = r#"property UnsafeIterator(c, i) {
    event create(c, i);
    event update(c);
    event next(i);
    ere: create next* update+ next
    @match { report "{c} changed under iterator {i} ({thread}, {loc})"; }
}

property SafeLanding {
    var LANDING, APPROVED, RADIO: int;
    ptltl: LANDING == 1 -> [APPROVED == 1, RADIO == 0)
    @violation { report "landing without a live, approved radio contact"; }
}
"#;

const EVENTS: &str = "T1|event(create, @1, @7)|a.rs:1\nT1|event(next, @7)|a.rs:2\nT1|event(update, @1)|a.rs:3\n\
                      T1|event(next, @7)|a.rs:4\nT2|w(LANDING=1)|b.rs:9\n";

#[test]
fn properties_are_held_against_events() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC);
    folder.write("events.std", EVENTS);
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    assert_eq!(
        outcome.stdout,
        "event 3: UnsafeIterator (match): @1 changed under iterator @7 (T1, a.rs:4)\n\
         event 4: SafeLanding (violation): landing without a live, approved radio contact\n"
    );
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["findings"][0]["property"], "UnsafeIterator");
    assert_eq!(document["findings"][1]["events"][0]["index"], 4);
    assert_eq!(document["stats"]["verdicts"], 2);
}

#[test]
fn a_run_that_keeps_the_rules_has_no_verdicts() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC);
    let fine =
        "T1|event(create, @1, @7)\nT1|event(next, @7)\nT2|w(APPROVED=1)\nT2|w(RADIO=1)\nT2|w(LANDING=1)\n";
    folder.write("events.std", fine);
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{}", outcome.stderr);
}

#[test]
fn what_is_wrong_is_told_where_it_is() {
    let folder = Folder::new();
    folder.write("bad.rv", SPEC.replace("update+", "updaet+"));
    let outcome = folder.foresee(&["spec", "check", "bad.rv"]);
    assert_eq!(outcome.code, Some(2));
    for part in ["bad.rv:5:23", "updaet+ next", "did you mean `update`?"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    folder.write("it.rv", SPEC);
    folder.write("events.std", "T1|event(create, @1)\n");
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("event 0: UnsafeIterator: event `create` carries 2 values, not 1"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn specs_are_formatted() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC.replace("    event", "  event"));
    assert_eq!(folder.foresee(&["spec", "fmt", "--check", "it.rv"]).code, Some(66));
    folder.foresee(&["spec", "fmt", "it.rv"]).success();
    assert_eq!(folder.foresee(&["spec", "fmt", "--check", "it.rv"]).code, Some(0));
}
