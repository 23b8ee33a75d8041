//! Properties of the runs that did not happen, through the real program: the examples of the papers, recorded.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, Outcome};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// A project of the user's with these examples, each with its specification beside it.
pub(crate) fn project(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for sub in ["src", "examples"] {
        fs::create_dir(folder.path(sub)).unwrap();
    }
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    folder.write("Cargo.toml", manifest);
    folder.write("src/lib.rs", "");
    for name in names {
        for ending in ["rs", "rv"] {
            let file = format!("{name}.{ending}");
            fs::copy(Path::new(EXAMPLES).join(&file), folder.path(&format!("examples/{file}"))).unwrap();
        }
    }
    folder
}

fn run(folder: &Folder, name: &str, options: &[&str]) -> Outcome {
    let mut args = vec!["cargo", "run", "--quiet", "--example", name, "--format", "json"];
    args.extend(options);
    folder.foresee(&args)
}

/// The one finding, as `(certainty, violating runs, runs, values along the run)`.
#[track_caller]
fn violation(outcome: &Outcome) -> (String, u64, u64, Vec<Vec<i64>>) {
    assert_eq!(outcome.code, Some(66), "{}\n{}", outcome.stdout, outcome.stderr);
    let start = outcome.stdout.find("{\n").unwrap();
    let report: Value = serde_json::from_str(&outcome.stdout[start..]).unwrap();
    let [finding] = report["findings"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(finding["kind"], "property");
    assert_eq!(finding["witness"]["checked"], true);
    let run = &finding["run"];
    let values = |step: &Value| {
        step["values"].as_object().unwrap().values().map(|value| value.as_i64().unwrap()).collect()
    };
    let steps = run["steps"].as_array().unwrap().iter().map(values).collect();
    let count = |of: &str| run[of].as_u64().unwrap();
    let certainty = finding["certainty"].as_str().unwrap().to_owned();
    (certainty, count("violating_runs"), count("runs"), steps)
}

#[test]
fn the_papers_examples_have_the_papers_results() {
    let folder = project(&["flight", "xyz", "landing", "signs"]);
    for model in ["hb", "weak", "sliced", "max"] {
        // LANDING, APPROVED, RADIO: the radio goes down between approval and landing.
        let (certainty, violating, runs, values) = violation(&run(&folder, "flight", &["--model", model]));
        assert_eq!((certainty.as_str(), violating, runs), ("predicted", 2, 3), "{model}");
        assert_eq!(values, [[0, 1, 1], [0, 1, 0], [1, 1, 0]], "{model}");
    }
    let (_, violating, runs, _) = violation(&run(&folder, "xyz", &["--model", "hb"]));
    assert_eq!((violating, runs), (1, 3));
    // Only where the two writes of the permit may change places is there something to find.
    assert_eq!(run(&folder, "landing", &["--model", "hb"]).code, Some(0));
    let (_, violating, runs, _) = violation(&run(&folder, "landing", &["--model", "weak"]));
    assert_eq!((violating, runs), (1, 3));
    assert_eq!(run(&folder, "signs", &["--model", "hb"]).code, Some(0));
    let (_, violating, runs, values) = violation(&run(&folder, "signs", &["--model", "weak"]));
    assert_eq!((violating, runs, values), (1, 2, vec![vec![1]]));
}

#[test]
fn a_race_that_critical_sections_hide() {
    let folder = project(&[]);
    fs::copy(Path::new(EXAMPLES).join("sections.rs"), folder.path("examples/sections.rs")).unwrap();
    assert_eq!(run(&folder, "sections", &["--engine", "hb"]).code, Some(0));
    let outcome = run(&folder, "sections", &[]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    let start = outcome.stdout.find("{\n").unwrap();
    let report: Value = serde_json::from_str(&outcome.stdout[start..]).unwrap();
    let [race] = report["findings"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&race["kind"], &race["certainty"]), (&"race".into(), &"predicted".into()));
    assert_eq!(race["events"][0]["target"], "sections::Z");
}

#[test]
fn how_much_is_explored_can_be_said() {
    let folder = Folder::new();
    let traces = Path::new(EXAMPLES).join("traces");
    let (trace, spec) = (traces.join("flight.std"), traces.join("flight.rv"));
    let check = |options: &[&str]| {
        let mut args = vec!["check", trace.to_str().unwrap(), "--spec", spec.to_str().unwrap()];
        args.extend(["--engine", "property", "--format", "json"]);
        args.extend(options);
        folder.foresee(&args)
    };
    violation(&check(&[]));
    violation(&check(&["--breadth", "all"]));
    violation(&check(&["--breadth", "3", "--counterexamples", "1"]));
    // The observed run itself is fine.
    assert_eq!(check(&["--breadth", "1"]).code, Some(0));
    let unknown = check(&["--model", "none"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("[possible values: hb, weak, sliced, max]"));
}

#[test]
fn a_variable_that_is_not_there_is_told() {
    let folder = Folder::new();
    let spec = "property P { var landing, nowhere: int; ptltl: landing >= 0 @violation { report \"x\"; } }";
    folder.write("p.rv", spec);
    let trace = Path::new(EXAMPLES).join("traces/flight.std");
    let outcome =
        folder.foresee(&["check", trace.to_str().unwrap(), "--spec", "p.rv", "--engine", "property"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("P: the run has no variable `nowhere`"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("`landing`"), "{}", outcome.stderr);
}

/// Four threads of which each does forty things on its own: two million cuts, tens of thousands of them in one level.
fn wide(folder: &Folder) {
    let step = |number: usize| format!("T{}|event(work)|wide.c:{number}\n", number % 4);
    let end = "T0|event(end)|wide.c:200\nT1|event(start)|wide.c:201\n";
    folder.write("wide.std", (0..160).map(step).collect::<String>() + end);
    let property = |name: &str, body: &str| {
        let spec = format!(
            "property {name} {{\n    event work;\n    event end;\n    event start;\n    event never;\n    ere: {body}\n    \
             @match {{ report \"it is\"; }}\n}}\n"
        );
        folder.write(&format!("{name}.rv"), spec);
    };
    property("Nothing", "(work | end | start)* never");
    property("Something", "(work | end | start)* start work* end");
}

#[test]
fn memory_limits_what_is_explored() {
    let folder = Folder::new();
    wide(&folder);
    let check = |spec: &str, memory: &str| {
        let args = [
            "check", "wide.std", "--engine", "property", "--spec", spec, "--model", "hb", "--memory", memory,
        ];
        let human = folder.foresee(&args);
        let outcome = folder.foresee(&[&args[..], &["--format", "json", "--time", "60s"]].concat());
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        (outcome.code, report, human)
    };
    let (code, report, human) = check("Nothing.rv", "4M");
    assert_eq!((code, &report["stats"]["undecided"]), (Some(3), &1.into()), "{report}");
    assert!(
        human.code == Some(3) && human.stderr.contains("within the memory given: --memory gives more"),
        "{}",
        human.stderr
    );
    let (code, report, _) = check("Nothing.rv", "400M");
    assert_eq!((code, &report["stats"]["undecided"]), (Some(0), &0.into()), "{report}");
    // What is found in spite of the limit is true all the same.
    for (memory, exhaustive) in [("4M", false), ("400M", true)] {
        let (code, report, human) = check("Something.rv", memory);
        assert_eq!(code, Some(66), "{report}");
        let found = &report["findings"][0];
        assert_eq!((&found["certainty"], &found["witness"]["checked"]), (&"predicted".into(), &true.into()));
        assert_eq!(found["run"]["exhaustive"], exhaustive);
        let says = "Not all runs that these events allow";
        assert_eq!(human.stderr.contains(says), !exhaustive, "{}", human.stderr);
    }
}

/// An account on the heap that two threads change, with the lock or without it, some time apart.
const ACCOUNT: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct account { long balance, other; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct account *account;
static int is_wrong;
static void *early(void *u) {
    if (is_wrong) account->balance += 1;
    pthread_mutex_lock(&lock);
    account->other += 1;
    if (!is_wrong) account->balance += 1;
    pthread_mutex_unlock(&lock);
    return u;
}
static void *late(void *u) {
    usleep(200000);
    pthread_mutex_lock(&lock);
    if (!is_wrong) account->balance += 1;
    pthread_mutex_unlock(&lock);
    if (is_wrong) account->balance += 1;
    return u;
}
int main(int count, char **words) {
    is_wrong = count > 1;
    account = calloc(1, sizeof *account);
    pthread_t one, two;
    pthread_create(&one, 0, early, 0);
    pthread_create(&two, 0, late, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    free(account);
    return words[0] == 0;
}
"#;

#[test]
fn a_race_for_an_object_is_a_formula() {
    let folder = Folder::new();
    folder.build("prog.c", ACCOUNT);
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../../specs/memory.rv");
    let run = |words: &[&str]| {
        let args = ["run", "--format", "json", "--engine", "property", "--spec", spec, "--", "./prog"];
        folder.foresee(&[&args, words].concat())
    };
    let kept = run(&[]);
    assert_eq!(kept.code, Some(0), "{}{}", kept.stdout, kept.stderr);
    let broken = run(&["wrong"]);
    assert_eq!(broken.code, Some(66), "{}{}", broken.stdout, broken.stderr);
    let report: Value = serde_json::from_str(&broken.stdout).unwrap();
    let [finding] = report["findings"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(
        (finding["certainty"].as_str(), &finding["witness"]["checked"]),
        (Some("predicted"), &Value::Bool(true))
    );
}
