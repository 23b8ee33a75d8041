//! What threads know of each other (`mttl`) where that is easily missed or made up, over recorded runs and in the running program: each case was a false alarm, or a violation that was not told.

use crate::cargo::cargo_foresee;
use crate::programs::compilers;
use crate::support::{Folder, outcome};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

/// Over the recorded run, and while it runs.
const WAYS: [&[&str]; 2] = [&["--engine", "mttl", "--spec"], &["--monitor"]];

/// What is said of a case of the program, and the exit code.
fn said(folder: &Folder, way: &[&str], case: &str) -> (String, Option<i32>) {
    let said = folder.foresee(&[&["run"], way, &["knowing.rv", "--", "./prog", case]].concat());
    (said.stdout + &said.stderr, said.code)
}

#[test]
fn threads_know_what_they_can_know_and_nothing_else() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("knowing.rv", std::fs::read(format!("{SOURCES}/knowing.rv")).unwrap());
    for (compiler, _) in compilers() {
        let source = format!("{SOURCES}/knowing.c");
        let mut compile = folder.command(&["cc", "-g", "-O1", &source, "-o", "prog", "-pthread"]);
        outcome(compile.env("FORESEE_CC", compiler).output().unwrap()).success();
        for way in WAYS {
            for case in ["try", "before", "mutex", "spin", "semaphore", "barrier", "stream"] {
                let (all, code) = said(&folder, way, case);
                assert!(code == Some(0) && all.contains("nothing found"), "{compiler} {way:?} {case}: {all}");
            }
            let (all, code) = said(&folder, way, "missed");
            let part = "observed property violation of `ExclusiveSections`";
            assert!(code == Some(66) && all.matches(part).count() == 1, "{compiler} {way:?}: {all}");
            let (all, _) = said(&folder, way, "signals");
            assert!(!all.contains("observed property violation"), "{compiler} {way:?}: {all}");
            let (all, _) = said(&folder, way, "recovers");
            let times = all.matches("observed property violation").count();
            assert!(times == 1 && all.contains("not as wanted"), "{compiler} {way:?}: {all}");
            let (all, _) = said(&folder, way, "deeper");
            assert!(all.contains("called 2 times, x is 5"), "{compiler} {way:?}: {all}");
        }
    }
    let (all, code) = said(&folder, WAYS[1], "crowd");
    let part = "more threads than can be monitored";
    assert!(code == Some(3) && all.contains(part) && !all.contains("observed"), "{all}");
}

/// Threads that wait for a lock of Rust's library, or until they are unparked.
const WAITING: &str = r#"
use std::sync::{Mutex, RwLock};
static LOCK: Mutex<i64> = Mutex::new(0);
static OTHER: RwLock<i64> = RwLock::new(0);
static PLAIN: RwLock<i64> = RwLock::new(0);
fn section(times: i64) {
    for _ in 0..times {
        let mut count = LOCK.lock().unwrap();
        foresee::local!(critical = true);
        *count += 1;
        std::thread::yield_now();
        foresee::local!(critical = false);
        drop(count);
        let mut count = OTHER.write().unwrap();
        foresee::local!(critical = true);
        *count += 1;
        std::thread::yield_now();
        foresee::local!(critical = false);
        drop(count);
    }
}
fn main() {
    foresee::on_violation("leave", |_| panic!("nothing is violated"));
    let all: Vec<_> = (0..3).map(|_| std::thread::spawn(|| section(300))).collect();
    all.into_iter().for_each(|one| one.join().unwrap());
    let once = || {
        foresee::local!(critical = true);
        *PLAIN.write().unwrap() += 1;
        foresee::local!(critical = false);
    };
    let parked = std::thread::spawn(move || { std::thread::park(); once() });
    once();
    parked.thread().unpark();
    parked.join().unwrap();
}
"#;

#[test]
fn who_waits_for_locks_of_rust_knows_what_was_done_under_them() {
    let folder = Folder::new();
    folder.package_with_sdk("");
    folder.write("src/main.rs", WAITING);
    let spec = "property ExclusiveSections {\n    thread i, j;\n    local critical: bool = false;\n    mttl: @i(critical -> !exists j != i: @j critical)\n    \
                @violation { report \"both are inside\"; recover \"leave\"; }\n}\n";
    folder.write("p.rv", spec);
    for way in [["--monitor", "p.rv", "--"].as_slice(), &["--engine", "mttl", "--spec", "p.rv", "--"]] {
        let said = cargo_foresee(&folder, &[&["run"], way].concat());
        let all = said.stdout + &said.stderr;
        assert!(said.code == Some(0) && all.contains("nothing found"), "{way:?}: {all}");
    }
}
