//! `--branches`: what depends on what a thread has read, and what does not, in programs of C and Rust.
//!
//! The programs in `tests/programs/branches` write to variables whose names say whether a race on them can be predicted, if control
//! flow is known. Without it, everything may depend on every read, and nothing can be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, Outcome, outcome};

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/branches");

/// The variables that race, all of them predicted.
#[track_caller]
fn predicted(run: &Outcome) -> BTreeSet<String> {
    let start = run.stdout.find('{').unwrap_or_else(|| panic!("{}", run.stderr));
    let report: Value = serde_json::from_str(&run.stdout[start..]).unwrap();
    let each = report["findings"].as_array().unwrap().iter().map(|finding| {
        assert_eq!(
            (&finding["kind"], &finding["certainty"]),
            (&"race".into(), &"predicted".into()),
            "{finding}"
        );
        let target = finding["events"][0]["target"].as_str().unwrap();
        target.rsplit("::").next().unwrap().to_lowercase()
    });
    each.collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Builds the C program with these flags before all others.
fn build_c(folder: &Folder, compiler: &str, level: &str, branches: &[&str]) {
    let _ = folder.runtime();
    let (program, library) = (format!("{PROGRAMS}/branches.c"), format!("{PROGRAMS}/library.c"));
    let compile = |args: &[&str]| {
        let built = outcome(folder.command(args).env("FORESEE_CC", compiler).output().unwrap());
        assert_eq!(built.code, Some(0), "{}", built.stderr);
    };
    compile(&["cc", level, "-c", &library, "-o", "library.o"]);
    compile(&[&["cc"], branches, &[level, &program, "library.o", "-o", "prog", "-pthread"]].concat());
}

#[test]
fn only_what_nothing_depends_on_is_reordered_in_c() {
    let folder = Folder::new();
    let free = names(&["free_plain", "free_value", "free_lock", "free_atomic"]);
    // Unoptimised code has some addresses in memory, which is not followed.
    let sure = names(&["free_plain", "free_value", "free_lock"]);
    for (compiler, _) in compilers() {
        for level in ["-O0", "-O2"] {
            build_c(&folder, compiler, level, &["--branches"]);
            let run = folder.foresee(&["run", "--branches", "--format", "json", "--", "./prog"]);
            let found = predicted(&run);
            assert!(found.is_superset(&sure) && found.is_subset(&free), "{compiler} {level}: {found:?}");
        }
        build_c(&folder, compiler, "-O2", &[]);
        let run = folder.foresee(&["run", "--format", "json", "--", "./prog"]);
        assert_eq!(predicted(&run), names(&[]), "{compiler}: without branches");
    }
}

#[test]
fn a_program_that_does_not_tell_its_branches_is_refused() {
    let folder = Folder::new();
    build_c(&folder, "cc", "-O1", &[]);
    for command in ["run", "record"] {
        let refused = folder.foresee(&[command, "--branches", "--", "./prog"]);
        refused.one_message(2, &["./prog: was built without branches", "foresee cc --branches"]);
    }
}

#[test]
fn the_setting_is_as_good_as_the_flag() {
    let folder = Folder::new();
    fs::create_dir(folder.path(".config")).unwrap();
    folder.write(".config/foresee.toml", "branches = true\n");
    build_c(&folder, "cc", "-O1", &[]);
    folder.foresee(&["record", "-o", "run.std", "--", "./prog"]);
    let text = String::from_utf8(folder.read("run.std")).unwrap();
    assert!(text.contains("|branch|"), "{text}");
    folder.foresee(&["trace", "validate", "run.std"]).success();
    let info = folder.foresee(&["trace", "info", "run.std"]).success();
    assert!(info.contains("branches"), "{info}");
}

fn cargo(project: &Path, args: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
    command.arg("foresee").args(args).current_dir(project).env_remove("CARGO_ENCODED_RUSTFLAGS");
    outcome(command.output().unwrap())
}

#[test]
fn only_what_nothing_depends_on_is_reordered_in_rust() {
    let project: PathBuf = [env!("CARGO_TARGET_TMPDIR"), "branches"].iter().collect();
    fs::create_dir_all(project.join("src")).unwrap();
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    fs::copy(format!("{PROGRAMS}/main.rs"), project.join("src/main.rs")).unwrap();
    let run = cargo(&project, &["run", "--branches", "--release", "--format", "json"]);
    assert_eq!(predicted(&run), names(&["free_plain", "free_value"]));
    // Unoptimised code has jumps around every access.
    let run = cargo(&project, &["run", "--branches", "--format", "json"]);
    assert!(predicted(&run).iter().all(|name| name.starts_with("free_")));
}
