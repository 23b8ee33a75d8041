//! Rust programs end, or leave functions, in every way: they do as without us, and the trace is valid and complete.

use std::process::Command;

use crate::support::{Folder, outcome};

const MANIFEST: &str = "[package]\nname = \"ends\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// Counts to 100 under a lock, and ends as its argument says.
const MAIN: &str = r#"
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Barrier, Mutex};
use std::thread;

static COUNTER: Mutex<u32> = Mutex::new(0);
static BOTH: Barrier = Barrier::new(2);

fn count(times: u32) {
    for _ in 0..times {
        *COUNTER.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
    }
}

struct Counts;
impl Drop for Counts {
    fn drop(&mut self) { count(1) }
}

#[inline(never)]
fn fall(n: u32) -> u32 {
    let _counts = Counts;
    if n == 0 { panic!("at the bottom") }
    fall(n - 1) + 1
}

#[inline(never)]
#[allow(unconditional_recursion)]
fn deep(n: u64) -> u64 {
    let here = [n; 100];
    std::hint::black_box(&here);
    deep(n + 1) + here[7]
}

fn main() {
    let how = std::env::args().nth(1).unwrap();
    println!("{how}");
    count(100);
    match how.as_str() {
        "returns" => {}
        "panics" => panic!("in main"),
        "thread-panics" => {
            let ended = thread::spawn(|| { let _held = COUNTER.lock(); panic!("in a thread") }).join();
            assert!(ended.is_err() && COUNTER.is_poisoned());
            count(10);
        }
        "unwinds" => {
            for _ in 0..5 { assert!(catch_unwind(AssertUnwindSafe(|| fall(9))).is_err()); }
            let threads: Vec<_> = (0..3).map(|_| thread::spawn(|| catch_unwind(|| fall(9)).is_err())).collect();
            assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
            println!("{}", COUNTER.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
        "aborts" => std::process::abort(),
        "overflows" => println!("{}", deep(1)),
        "thread-overflows" => println!("{:?}", thread::spawn(|| deep(1)).join()),
        "exits" => std::process::exit(7),
        "exits-while-threads-run" => {
            thread::spawn(|| { BOTH.wait(); loop { count(1) } });
            BOTH.wait();
            std::process::exit(8);
        }
        _ => unreachable!(),
    }
}
"#;

/// Ways to end, and how often the lock is taken: at least, if it cannot be told.
const ENDINGS: [(&str, usize, bool); 9] = [
    ("returns", 100, true),
    ("panics", 100, true),
    ("thread-panics", 111, true),
    ("unwinds", 100 + 8 * 10 + 1, true),
    ("aborts", 100, true),
    ("overflows", 100, true),
    ("thread-overflows", 100, true),
    ("exits", 100, true),
    ("exits-while-threads-run", 100, false),
];

#[test]
fn rust_programs_end_in_every_way() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("src")).unwrap();
    folder.write("Cargo.toml", MANIFEST);
    folder.write("src/main.rs", MAIN);
    let native = outcome(
        Command::new(env!("CARGO")).args(["build", "-q"]).current_dir(folder.path(".")).output().unwrap(),
    );
    assert_eq!(native.code, Some(0), "{}", native.stderr);
    for (how, acquires, exactly) in ENDINGS {
        // A shell says 128 + n of a signal, as foresee does.
        let run = format!("ulimit -c 0; target/debug/ends {how}; exit $?");
        let native =
            outcome(Command::new("sh").args(["-c", &run]).current_dir(folder.path(".")).output().unwrap());
        let mut recorded = Command::new("prlimit");
        recorded.args(["--core=0", env!("CARGO_BIN_EXE_cargo-foresee"), "foresee", "run", "-q", "--trace"]);
        recorded.args(["run.ft", "--", how]).env("RUST_BACKTRACE", "0").current_dir(folder.path("."));
        let recorded = outcome(recorded.output().unwrap());
        assert_eq!(
            (recorded.code, &recorded.stdout),
            (native.code, &native.stdout),
            "{how}: {}{}",
            recorded.stderr,
            native.stderr
        );
        folder.foresee(&["trace", "validate", "run.ft"]).success();
        let dump = folder.foresee(&["trace", "dump", "run.ft"]).success();
        let taken = dump.lines().filter(|line| line.contains("|acq(") && line.contains("COUNTER")).count();
        assert!(if exactly { taken == acquires } else { taken >= acquires }, "{how}: {taken}");
        if how == "unwinds" {
            let count = |what: &str| dump.lines().filter(|line| line.contains(what)).count();
            assert_eq!(count("|enter("), count("|exit("), "{how}");
        }
    }
}
