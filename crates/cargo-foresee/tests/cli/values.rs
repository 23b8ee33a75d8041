//! The net by values: what is written by code that is not recorded shows in what reads see, and nothing else does.
//!
//! A firing in a correct program is a mistake: a function that is missing in the runtime's table of effects.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, Outcome};

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

const UNSEEN: [&str; 4] = ["unseen_outside", "unseen_assembly", "unseen_heap", "unseen_at_first"];
const SEEN: [&str; 6] = ["locked", "racy", "renewed", "sizes", "library", "handler"];

/// Compiles these sources by foresee, and `outside` without it, to `prog`.
fn build(folder: &Folder, command: &str, compiler: &str, flags: &[&str], source: &str, outside: &str) {
    let mut objects: &[&str] = &[];
    if !outside.is_empty() {
        let mut plain = Command::new(compiler);
        plain
            .args(["-c", "-O2", "-fPIC", &format!("{PROGRAMS}/{outside}"), "-o"])
            .arg(folder.path("outside.o"));
        assert!(plain.status().unwrap().success());
        objects = &["outside.o"];
    }
    let source = format!("{PROGRAMS}/{source}");
    let line = [&[command], flags, &[&source], objects, &["-o", "prog", "-pthread"]].concat();
    let mut compile = folder.command(&line);
    let compiled = compile.env("FORESEE_CC", compiler).env("FORESEE_CXX", compiler).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

fn run(folder: &Folder, options: &[&str], words: &[&str]) -> Value {
    let line = [&["run", "--format", "json"], options, &["--", "./prog"], words].concat();
    let Outcome { stdout, stderr, .. } = folder.foresee(&line);
    serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{words:?}: {stderr}{stdout}"))
}

/// How many reads were compared, and how many of them saw what nobody was seen to write.
fn compared(report: &Value) -> (u64, u64) {
    let values = &report["stats"]["values"];
    (values["compared"].as_u64().unwrap(), values["unseen_writes"].as_u64().unwrap())
}

#[test]
fn unseen_writes_show_and_recorded_ones_do_not() {
    let folder = Folder::new();
    let _ = folder.runtime();
    let text = fs::read_to_string(format!("{PROGRAMS}/values/values.c")).unwrap();
    let line = 1 + text.lines().position(|line| line.ends_with("// seen")).unwrap();
    for (compiler, _) in compilers() {
        for level in ["-O0", "-O2"] {
            build(&folder, "cc", compiler, &["-g", level], "values/values.c", "values/outside.c");
            for which in UNSEEN {
                let report = run(&folder, &["--values"], &[which]);
                let stats = &report["stats"]["values"];
                assert_eq!(compared(&report).1, 1, "{compiler} {level} {which}: {stats:#}");
                let memory = stats["memory"][0].as_str().unwrap();
                assert!(memory.contains(&format!("values.c:{line}")), "{compiler} {level} {which}: {memory}");
                if which == "unseen_outside" && level == "-O2" {
                    assert!(memory.contains("ran in between"), "{compiler}: {memory}");
                }
            }
            for which in SEEN {
                let report = run(&folder, &["--values"], &[which]);
                let (compared, unseen) = compared(&report);
                let stats = &report["stats"]["values"];
                assert!(unseen == 0 && compared > 0, "{compiler} {level} {which}: {stats:#}");
            }
        }
    }
    assert!(run(&folder, &[], &["locked"])["stats"]["values"].is_null());
    let Outcome { stderr, .. } = folder.foresee(&["run", "--values", "--", "./prog", "unseen_outside"]);
    assert!(stderr.contains("code that is not recorded wrote `shared`"), "{stderr}");
    // A packed trace says the same.
    folder.foresee(&["record", "--values", "-o", "run.ft", "--", "./prog", "unseen_outside"]);
    let Outcome { stdout, .. } = folder.foresee(&["check", "--format", "json", "run.ft"]);
    assert_eq!(compared(&serde_json::from_str(&stdout).unwrap()).1, 1, "{stdout}");
}

/// The user's word that a function does nothing counts, even if it is wrong; what its write was then seen to do does not rest on it.
#[test]
fn what_rests_on_an_unseen_write_is_a_candidate() {
    let folder = Folder::new();
    let _ = folder.runtime();
    build(&folder, "c++", "g++", &["-std=c++17", "-O2"], "blind/blind.cpp", "blind/outside.cpp");
    fs::create_dir(folder.path(".config")).unwrap();
    folder.write(".config/foresee.toml", "no-effect = [\"outside_write\"]\n");
    let report = run(&folder, &[], &["write_outside"]);
    assert_eq!(report["findings"][0]["certainty"], "predicted", "{report:#}");
    let report = run(&folder, &["--values"], &["write_outside"]);
    let finding = &report["findings"][0];
    assert_eq!(finding["certainty"], "candidate", "{report:#}");
    let reason = finding["reason"].as_str().unwrap();
    assert!(reason.contains("wrote `state`") && reason.contains("blind.cpp:"), "{reason}");
    // What is wrong beside that is still predicted.
    let wrong = run(&folder, &["--values"], &["wrong"]);
    let is_predicted = |one: &Value| one["kind"] == "race" && one["certainty"] == "predicted";
    assert!(wrong["findings"].as_array().unwrap().iter().any(is_predicted), "{wrong:#}");
}

#[test]
fn no_write_of_correct_cxx_programs_is_unseen() {
    let folder = Folder::new();
    let _ = folder.runtime();
    let mut sources: Vec<_> = (fs::read_dir(format!("{PROGRAMS}/cxx")).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".cpp"))
        .collect();
    sources.sort();
    for (_, compiler) in compilers() {
        for source in &sources {
            build(&folder, "c++", compiler, &["-std=c++17", "-O1", "-DFIXED"], &format!("cxx/{source}"), "");
            let report = run(&folder, &["--values"], &[]);
            assert_eq!(compared(&report).1, 0, "{compiler} {source}: {:#}", report["stats"]["values"]);
        }
        build(&folder, "c++", compiler, &["-std=c++17", "-O2"], "blind/blind.cpp", "blind/outside.cpp");
        for which in ["read_outside", "lock_outside", "order_outside", "ready_at_exit"] {
            let report = run(&folder, &["--values"], &[which]);
            assert_eq!(compared(&report).1, 0, "{compiler} {which}: {:#}", report["stats"]["values"]);
        }
    }
}
