//! Random programs, recorded for real, against all their schedules.
//!
//! A tiny program of a few threads (variables, an array, locks, conditions) is written as C and also run by a little machine through
//! every schedule there is. Whatever `foresee run` predicts from its one run, the machine must have found in some schedule: that is
//! all of foresee at once, from the compiler's instrumentation to the witness. Programs are built with and without `--branches`,
//! by both compilers, optimised and not.
//!
//! `FORESEE_TEST_SEED` repeats one program, `FORESEE_TEST_EXECUTIONS` runs more of them.

mod machine;
mod program;

use std::collections::BTreeSet;

use foresee_oracle::{Random, for_each_seed};
use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, outcome};
use machine::{Access, Race, races};
use program::{Program, VARIABLES};

/// The races that are predicted. Those that were observed are another matter: nothing orders them, but values may have kept them
/// apart in every schedule.
fn predicted(report: &Value) -> BTreeSet<Race> {
    let findings = report["findings"].as_array().unwrap().iter();
    let races = findings.filter(|finding| finding["certainty"] != "observed").map(|finding| {
        assert_eq!(finding["kind"], "race", "{finding}");
        let event = |at: usize| {
            let event = &finding["events"][at];
            let number = |text: &Value| text.as_str().and_then(|text| text.get(1..)?.parse::<usize>().ok());
            // Threads are called T1 and so on, in the order in which they were started.
            Access { thread: number(&event["thread"]).unwrap() - 1, writes: event["op"] == "write" }
        };
        let memory = &finding["events"][0]["memory"];
        let name = memory["name"].as_str().unwrap();
        let place = match name.strip_prefix('v') {
            Some(number) => number.parse().unwrap(),
            None => VARIABLES + memory["offset"].as_u64().unwrap() as usize / 4,
        };
        Race::new(place, event(0), event(1))
    });
    races.collect()
}

#[test]
fn what_is_found_in_one_run_is_there_in_some_schedule() {
    let folder = Folder::new();
    let _ = folder.runtime();
    let compilers: Vec<_> = compilers().map(|(c, _)| c).collect();
    let (mut all, mut found) = (0, [0, 0]);
    for_each_seed(12, |seed| {
        let mut random = Random::new(seed);
        let program = Program::random(&mut random);
        let source = program.to_c();
        folder.write("random.c", &source);
        let truth = races(&program);
        all += truth.len();
        let compiler = random.pick(&compilers).unwrap();
        let level = random.pick(&["-O0", "-O1", "-O2"]).unwrap();
        for (with, branches) in [None, Some("--branches")].into_iter().enumerate() {
            let mut compile = folder.command(&["cc"]);
            compile.args(branches).args([level, "random.c", "-o", "prog", "-pthread"]);
            let built = outcome(compile.env("FORESEE_CC", compiler).output().unwrap());
            assert_eq!(built.code, Some(0), "seed {seed}: {}\n{source}", built.stderr);
            let run = folder.foresee(&["run", "--format", "json", "--", "./prog"]);
            let report = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
            let races = predicted(&report);
            let wrong: Vec<_> = races.difference(&truth).collect();
            let how = format!("seed {seed}, {compiler} {level} {}", branches.unwrap_or(""));
            assert!(wrong.is_empty(), "{how}: {wrong:?} cannot be\n{source}");
            found[with] += races.len();
        }
    });
    println!("races: {all}; found: {}, with branches {}", found[0], found[1]);
    assert!(found[0] > 0);
}
