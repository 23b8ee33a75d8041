//! Attempts to take a lock that fail, in C and C++: what a program does because somebody else has a lock is not predicted for
//! schedules in which nobody has it.

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, Outcome};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/attempts/attempts.cpp");

/// What an attempt is made on.
const GATES: [&str; 11] = [
    "mutex",
    "timed",
    "reader",
    "writer",
    "spin",
    "c11",
    "stream",
    "semaphore",
    "timed_semaphore",
    "timed_mutex",
    "shared_mutex",
];

#[test]
fn an_attempt_that_failed_fails_in_every_schedule() {
    let folder = Folder::new();
    let _ = folder.runtime();
    for (_, compiler) in compilers() {
        let mut compile =
            folder.command(&["c++", "-std=c++17", "-O1", "-g", SOURCE, "-o", "prog", "-pthread"]);
        let compiled = compile.env("FORESEE_CXX", compiler).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        for gate in GATES {
            let run = |words: &[&str]| {
                folder.foresee(&[&["run", "--format", "json", "--", "./prog", gate], words].concat())
            };
            let Outcome { code, stdout, stderr } = run(&[]);
            assert_eq!((code, stderr.as_str()), (Some(0), ""), "{compiler} {gate}: {stdout}");
            let report: Value = serde_json::from_str(&stdout).unwrap();
            assert_eq!(
                report["stats"]["missing"].as_array().map_or(0, Vec::len),
                0,
                "{compiler} {gate}: {stdout}"
            );
            // What does not depend on the attempt is predicted as ever, unless it happened.
            let Outcome { code, stdout, stderr } = run(&["broken"]);
            assert_eq!(code, Some(66), "{compiler} {gate}: {stderr}{stdout}");
            let report: Value = serde_json::from_str(&stdout).unwrap();
            let certainty = report["findings"][0]["certainty"].as_str();
            assert!(matches!(certainty, Some("predicted" | "observed")), "{compiler} {gate}: {stdout}");
        }
    }
}
