//! OpenMP, by the libraries of gcc and of clang: nothing is reported of correct programs but candidates, and mistakes are found.
//!
//! The programs are in `tests/programs/openmp`. Each checks its own results, so that what stands in front of the libraries does
//! what they do. `FORESEE_TIMES` multiplies how often each is run.

use std::process::Command;

use serde_json::Value;

use crate::programs::compilers;
use crate::support::Folder;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/openmp");

/// Programs in which nothing is wrong.
const CORRECT: &[&str] = &[
    "regions.c",
    "barriers.c",
    "critical.c",
    "loops.c",
    "tasks.c",
    "more_tasks.c",
    "task_reductions.c",
    "objects.cpp",
];

/// What can be wrong in `broken.c`, and how certain that is at least.
const MISTAKES: &[(&str, &str)] = &[
    ("NO_CRITICAL", "observed"),
    ("TWO_NAMES", "observed"),
    ("NO_BARRIER", "observed"),
    ("NO_TASKWAIT", "observed"),
    ("NO_GROUP", "observed"),
    ("NO_DEPENDENCE", "observed"),
    ("NO_REDUCTION", "observed"),
    ("OTHER_SCHEDULE", "predicted"),
];

/// The compilers that have a library for OpenMP. In CI all must have one.
fn compilers_with_openmp() -> impl Iterator<Item = (&'static str, &'static str)> {
    let required = std::env::var("CI").is_ok_and(|ci| ci == "true");
    compilers().filter(move |(c, _)| {
        let check = "echo '#include <omp.h>' | \"$0\" -fopenmp -x c -E -";
        let there = required || Command::new("sh").args(["-c", check, c]).output().unwrap().status.success();
        if !there {
            eprintln!("skipped: {c} has no library for OpenMP");
        }
        there
    })
}

/// What is reported of a program that is built with these flags, by each compiler, with and without optimisation.
fn run_each(source: &str, flags: &[&str], check: impl Fn(&str, &[Value])) {
    let times: usize = std::env::var("FORESEE_TIMES").map_or(1, |times| times.parse().unwrap());
    let folder = Folder::new();
    let _ = folder.runtime();
    let driver = if source.ends_with(".c") { "cc" } else { "c++" };
    let file = format!("{SOURCES}/{source}");
    for (c, cxx) in compilers_with_openmp() {
        for optimised in ["-O0", "-O2"] {
            let what = format!("{source} {flags:?} by {c} {optimised}");
            let mut compile = folder.command(&[driver, "-g", optimised, "-fopenmp", &file, "-o", "prog"]);
            let compiled = compile.args(flags).env("FORESEE_CC", c).env("FORESEE_CXX", cxx).output().unwrap();
            assert!(compiled.status.success(), "{what}: {}", String::from_utf8_lossy(&compiled.stderr));
            let plain = Command::new(folder.path("prog")).status().unwrap();
            assert!(plain.success(), "{what}: {plain}");
            for _ in 0..times {
                let outcome = folder.foresee(&["run", "--format", "json", "--", "./prog"]);
                assert!(matches!(outcome.code, Some(0 | 66)), "{what}: {}", outcome.stderr);
                let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
                check(&what, report["findings"].as_array().unwrap());
            }
        }
    }
}

#[test]
fn nothing_is_reported_of_correct_programs() {
    for source in CORRECT {
        run_each(source, &[], |what, found| {
            let is_sure = |one: &&Value| one["certainty"] != "candidate";
            assert_eq!(found.iter().find(is_sure), None, "{what}");
        });
    }
}

#[test]
fn mistakes_are_found() {
    for &(mistake, certainty) in MISTAKES {
        run_each("broken.c", &[&format!("-D{mistake}")], |what, found| {
            let is_sure = |one: &Value| one["certainty"] == certainty || one["certainty"] == "observed";
            let is_it = |one: &Value| one["kind"] == "race" && is_sure(one);
            assert!(found.iter().any(is_it), "{what}: {found:#?}");
            let elsewhere = |one: &&Value| !one["message"].as_str().unwrap().contains("`shared`");
            assert_eq!(found.iter().find(elsewhere), None, "{what}");
        });
    }
}
