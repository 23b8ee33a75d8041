//! `cargo foresee run`, `test`, `build` and `nextest`, through the real program on real projects.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::schema::validate_reports;
use crate::support::{Folder, Outcome, outcome};

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// Line 4 and line 5 race.
const LIB: &str = "\
pub static mut COUNTER: u32 = 0;
/// Not ordered by anything.
pub fn race() {
    let other = std::thread::spawn(|| unsafe { COUNTER += 1 });
    unsafe { COUNTER += 1 };
    other.join().unwrap();
}
";

const MAIN: &str = "\
#![allow(unexpected_cfgs)]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    println!(\"{args:?} foresee={} users={} flags={}\", cfg!(foresee), cfg!(users), std::env::var(\"RUSTC_BOOTSTRAP\").is_ok());
    match args.first().map(String::as_str) {
        Some(\"race\") => app::race(),
        Some(code) => std::process::exit(code.parse().unwrap()),
        None => {}
    }
}
";

const TESTS: &str = "\
#[test]
fn racy() { app::race(); }
#[test]
fn clean() { std::thread::spawn(|| unsafe { app::COUNTER += 1 }).join().unwrap(); assert_eq!(unsafe { app::COUNTER }, 1); }
#[test]
fn fails() { println!(\"about to fail\"); std::process::exit(9); }
#[test]
#[ignore]
fn ignored() { app::race(); }
#[test]
fn other_process() { assert_eq!(unsafe { app::COUNTER }, 0); app::race(); }
";

/// A project with a library and a program.
fn project() -> Folder {
    let folder = Folder::new();
    for sub in ["src", "tests", ".cargo"] {
        fs::create_dir(folder.path(sub)).unwrap();
    }
    folder.write("Cargo.toml", MANIFEST);
    folder.write("src/lib.rs", LIB);
    folder.write("src/main.rs", MAIN);
    folder
}

fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
    command.arg("foresee").args(args).current_dir(folder.path(".")).stdin(Stdio::null());
    // A backtrace is half a million events.
    command.env("RUST_BACKTRACE", "0").env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

pub(crate) fn cargo_foresee(folder: &Folder, args: &[&str]) -> Outcome {
    outcome(command(folder, args).output().unwrap())
}

fn with_flags(folder: &Folder, flags: &str, args: &[&str]) -> Outcome {
    outcome(command(folder, args).env("RUSTFLAGS", flags).output().unwrap())
}

/// The findings on `COUNTER`, which are there in any case.
fn on_counter(report: &[u8]) -> Vec<Value> {
    let report = std::str::from_utf8(report).unwrap();
    assert_eq!(validate_reports(report), 1, "{report}");
    let report: Value = serde_json::from_str(report).unwrap();
    let found = report["findings"].as_array().unwrap().iter();
    found.filter(|finding| finding["message"].as_str().unwrap().contains("app::COUNTER")).cloned().collect()
}

#[track_caller]
fn assert_code(outcome: &Outcome, code: i32) {
    assert_eq!(outcome.code, Some(code), "stdout: {}\nstderr: {}", outcome.stdout, outcome.stderr);
}

#[test]
fn a_program_is_built_recorded_and_checked() {
    let folder = project();
    folder.write(
        ".cargo/config.toml",
        "[target.'cfg(unix)']\nrustflags = [\"--cfg=users\", \"--check-cfg=cfg(users)\"]\n",
    );
    let raced = cargo_foresee(
        &folder,
        &["run", "--engine", "hb", "--format=json", "-o", "r.json", "--", "race", "--engine"],
    );
    assert_code(&raced, 66);
    assert_eq!(raced.stdout, "[\"race\", \"--engine\"] foresee=true users=true flags=false\n");
    let found = on_counter(&folder.read("r.json"));
    assert_eq!(found.len(), 1);
    let mut lines: Vec<u64> = found[0]["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["location"]["line"].as_u64().unwrap())
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [4, 5]);

    assert_code(&cargo_foresee(&folder, &["run", "-q", "--exit-code", "5", "--", "race"]), 5);
    let own = cargo_foresee(&folder, &["run", "-q", "--", "7"]);
    assert_code(&own, 7);
    assert!(own.stderr.contains("exited with code 7"), "{}", own.stderr);
    assert_code(&cargo_foresee(&folder, &["run", "-q", "--trace", "kept.ft"]), 0);
    folder.foresee(&["trace", "validate", "kept.ft"]).success();

    let built = fs::read_dir(folder.path("target")).unwrap().map(|entry| entry.unwrap().file_name());
    let built: Vec<_> = built.filter(|name| !name.to_string_lossy().starts_with(['.', 'C'])).collect();
    assert_eq!(built, ["foresee"], "the user's own build cache stays as it is");
}

/// One thread fills a box and puts it into a slot, another takes it out: nothing can race. But it takes by a read that is
/// followed by a write to the same place, without which its look into the box seems to need nobody.
const HANDED_OVER: &str = "\
use std::sync::Mutex;
static SLOT: Mutex<Option<Box<u32>>> = Mutex::new(None);
fn main() {
    let putting = std::thread::spawn(|| {
        let mut value = Box::new(0);
        *value = std::hint::black_box(7);
        *SLOT.lock().unwrap() = Some(value);
    });
    let taken = loop {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let mut slot = SLOT.lock().unwrap();
        if let Some(value) = slot.take() {
            break *std::hint::black_box(value);
        }
    };
    assert_eq!(taken, 7);
    putting.join().unwrap();
}
";

#[test]
fn reads_followed_by_writes_are_recorded() {
    let folder = project();
    folder.write("src/main.rs", HANDED_OVER);
    for profile in ["dev", "release"] {
        assert_code(&cargo_foresee(&folder, &["run", "-q", "--profile", profile]), 0);
    }
}

#[test]
fn what_is_built_can_be_run_later_and_from_another_folder() {
    let folder = project();
    let manifest = folder.path("Cargo.toml");
    let elsewhere = Folder::new();
    let args = ["build", "--manifest-path", manifest.to_str().unwrap(), "--target-dir", "out dir"];
    assert_code(&cargo_foresee(&elsewhere, &args), 0);
    let program = "out dir/foresee/x86_64-unknown-linux-gnu/debug/app";
    let raced = elsewhere.foresee(&["run", "--", program, "race"]);
    assert_code(&raced, 66);
    assert!(raced.stderr.contains("app::COUNTER"), "{}", raced.stderr);
    let explicit = elsewhere.foresee(&[&["cargo", "run"], &args[1..], &["-q", "--", "3"]].concat());
    assert_code(&explicit, 3);
}

#[test]
fn each_test_is_checked_by_itself() {
    let folder = project();
    folder.write("tests/all.rs", TESTS);
    let all = cargo_foresee(&folder, &["test", "--no-fail-fast", "--format", "json", "--output", "all.json"]);
    assert_code(&all, 66);
    for part in [
        "test racy ... ",
        "test clean ... ok",
        "test ignored ... ignored",
        "test fails ... FAILED",
        "exit code 9",
        "about to fail",
    ] {
        assert!(all.stdout.contains(part), "`{part}` expected in: {}", all.stdout);
    }
    let found = on_counter(&folder.read("all.json"));
    let mut tests: Vec<_> = found.iter().map(|f| (f["binary"].as_str(), f["test"].as_str())).collect();
    tests.sort_unstable();
    assert_eq!(tests, [(Some("all"), Some("other_process")), (Some("all"), Some("racy"))]);
    let stats: Value = serde_json::from_slice(&folder.read("all.json")).unwrap();
    assert_eq!((&stats["stats"]["tests"], &stats["stats"]["failed"]), (&4.into(), &1.into()));

    let junit =
        cargo_foresee(&folder, &["test", "-q", "--test", "all", "--format", "junit", "--", "--ignored"]);
    assert_code(&junit, 66);
    assert!(junit.stdout.starts_with("<?xml"), "nothing but the document: {}", junit.stdout);
    assert!(junit.stdout.contains("<testcase name=\"ignored\" classname=\"all\""), "{}", junit.stdout);
    assert!(!junit.stdout.contains("name=\"racy\""), "{}", junit.stdout);

    let people = cargo_foresee(&folder, &["test", "-q", "--test", "all", "rac", "--trace", "kept"]);
    assert_code(&people, 66);
    assert!(people.stdout.contains("running 1 test\n"), "{}", people.stdout);
    assert!(people.stderr.contains("of racy of all"), "findings name their test: {}", people.stderr);
    assert!(folder.path("kept/all-racy.ft").is_file());
    let sarif = cargo_foresee(&folder, &["test", "-q", "--format", "sarif", "--test", "all", "none_of_them"]);
    assert_code(&sarif, 0);
    let document: Value = serde_json::from_str(&sarif.stdout).unwrap();
    assert_eq!(document["runs"][0]["results"], Value::Array(Vec::new()));
}

/// What was not looked at is said of tests that are clean, too.
#[test]
fn the_limits_of_clean_tests_are_said_at_the_end() {
    let folder = project();
    folder.write(
        "tests/blind.rs",
        "use std::{path::PathBuf, sync::Mutex};\nstatic PATH: Mutex<PathBuf> = Mutex::new(PathBuf::new());\n\
         fn push() { PATH.lock().unwrap().push(\"a\"); }\n\
         #[test]\nfn clean() { std::thread::spawn(push).join().unwrap(); push(); }\n",
    );
    let tested = cargo_foresee(&folder, &["test", "-q", "--test", "blind"]);
    assert_code(&tested, 0);
    let said = tested.stderr.lines().find(|line| line.contains("of the tests in which nothing was found: "));
    let said = said.unwrap_or_else(|| panic!("{}", tested.stderr));
    assert!(said.contains("critical sections ran code that is not recorded"), "{said}");
}

#[test]
fn programs_without_the_harness_and_doctests_are_tests_too() {
    let folder = project();
    folder.write("Cargo.toml", format!("{MANIFEST}[[test]]\nname = \"own\"\nharness = false\n"));
    folder.write("tests/own.rs", "fn main() { println!(\"own harness\"); std::process::exit(4); }\n");
    folder.write("src/lib.rs", LIB.replace("/// Not", "/// ```\n/// app::race();\n/// ```\n/// Not"));
    let own = cargo_foresee(&folder, &["test", "-q", "--test", "own"]);
    assert!(own.stdout.contains("own harness\ntest own ... FAILED"), "{}", own.stdout);
    assert_code(&own, 4);
    let documented = cargo_foresee(&folder, &["test", "-q", "--doc"]);
    assert_code(&documented, 66);
    let told = documented.stdout + &documented.stderr;
    assert!(told.contains("app::COUNTER") && told.contains("of doctest"), "{told}");
}

#[test]
fn a_workspace_with_a_procedural_macro_and_a_build_script() {
    let folder = project();
    fs::create_dir_all(folder.path("mac/src")).unwrap();
    let member = "[dependencies]\nmac = { path = \"mac\" }\n[workspace]\nmembers = [\"mac\"]\n";
    // Whatever the profile says, the program can be recorded.
    let profile =
        "[profile.release]\nlto = true\nstrip = true\ndebug = 0\npanic = \"abort\"\ncodegen-units = 1\n";
    folder.write("Cargo.toml", format!("{MANIFEST}{member}{profile}"));
    folder.write("build.rs", "fn main() { std::thread::spawn(|| ()).join().unwrap(); }\n");
    let manifest = MANIFEST.replace("app", "mac");
    folder.write("mac/Cargo.toml", format!("{manifest}[lib]\nproc-macro = true\n"));
    folder.write(
        "mac/src/lib.rs",
        "#[proc_macro]\npub fn race(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \
         \"app::race()\".parse().unwrap()\n}\n#[test]\nfn of_the_macro() {}\n",
    );
    folder.write("src/main.rs", "fn main() { mac::race!(); }\n");
    let raced = cargo_foresee(&folder, &["run", "--release", "-p", "app"]);
    assert_code(&raced, 66);
    assert!(
        raced.stderr.contains("app::COUNTER") && raced.stderr.contains("src/lib.rs:4"),
        "{}",
        raced.stderr
    );
    let of_macro = cargo_foresee(&folder, &["test", "-q", "-p", "mac", "--lib"]);
    assert_code(&of_macro, 0);
    assert!(of_macro.stderr.contains("mac: not recorded"), "{}", of_macro.stderr);
}

#[test]
fn nextest_runs_tests_through_the_runner() {
    let there =
        Command::new("cargo").args(["nextest", "--version"]).output().is_ok_and(|out| out.status.success());
    if !there {
        return;
    }
    let folder = project();
    folder.write("tests/all.rs", TESTS);
    let raced =
        cargo_foresee(&folder, &["nextest", "run", "--format", "json", "-o", "n.json", "-E", "test(racy)"]);
    assert_code(&raced, 66);
    assert!(raced.stderr.contains("1 test run: 0 passed, 1 failed"), "{}", raced.stderr);
    assert_eq!(on_counter(&folder.read("n.json"))[0]["test"], "racy");
}

#[test]
fn the_users_own_runner_and_wrappers_are_kept() {
    let folder = project();
    for name in ["every", "own"] {
        let log = folder.path("log");
        let script = format!("#!/bin/sh\necho {name} >> '{}'\nexec \"$@\"\n", log.display());
        folder.write(name, script);
        fs::set_permissions(folder.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let [every, own] = ["every", "own"].map(|name| folder.path(name).display().to_string());
    folder.write(
        ".cargo/config.toml",
        format!(
            "[build]\nrustc-wrapper = \"{every}\"\nrustc-workspace-wrapper = \"{own}\"\n\
             [target.x86_64-unknown-linux-gnu]\nrunner = [\"sh\", \"-c\", 'echo through; exec \"$0\" \"$@\"']\n"
        ),
    );
    let raced = cargo_foresee(&folder, &["run", "-q", "--", "race"]);
    assert_code(&raced, 66);
    assert!(raced.stdout.starts_with("through\n[\"race\"]"), "{}", raced.stdout);
    let log = String::from_utf8(folder.read("log")).unwrap();
    assert!(log.contains("every") && log.contains("own"), "{log}");
}

#[test]
fn what_cannot_work_is_said_before_anything_is_built() {
    let folder = project();
    for (flags, part) in [
        ("-Zsanitizer=address", "-Zsanitizer=address in your rustflags"),
        ("-C target-feature=+crt-static", "a statically linked program cannot be recorded"),
    ] {
        with_flags(&folder, flags, &["run"]).one_message(2, &[part, "leave it out"]);
    }
    let refused = |args: &[&str], parts: &[&str]| cargo_foresee(&folder, args).one_message(2, parts);
    refused(
        &["run", "--target", "wasm32-wasip1"],
        &["--target wasm32-wasip1", "x86_64-unknown-linux-gnu only"],
    );
    refused(&["test", "--engine", "hbb"], &["unknown engine `hbb`"]);
    refused(&["test", "--suppressions", "none"], &["none: cannot read"]);
    folder
        .foresee(&["cargo", "bench"])
        .one_message(2, &["`bench`: expected one of run, test, build, nextest"]);
    folder.write("file", "");
    refused(&["build", "--target-dir", "file"], &["file/foresee: cannot write", "--target-dir"]);
    assert_code(&cargo_foresee(&folder, &["run", "--format", "jsn"]), 2);
    assert!(!folder.path("target/foresee/x86_64-unknown-linux-gnu").exists());
    folder.foresee(&["cargo-runner", "/bin/true"]).one_message(2, &["FORESEE_RUNNER"]);
}

#[test]
fn what_cargo_says_passes_through() {
    let folder = project();
    assert_code(&cargo_foresee(&folder, &["run", "--no-such-option"]), 2);
    let unknown = cargo_foresee(&folder, &["run", "--bin", "none"]);
    assert_code(&unknown, 101);
    assert!(unknown.stderr.contains("no bin target named `none`"), "{}", unknown.stderr);
    folder.write("src/lib.rs", "fn f() -> u32 { \"text\" }\n");
    let broken = cargo_foresee(&folder, &["test", "--format", "json"]);
    assert_code(&broken, 101);
    assert_eq!(broken.stdout, "", "nothing was checked");
    assert!(broken.stderr.contains("error[E0308]"), "{}", broken.stderr);
    fs::remove_file(folder.path("Cargo.toml")).unwrap();
    let nothing = cargo_foresee(&folder, &["run"]);
    assert_code(&nothing, 101);
    assert!(nothing.stderr.contains("could not find `Cargo.toml`"), "{}", nothing.stderr);
}

#[test]
fn help_tells_ours_from_cargos() {
    let folder = Folder::new();
    assert!(!Path::new(&folder.path("Cargo.toml")).exists());
    for args in [&["run", "--help"][..], &["test", "-h"]] {
        let help = cargo_foresee(&folder, args);
        assert_code(&help, 0);
        assert!(
            help.stdout.contains("--engine") && help.stdout.contains("cargo foresee run --example flight")
        );
    }
}
