//! C++ programs with one bug each: built by both compilers, recorded and checked by all engines. What is wrong is found in every
//! run, as what it is, where it is marked by `// wrong`; in the same program without the bug (`FIXED`) nothing is.
//!
//! The programs are in `tests/programs/cxx`. `FORESEE_TIMES` multiplies how often each is run.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, Outcome};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/cxx");

/// The programs, and what is found in them.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("counter", "race", "observed"),
    ("double_checked", "race", "observed"),
    ("publication", "race", "observed"),
    ("wrong_lock", "race", "observed"),
    ("other_schedule", "race", "predicted"),
    ("third_lock", "deadlock", "predicted"),
    ("condition", "race", "observed"),
    ("check_then_act", "atomicity", "predicted"),
    ("not_atomic_pointer", "race", "observed"),
    ("iterator", "race", "observed"),
    ("two_caches", "race", "predicted"),
    ("containers_locked", "deadlock", "predicted"),
];

/// The lines of a program that are marked.
fn marked(name: &str) -> BTreeSet<u64> {
    let text = fs::read_to_string(format!("{SOURCES}/{name}.cpp")).unwrap();
    (1..).zip(text.lines()).filter(|(_, line)| line.ends_with("// wrong")).map(|(number, _)| number).collect()
}

/// The lines of a program that a finding tells of; 0 for a place elsewhere.
fn lines(finding: &Value, name: &str) -> BTreeSet<u64> {
    let line = |event: &Value| {
        let at = &event["location"];
        let here = at["file"].as_str().is_some_and(|file| file.ends_with(&format!("/{name}.cpp")));
        at["line"].as_u64().filter(|_| here).unwrap_or(0)
    };
    finding["events"].as_array().unwrap().iter().map(line).collect()
}

/// Runs each program a few times.
fn run_each(flags: &[&str], check: impl Fn(&str, &str, &str, Outcome)) {
    let times = std::env::var("FORESEE_TIMES").map_or(1, |times| times.parse().unwrap());
    let folder = Folder::new();
    let _ = folder.runtime();
    for &(name, kind, certainty) in PROGRAMS {
        let source = format!("{SOURCES}/{name}.cpp");
        for (_, compiler) in compilers() {
            let mut compile =
                folder.command(&["c++", "-std=c++17", "-O1", &source, "-o", "prog", "-pthread"]);
            let compiled = compile.args(flags).env("FORESEE_CXX", compiler).output().unwrap();
            assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
            for _ in 0..2 * times {
                check(name, kind, certainty, folder.foresee(&["run", "--format", "json", "--", "./prog"]));
            }
        }
    }
}

#[test]
fn what_is_wrong_is_found_where_it_is() {
    run_each(&[], |name, kind, certainty, Outcome { code, stdout, stderr }| {
        assert_eq!(code, Some(66), "{name}: {stderr}{stdout}");
        let report: Value = serde_json::from_str(&stdout).unwrap();
        let found = report["findings"].as_array().unwrap();
        let as_expected = |one: &Value| one["kind"] == kind && one["certainty"] == certainty;
        assert!(found.iter().all(as_expected), "{name}: {found:#?}");
        let all: BTreeSet<u64> = found.iter().flat_map(|finding| lines(finding, name)).collect();
        assert_eq!(all, marked(name), "{name}: {found:#?}");
    });
}

#[test]
fn without_the_bug_nothing_is() {
    run_each(&["-DFIXED"], |name, _, _, Outcome { code, stdout, stderr }| {
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{name}: {stdout}");
    });
}
