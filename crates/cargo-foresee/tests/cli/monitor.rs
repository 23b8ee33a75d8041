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
        "line 4: UnsafeIterator (match): @1 changed under iterator @7 (T1, a.rs:4)\n\
         line 5: SafeLanding (violation): landing without a live, approved radio contact\n"
    );
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["findings"][0]["property"], "UnsafeIterator");
    assert_eq!(document["findings"][1]["events"][0]["index"], 4);
    assert_eq!(document["stats"]["verdicts"], 2);
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std", "--format", "sarif"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    let sarif: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&"a.rs".into(), &4.into())
    );
    let junit = folder.foresee(&["monitor", "it.rv", "events.std", "--format", "junit"]).stdout;
    assert!(junit.contains("<testcase name=\"property-2\" classname=\"events.std\""), "{junit}");
    assert!(!junit.contains("holding"), "what is not known is not shown: {junit}");
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
}

#[test]
fn events_that_do_not_fit_are_counted_and_refused_in_strict_mode() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC);
    folder.write("events.std", "# two that do not fit\nT1|event(create, @1)\nT1|event(updaet, @1)\n");
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std"]);
    assert_eq!(outcome.code, Some(0));
    for part in ["1 event that no property knows", "1 event with too few or too many values"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let outcome = folder.foresee(&["monitor", "it.rv", "events.std", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&document["stats"]["unknown"], &document["stats"]["misfits"]), (&1.into(), &1.into()));

    let outcome = folder.foresee(&["monitor", "--strict", "it.rv", "events.std"]);
    assert_eq!(outcome.code, Some(2));
    let why = "events.std: line 2: UnsafeIterator: event `create` carries 2 values, not 1";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    folder.write("events.std", "T1|event(updaet, @1)\n");
    let outcome = folder.foresee(&["monitor", "--strict", "it.rv", "events.std"]);
    assert_eq!(outcome.code, Some(2));
    let why = "events.std: line 1: no property has an event `updaet`; did you mean `update`?";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
}

#[test]
fn a_malformed_stream_is_refused_by_line_and_column() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC);
    for (line, column) in [("T1|event(next, @x)", 16), ("T1|evnt(next)", 4), ("T1|event(next, @7", 18)] {
        folder.write("events.std", format!("T1|event(next, @7)\n{line}\n"));
        let outcome = folder.foresee(&["monitor", "it.rv", "events.std"]);
        assert_eq!(outcome.code, Some(2), "{line}");
        let place = format!("events.std: line 2, column {column}");
        assert!(outcome.stderr.contains(&place), "{line}: {}", outcome.stderr);
    }
}

const LOCKS: &str = r#"// Locks, as everybody should use them.

// Every lock is given back.
property GivenBack(l) {
    event acquire(l);
    event release(l);
    event end_program;
    ere: (acquire release)* acquire end_program
    @match { report "{l} is still held at {loc}"; }
}
"#;

#[test]
fn the_end_of_the_run_has_no_event() {
    let folder = Folder::new();
    folder.write("locks.rv", LOCKS);
    folder.write("events.std", "T1|acq(m)|a.rs:3\n");
    let outcome = folder.foresee(&["monitor", "locks.rv", "events.std"]);
    assert_eq!(outcome.stdout, "end of the run: GivenBack (match): m is still held at the end of the run\n");
    let outcome = folder.foresee(&["monitor", "locks.rv", "events.std", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["findings"][0]["events"], serde_json::json!([]));
}

#[test]
fn properties_are_checked_with_everything_else() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC);
    folder.write("locks.rv", LOCKS);
    folder.write("run.std", format!("{EVENTS}T1|acq(m)|a.rs:9\n"));
    let spec = ["--spec", "it.rv", "--spec", "locks.rv"];
    let check = |more: &[&str]| folder.foresee(&[&["check", "run.std"][..], &spec, more].concat());

    let outcome = check(&["--format", "json"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let all: Vec<_> = findings.iter().map(|f| (f["property"].as_str().unwrap(), &f["certainty"])).collect();
    let observed = &serde_json::json!("observed");
    assert_eq!(
        all,
        [("GivenBack", observed), ("UnsafeIterator", observed), ("SafeLanding", observed)],
        "{document:#}"
    );
    assert_eq!(findings[1]["kind"], "property");
    assert_eq!(findings[1]["events"][0]["index"], 3);
    assert_eq!(
        findings[1]["message"],
        "observed property violation of `UnsafeIterator`: @1 changed under iterator @7 (T1, a.rs:4) (`T1` at a.rs:4)"
    );

    let outcome = check(&[]);
    assert!(
        outcome
            .stderr
            .contains("observed property violation of `GivenBack`: m is still held at the end of the run"),
        "{}",
        outcome.stderr
    );
    let outcome = check(&["--format", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"][1]["properties"]["property"], "UnsafeIterator");
    let outcome = check(&["--format", "junit"]);
    assert!(outcome.stdout.contains("type=\"property\""), "{}", outcome.stdout);

    folder.write("known.txt", "property:GivenBack\nproperty:a.rs\nproperty:^LANDING$\n");
    let outcome = check(&["--suppressions", "known.txt"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("3 findings suppressed"), "{}", outcome.stderr);
}

#[test]
fn the_property_engine_needs_properties() {
    let folder = Folder::new();
    folder.write("run.std", EVENTS);
    let outcome = folder.foresee(&["check", "run.std", "--engine", "property"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("--spec FILE"), "{}", outcome.stderr);
    let outcome = folder.foresee(&["check", "run.std"]);
    assert!(!outcome.stderr.contains("property"), "{}", outcome.stderr);
}

#[test]
fn specs_are_formatted() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC.replace("    event", "  event"));
    assert_eq!(folder.foresee(&["spec", "fmt", "--check", "it.rv"]).code, Some(66));
    folder.foresee(&["spec", "fmt", "it.rv"]).success();
    assert_eq!(folder.foresee(&["spec", "fmt", "--check", "it.rv"]).code, Some(0));
    folder.write("locks.rv", LOCKS);
    let outcome = folder.foresee(&["spec", "fmt", "--check", "locks.rv"]);
    assert_eq!(outcome.code, Some(0), "the header stays apart from the first property");
}

#[test]
fn properties_are_drawn() {
    let folder = Folder::new();
    let grammar = "property Nested { event a; event b; cfg: s -> a s b | epsilon @fail { count; } }\n";
    folder.write("it.rv", format!("{SPEC}{grammar}"));
    let outcome = folder.foresee(&["spec", "graph", "it.rv"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains("label=\"UnsafeIterator\""), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("`Nested`: `cfg` is a grammar"), "{}", outcome.stderr);
    folder.foresee(&["spec", "graph", "it.rv", "-o", "it.svg", "--property", "SafeLanding"]).success();
    let picture = std::fs::read_to_string(folder.path("it.svg")).unwrap();
    assert!(picture.contains("RADIO == 0") && !picture.contains("UnsafeIterator"), "{picture}");
    for (args, why) in [
        (&["-o", "it.png"][..], "must end in .svg or .dot"),
        (&["--property", "Nested"], "is a grammar"),
        (&["--property", "Other"], "no property is called `Other`"),
    ] {
        let outcome = folder.foresee(&[&["spec", "graph", "it.rv"], args].concat());
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    }
}

#[test]
fn where_recording_stopped_is_not_the_end_of_the_run() {
    let folder = Folder::new();
    folder.write("locks.rv", LOCKS);
    for (line, code) in [("#meta command a.out", 66), ("#gap no-end disk-full", 0)] {
        folder.write("run.std", format!("{line}\nT1|acq(m)|a.rs:3\n"));
        let monitored = folder.foresee(&["monitor", "locks.rv", "run.std"]);
        assert_eq!(monitored.code, Some(code), "{}", monitored.stderr);
        let checked = folder.foresee(&["check", "--engine", "property", "--spec", "locks.rv", "run.std"]);
        assert_eq!(checked.code, Some(code), "{}", checked.stderr);
    }
}

#[test]
fn properties_watch_the_variables_they_speak_of_in_recorded_programs() {
    let folder = Folder::new();
    folder.write(
        "it.rv",
        SPEC.replace("LANDING", "landing").replace("RADIO", "radio").replace("APPROVED", "approved"),
    );
    let program = "volatile int landing, approved, radio;\n\
        int main(int argc, char **argv) {\n    (void)argv;\n    radio = 1;\n    if (argc > 1)\n        approved = 1;\n    \
        landing = 1;\n    return 0;\n}\n";
    folder.write("tower.c", program);
    folder.compile(&["cc", "-g", "tower.c", "-o", "tower"]).success();
    let outcome = folder.foresee(&["run", "--spec", "it.rv", "--", "./tower"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    for part in ["observed property violation of `SafeLanding`: landing without", "tower.c:7", "landing = 1;"]
    {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let outcome = folder.foresee(&["run", "--spec", "it.rv", "--", "./tower", "approved"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn bounds_of_time_need_times() {
    let folder = Folder::new();
    folder.write(
        "late.rv",
        "property Answered(r) {\n    event request(r);\n    event response(r);\n    ptltl: response -> request within 5s\n    \
         @violation { report \"{r} answered too late\"; }\n}\n",
    );
    folder.write(
        "timed.std",
        "#time 10\nT1|event(request, @1)|1\n#time 12.5\nT1|event(request, @2)|2\n#time 17\nT2|event(response, @2)|3\nT2|event(response, @1)|4\n",
    );
    let outcome = folder.foresee(&["monitor", "late.rv", "timed.std"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("@1 answered too late"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("@2 answered too late"), "{}", outcome.stdout);
    folder.write("plain.std", "T1|event(request, @1)|1\nT2|event(response, @1)|2\n");
    let outcome = folder.foresee(&["monitor", "late.rv", "plain.std"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("plain.std: line 1: `Answered` asks when events happen"),
        "{}",
        outcome.stderr
    );
    let outcome = folder.foresee(&["check", "plain.std", "--spec", "late.rv"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("`Answered` asks when events happen, which is not recorded"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn events_have_texts_names_and_variables() {
    let folder = Folder::new();
    folder.write(
        "open.rv",
        "property Secret(f) {\n    state opened: int = 0;\n    event again(f) = open(f, name) when name == \"key\" && opened > 0;\n    \
         event first(f) = open(f, name) when name == \"key\" { opened += 1; }\n    ere: first+ again\n    \
         @match { report \"{f} again\"; reset; }\n}\n",
    );
    folder.write(
        "events.std",
        "T1|event(open, @1, \"key\")|1\nT1|event(open, @2, \"log\")|2\nT1|event(open, @2, \"log\")|3\nT1|event(open, @1, \"key\")|4\n",
    );
    let outcome = folder.foresee(&["monitor", "open.rv", "events.std"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    assert_eq!(outcome.stdout.matches("again").count(), 1, "{}", outcome.stdout);
}

#[test]
fn rules_without_end_are_given_up_and_that_is_said() {
    let folder = Folder::new();
    folder
        .write("rules.rv", "property P(x) {\n    event a(x);\n    srs: a -> a a\n    @fail { count; }\n}\n");
    folder.write("events.std", "T1|event(a, @1)|1\nT1|event(a, @1)|2\nT1|event(a, @2)|3\n");
    let outcome = folder.foresee(&["monitor", "rules.rv", "events.std"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("line 1: `P`: its rules rewrite without end"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2 instances given up"), "{}", outcome.stderr);
}

/// A log with a mistake in a name says nothing of it by itself.
#[test]
fn names_that_no_property_has_are_told_with_what_was_meant() {
    let folder = Folder::new();
    folder.write("it.rv", SPEC);
    folder.write(
        "log.std",
        "T1|event(creat, @1, @7)\nT1|event(other)\nT1|event(creat, @1, @8)\nT1|event(next, @7)\n",
    );
    let outcome = folder.foresee(&["monitor", "it.rv", "log.std"]);
    let said = "3 events that no property knows, such as `creat` (did you mean `create`?), `other`";
    assert!(outcome.code == Some(0) && outcome.stderr.contains(said), "{}", outcome.stderr);
}

/// The reference has no example that is wrong.
#[test]
fn every_example_of_the_reference_is_accepted() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../specs");
    let reference = std::fs::read_to_string(format!("{root}/LANGUAGE.md")).unwrap();
    let folder = Folder::new();
    let examples = reference.split("```rv\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut count = 0;
    for example in examples {
        folder.write("example.rv", example);
        let checked = folder.foresee(&["spec", "check", "example.rv"]);
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{example}");
        count += 1;
    }
    assert!(count > 8, "{count}");
    for formalism in ["ere", "fsm", "cfg", "srs", "ltl", "ptltl", "mttl"] {
        assert!(reference.contains(&format!("\n    {formalism}: ")), "{formalism} has an example");
    }
    let help = folder.foresee(&["spec", "--help"]).stdout;
    assert!(help.contains("specs/LANGUAGE.md"), "{help}");
}
