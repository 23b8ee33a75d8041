//! `foresee check`, through the real program.

use serde_json::Value;

use crate::support::{Folder, Outcome, example};

const PREDICTED_RACE: &str = "\
main|fork(worker)|1
worker|w(x)|2
worker|acq(l)|3
worker|rel(l)|4
main|acq(l)|5
main|r(x)|6
main|rel(l)|7
main|join(worker)|8
";

const NO_RACE: &str = "\
main|fork(worker)|1
worker|acq(l)|3
worker|w(x)|2
worker|rel(l)|4
main|acq(l)|5
main|r(x)|6
main|rel(l)|7
main|join(worker)|8
";

const PREDICTED_DEADLOCK: &str = "\
main|fork(a)|1
main|fork(b)|2
a|acq(l)|3
a|acq(m)|4
a|rel(m)|5
a|rel(l)|6
b|acq(m)|7
b|acq(l)|8
b|rel(l)|9
b|rel(m)|10
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[test]
fn a_predicted_race_with_its_witness() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    let outcome = folder.foresee(&["check", "t.std", "--format", "json"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    let report = json(&outcome.stdout);
    assert_eq!(report["version"], 1);
    let [finding] = &report["findings"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&finding["kind"], &finding["certainty"]), (&json("\"race\""), &json("\"predicted\"")));
    assert_eq!(finding["id"], "race-1");
    let events = finding["events"].as_array().unwrap();
    let mut indices: Vec<u64> = events.iter().map(|e| e["index"].as_u64().unwrap()).collect();
    indices.sort_unstable();
    assert_eq!(indices, [1, 5]);
    for event in events {
        assert_eq!(event["target"], "x");
        assert!(event["location"]["line"].is_u64() && event["stack"].is_array());
    }
    assert_eq!(finding["witness"]["checked"], true);
    let witness = finding["witness"]["events"].as_array().unwrap();
    let last: Vec<u64> = witness.iter().rev().take(2).map(|v| v.as_u64().unwrap()).collect();
    assert!(last.contains(&1) && last.contains(&5), "the race is where the witness ends: {witness:?}");
    assert_eq!(report["stats"]["refused"], 0);
}

#[test]
fn nothing_to_find_is_exit_code_0() {
    let folder = Folder::new();
    folder.write("t.std", NO_RACE);
    let outcome = folder.foresee(&["check", "t.std"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing found"));
    assert_eq!(outcome.stdout, "");
}

#[test]
fn a_predicted_deadlock() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_DEADLOCK);
    let outcome = folder.foresee(&["check", "t.std", "--format", "json"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    let report = json(&outcome.stdout);
    let [finding] = &report["findings"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&finding["kind"], &finding["certainty"]), (&json("\"deadlock\""), &json("\"predicted\"")));
    let held: Vec<&str> = finding["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["held"][0]["lock"].as_str().unwrap())
        .collect();
    assert_eq!(held.len(), 2);
    assert!(held.contains(&"l") && held.contains(&"m"));
}

#[test]
fn binary_and_piped_traces_give_the_same() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    folder.foresee(&["trace", "convert", "t.std", "-o", "t.ft"]).success();
    let findings = |args: &[&str], input: Option<&str>| {
        let outcome = match input {
            Some(text) => folder.foresee_fed(args, text.as_bytes()),
            None => folder.foresee(args),
        };
        assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
        json(&outcome.stdout)["findings"].clone()
    };
    let text = findings(&["check", "t.std", "--format", "json"], None);
    assert_eq!(text, findings(&["check", "t.ft", "--format", "json"], None));
    assert_eq!(text, findings(&["check", "-", "--format", "json"], Some(PREDICTED_RACE)));
}

#[test]
fn the_exit_code_can_be_changed() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    assert_eq!(folder.foresee(&["check", "t.std", "--exit-code", "5"]).code, Some(5));
    folder.write("none.std", NO_RACE);
    assert_eq!(folder.foresee(&["check", "none.std", "--exit-code", "5"]).code, Some(0));
}

#[test]
fn engines_are_chosen_by_name() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    let outcome = folder.foresee(&["check", "t.std", "--engine", "hb"]);
    assert_eq!(outcome.code, Some(0), "hb sees the lock order of this run: {}", outcome.stderr);
    let outcome = folder.foresee(&["check", "t.std", "--engine", "hb,syncp"]);
    assert_eq!(outcome.code, Some(66));
    folder.foresee(&["check", "t.std", "--engine", "hbb"]).one_message(2, &["unknown engine `hbb`", "syncp"]);
}

#[test]
fn settings_come_from_flags_variable_and_file() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    std::fs::create_dir(folder.path(".config")).unwrap();
    folder.write(".config/foresee.toml", "exit-code = 7\nengine = [\"syncp\"]\n");
    assert_eq!(folder.foresee(&["check", "t.std"]).code, Some(7));
    assert_eq!(folder.foresee(&["check", "t.std", "--exit-code", "9"]).code, Some(9));
    assert_eq!(folder.foresee(&["check", "t.std", "--engine", "hb"]).code, Some(0));
    folder.write(".config/foresee.toml", "exit-cod = 7\n");
    folder.foresee(&["check", "t.std"]).one_message(2, &["foresee.toml", "unknown setting `exit-cod`"]);
    folder.write(".config/foresee.toml", "exit-code = \n");
    folder.foresee(&["check", "t.std"]).one_message(2, &["foresee.toml", "line 1"]);
}

#[test]
fn suppressions_hide_and_unused_ones_are_told() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    folder.write("known.txt", "# known\nrace:^x$\nrace:nowhere\n");
    let outcome = folder.foresee(&["check", "t.std", "--suppressions", "known.txt"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("1 findings suppressed") || outcome.stderr.contains("1 finding suppressed")
    );
    assert!(outcome.stderr.contains("`race:nowhere` matched nothing"));
    folder.write("wrong.txt", "rase:x\n");
    folder
        .foresee(&["check", "t.std", "--suppressions", "wrong.txt"])
        .one_message(2, &["wrong.txt: line 1", "race_top"]);
}

/// As mimalloc's options are, and a race of the same functions on something else.
const KNOWN_RACES: &str = "main|fork(a)\nmain|fork(b)\n\
    a|w(mi_options[0..4])|options.c:702:16 in mi_option_init\nb|r(mi_options[0..4])|options.c:276:6 in mi_option_get\n\
    a|w(other)|options.c:703:16 in mi_option_init\nb|r(other)|options.c:277:6 in mi_option_get\n";

#[test]
fn what_libraries_are_known_for_is_suppressed_and_explained() {
    let folder = Folder::new();
    folder.write("t.std", KNOWN_RACES);
    let targets = |outcome: &Outcome| -> Vec<String> {
        let report = json(&outcome.stdout);
        let findings = report["findings"].as_array().unwrap().clone();
        findings.iter().map(|finding| finding["events"][0]["target"].as_str().unwrap().to_owned()).collect()
    };
    let outcome = folder.foresee(&["check", "t.std", "--engine", "hb", "--format", "json"]);
    assert_eq!(targets(&outcome), ["other"], "{}", outcome.stdout);
    let stats = &json(&outcome.stdout)["stats"];
    assert_eq!((stats["suppressed"].as_u64(), stats["known"][0]["findings"].as_u64()), (Some(1), Some(1)));
    let human = folder.foresee(&["check", "t.std", "--engine", "hb"]).stderr;
    assert!(human.contains("1 of them known of mimalloc: the first threads read each option"), "{human}");
    let shown = folder.foresee(&["check", "t.std", "--engine", "hb", "--format", "json", "--show-known"]);
    assert_eq!(targets(&shown).len(), 2, "{}", shown.stdout);
    std::fs::create_dir(folder.path(".config")).unwrap();
    folder.write(".config/foresee.toml", "show-known = true\n");
    assert_eq!(targets(&folder.foresee(&["check", "t.std", "--engine", "hb", "--format", "json"])).len(), 2);
}

#[test]
fn other_formats_are_well_formed() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    let outcome = folder.foresee(&["check", "t.std", "--format", "sarif", "--output", "out.sarif"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(66), ""));
    let sarif = json(&String::from_utf8(folder.read("out.sarif")).unwrap());
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&sarif["version"], &result["ruleId"]), (&json("\"2.1.0\""), &json("\"race\"")));
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64(), Some(2));
    let outcome = folder.foresee(&["check", "t.std", "--format", "junit"]);
    assert!(
        outcome.stdout.starts_with("<?xml") && outcome.stdout.contains("failures=\"1\""),
        "{}",
        outcome.stdout
    );
}

/// JUnit says of what was looked for that it is not there, and fails for nothing that fails no build; what a person is told beside findings, machines
/// are told as well.
#[test]
fn machines_are_told_what_was_not_looked_at() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    let deadlocks = folder.foresee(&["check", "t.std", "--engine", "deadlock", "--format", "junit"]).stdout;
    assert!(deadlocks.contains("name=\"no deadlock\"") && !deadlocks.contains("no data race"), "{deadlocks}");
    folder.write("known.txt", "race:*\n");
    let known = ["check", "t.std", "--suppressions", "known.txt", "--format"];
    for format in ["sarif", "junit"] {
        let outcome = folder.foresee(&[&known[..], &[format]].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stdout.contains("1 finding suppressed"), "{}", outcome.stdout);
    }
    folder.write("t.std", "a|acq(l)|1\na|w(x)|2\nb|acq(l)|3\nb|w(x)|4\nb|rel(l)|5\na|rel(l)|6\n");
    let candidates = folder.foresee(&["check", "t.std", "--format", "junit"]);
    assert_eq!(candidates.code, Some(0), "{}", candidates.stderr);
    let junit = &candidates.stdout;
    assert!(junit.contains("failures=\"0\" skipped=\"1\"") && junit.contains("not proven: "), "{junit}");
}

#[test]
fn what_a_person_reads() {
    let folder = Folder::new();
    let outcome = folder.foresee(&["check", example("counter.std").to_str().unwrap()]);
    assert_eq!(outcome.code, Some(66));
    let text = &outcome.stderr;
    for part in
        ["predicted data race", "`COUNTER`", "`worker-1` writes", "holding `CONFIG`", "witness:", "checked"]
    {
        assert!(text.contains(part), "`{part}` expected in:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours on a pipe");
}

#[test]
fn nothing_is_proven_by_a_run_that_cannot_have_happened() {
    let folder = Folder::new();
    folder.write("t.std", "a|acq(l)|1\na|w(x)|2\nb|acq(l)|3\nb|w(x)|4\nb|rel(l)|5\na|rel(l)|6\n");
    let outcome = folder.foresee(&["check", "t.std", "--format", "json"]);
    assert!(
        outcome.stderr.contains("warning") && outcome.stderr.contains("not a possible run"),
        "{}",
        outcome.stderr
    );
    for finding in json(&outcome.stdout)["findings"].as_array().unwrap() {
        assert_eq!(finding["certainty"], "candidate");
    }
    assert_eq!(outcome.code, Some(0));
}

#[test]
fn a_damaged_trace_is_checked_as_far_as_it_goes() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    folder.foresee(&["trace", "convert", "t.std", "-o", "t.ft"]).success();
    let bytes = folder.read("t.ft");
    folder.write("short.ft", &bytes[..100]);
    folder
        .foresee(&["check", "short.ft"])
        .one_message(2, &["short.ft: damaged at byte", "nothing is left to check"]);
    folder.write("no_index.ft", &bytes[..bytes.len() - 10]);
    assert_eq!(folder.foresee(&["check", "no_index.ft"]).code, Some(66));
}

#[test]
fn without_time_nothing_is_decided() {
    let folder = Folder::new();
    folder.write("t.std", PREDICTED_RACE);
    assert_eq!(folder.foresee(&["check", "t.std", "--time", "0s"]).code, Some(3));
    assert_eq!(folder.foresee(&["check", "t.std", "--time", "1h"]).code, Some(66));
}
