//! How much of a run is recorded: `--max-size`, `--keep-last`, `--only` and `--skip`, on real programs of Rust and C.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::{Folder, Outcome, outcome};

/// Races by `early`, then at length counts under a mutex, then races by `late`.
const LONG: &str = r#"#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int early, late;
static long counter, rounds;
static void count(void) {
    for (int i = 0; i < 10; i++) counter++;
}
static void *bank_early(void *unused) {
    early++;
    return unused;
}
static inline __attribute__((always_inline)) void bank_late(void) { late++; }
static void *last(void *unused) {
    bank_late();
    return unused;
}
static void *work(void *unused) {
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&outer);
        count();
        pthread_mutex_lock(&inner);
        count();
        pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&outer);
    }
    return unused;
}
static void both(void *(*function)(void *), void *with) {
    pthread_t other;
    pthread_create(&other, 0, function, with);
    function(with);
    pthread_join(other, 0);
}
int main(int count, char **words) {
    rounds = atol(words[count - 1]);
    both(bank_early, 0);
    both(work, 0);
    both(last, 0);
    printf("%ld\n", counter);
    return 0;
}
"#;

/// The same of Rust, with locks of all kinds.
const RUST: &str = r#"use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, RwLock};
static OUTER: Mutex<u64> = Mutex::new(0);
static INNER: RwLock<u64> = RwLock::new(0);
static mut EARLY: u32 = 0;
static mut LATE: u32 = 0;
mod bank {
    #[inline(never)]
    pub fn early() { unsafe { crate::EARLY += 1 } }
    #[inline(always)]
    pub fn late() { unsafe { crate::LATE += 1 } }
}
fn work(rounds: u64) {
    for round in 0..rounds {
        let mut outer = OUTER.lock().unwrap();
        *outer += 1;
        if round % 4 == 0 {
            *INNER.write().unwrap() += *outer;
        }
        drop(outer);
        let inner = INNER.read().unwrap();
        std::hint::black_box(*inner);
    }
}
/// Both threads are there when the function begins; that orders nothing.
fn both(function: impl Fn() + Sync) {
    let here = AtomicU32::new(0);
    let after_meeting = || {
        here.fetch_add(1, Relaxed);
        while here.load(Relaxed) < 2 {
            std::thread::yield_now();
        }
        function();
    };
    std::thread::scope(|scope| {
        scope.spawn(after_meeting);
        scope.spawn(after_meeting);
    });
}
fn main() {
    let rounds = std::env::args().nth(1).unwrap().parse().unwrap();
    both(bank::early);
    both(|| work(rounds));
    both(|| bank::late());
    println!("{}", OUTER.lock().unwrap());
}
"#;

/// The Rust program, built in both profiles.
static BUILT: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    let project: PathBuf = [env!("CARGO_TARGET_TMPDIR"), "extent"].iter().collect();
    fs::create_dir_all(project.join("src")).unwrap();
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[profile.release]\ndebug = 1\n";
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    fs::write(project.join("src/main.rs"), RUST).unwrap();
    ["debug", "release"].map(|profile| {
        let mut command = cargo(&project, "build");
        command.args((profile == "release").then_some("--release"));
        let built = outcome(command.output().unwrap());
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        project.join("target/foresee/x86_64-unknown-linux-gnu").join(profile).join("app")
    })
});

fn cargo(project: &std::path::Path, what: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
    command.args(["foresee", what]).current_dir(project).env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

/// What machines read of a run.
fn report(outcome: &Outcome) -> Value {
    let start = outcome.stdout.find('{').unwrap_or_else(|| panic!("{}", outcome.stderr));
    serde_json::from_str(&outcome.stdout[start..]).unwrap()
}

/// What races, and how certainly, each once.
fn races(report: &Value) -> Vec<(String, String)> {
    let each = report["findings"].as_array().unwrap().iter().map(|finding| {
        assert_eq!(finding["kind"], "race", "{finding}");
        let target = finding["events"][0]["target"].as_str().unwrap();
        (
            target.rsplit("::").next().unwrap().to_lowercase(),
            finding["certainty"].as_str().unwrap().to_owned(),
        )
    });
    let mut all: Vec<_> = each.collect();
    all.sort();
    all.dedup();
    all
}

/// `foresee run` with these options, of the C program and of both builds of the Rust program.
fn each_program(options: &[&str], rounds: &str, check: impl Fn(&str, &Outcome)) {
    let folder = Folder::new();
    folder.build("long.c", LONG);
    let c = folder.path("prog");
    for program in [&c, &BUILT[0], &BUILT[1]] {
        let name = program.to_str().unwrap();
        let run = folder.foresee(&[&["run", "--format", "json"], options, &["--", name, rounds]].concat());
        check(name, &run);
    }
}

#[test]
fn recording_stops_at_its_size_and_the_program_goes_on() {
    each_program(&["--max-size", "3M"], "60000", |program, run| {
        assert_eq!(run.code, Some(66), "{program}: {}", run.stderr);
        assert!(run.stdout.starts_with(if program.ends_with("prog") { "2400000\n" } else { "120000\n" }));
        assert!(run.stderr.contains("recording stops: the recording is as large as --max-size allows"));
        let report = report(run);
        assert_eq!(races(&report), [("early".to_owned(), "observed".to_owned())], "{program}");
        let missing = report["stats"]["missing"][0].as_str().unwrap();
        assert!(missing.contains("the end of the run is not in the trace"), "{missing}");
    });
}

#[test]
fn a_trace_tells_that_recording_stopped() {
    let folder = Folder::new();
    folder.build("long.c", LONG);
    let mut command = folder.command(&["record", "--keep-raw", "--", "./prog", "20000"]);
    let recorded = outcome(command.env("FORESEE_OPTIONS", "max-size=2M").output().unwrap());
    assert_eq!((recorded.code, recorded.stdout.as_str()), (Some(0), "800000\n"), "{}", recorded.stderr);
    assert!(fs::metadata(folder.path("foresee.raw")).unwrap().len() <= 2_000_000);
    folder.foresee(&["trace", "validate", "foresee.ft"]).success();
    let info = folder.foresee(&["trace", "info", "foresee.ft"]).success();
    assert!(
        info.contains(
            "the end of the run is not in the trace: the recording is as large as --max-size allows"
        ),
        "{info}"
    );
    let checked = folder.foresee(&["check", "foresee.ft"]);
    assert!(checked.stderr.contains("the end of the run is not in the trace"), "{}", checked.stderr);
    let wrong = folder.foresee(&["run", "--max-size", "10k", "--", "./prog", "1"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("expected at least 1M"), "{}", wrong.stderr);
}

#[test]
fn the_end_of_a_run_is_kept() {
    each_program(&["--keep-last", "2M"], "90000", |program, run| {
        assert_eq!(run.code, Some(66), "{program}: {}", run.stderr);
        assert_eq!(run.stderr, "", "{program}");
        let report = report(run);
        assert_eq!(races(&report), [("late".to_owned(), "observed".to_owned())], "{program}");
        let missing = report["stats"]["missing"][0].as_str().unwrap();
        assert!(missing.contains("the beginning of the run is not in the trace"), "{missing}");
    });
}

/// Wherever the cut is, and wherever the end: with locks held, waited for, taken just then.
#[test]
fn whatever_is_cut_is_a_possible_run() {
    let folder = Folder::new();
    folder.build("long.c", LONG);
    let c = folder.path("prog");
    for round in 0..8 {
        let time = format!("{}ms", 60 + 17 * round);
        for program in [&c, &BUILT[0], &BUILT[1]] {
            let program = program.to_str().unwrap();
            let trace = ["record", "--keep-last", "1M", "--timeout", &time, "--", program, "100000000"];
            folder.foresee(&trace);
            let checked = folder.foresee(&["check", "--format", "json", "foresee.ft"]);
            assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
            folder.foresee(&["trace", "validate", "foresee.ft"]).success();
        }
    }
    let info = folder.foresee(&["trace", "info", "foresee.ft"]).success();
    assert!(
        info.contains("the beginning of the run is not in the trace: only the last part of the run is kept"),
        "{info}"
    );
}

/// Two threads hang, each in want of what the other one holds, while a third one is busy.
const HANGS: &str = r#"
#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int count;
static void *work(void *unused) {
    for (;;) __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    return unused;
}
static void *hang(void *unused) {
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&first);
    return unused;
}
int main(void) {
    pthread_t other, busy;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&other, 0, hang, 0);
    pthread_create(&busy, 0, work, 0);
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&second);
    return 0;
}
"#;

#[test]
fn what_hangs_since_before_the_cut_is_seen() {
    let folder = Folder::new();
    folder.build("hangs.c", HANGS);
    let run = folder.foresee(&[
        "run",
        "--format",
        "json",
        "--keep-last",
        "1M",
        "--timeout",
        "500ms",
        "--",
        "./prog",
    ]);
    let report = report(&run);
    assert!(report["stats"]["missing"][0].as_str().unwrap().contains("beginning"));
    let [finding] = &report["findings"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&finding["kind"], &finding["certainty"]), (&"deadlock".into(), &"observed".into()));
}

#[test]
fn accesses_of_some_functions_only() {
    let all = |options: &[&str], expected: &[&str]| {
        each_program(options, "50", |program, run| {
            let report = report(run);
            let certain = expected.iter().map(|name| ((*name).to_owned(), "observed".to_owned()));
            assert_eq!(races(&report), certain.collect::<Vec<_>>(), "{program} {options:?}: {report}");
            let missing = report["stats"]["missing"][0].as_str().unwrap();
            assert!(missing.contains("--only and --skip"), "{missing}");
            assert_eq!(report["findings"][0]["witness"], Value::Null);
        });
    };
    // Those of C have no module. One function is inlined into another.
    all(&["--skip", "*bank*late"], &["early"]);
    all(&["--only", "*bank*late"], &["late"]);
    all(&["--only", "*bank*", "--skip", "*late"], &["early"]);
}

/// A race that only another schedule shows, and one that this run shows.
const PREDICTED: &str = r#"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
int hidden, seen, mine;
__attribute__((noinline)) static void noise(void) { mine++; }
static void *work(void *unused) {
    seen++;
    hidden = 1;
    pthread_mutex_lock(&guard);
    pthread_mutex_unlock(&guard);
    return unused;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, work, 0);
    seen++;
    usleep(200000);
    pthread_mutex_lock(&guard);
    pthread_mutex_unlock(&guard);
    hidden = 2;
    noise();
    pthread_join(other, 0);
    return 0;
}
"#;

#[test]
fn without_all_accesses_predictions_are_candidates() {
    let folder = Folder::new();
    folder.build("predicted.c", PREDICTED);
    let found = |options: &[&str]| {
        let line = [&["run", "--format", "json"], options, &["--", "./prog"]].concat();
        races(&report(&folder.foresee(&line)))
    };
    let pair = |name: &str, certainty: &str| (name.to_owned(), certainty.to_owned());
    assert_eq!(found(&[]), [pair("hidden", "predicted"), pair("seen", "observed")]);
    assert_eq!(found(&["--skip", "noise"]), [pair("hidden", "candidate"), pair("seen", "observed")]);
    assert_eq!(found(&["--only", "noise"]), []);
    let wrong = folder.foresee(&["run", "--only", "no_such_function*", "--", "./prog"]);
    wrong.one_message(2, &["./prog", "no function matches `no_such_function*`"]);
}

#[test]
fn cargo_passes_the_size_on() {
    let project = BUILT[0].ancestors().nth(5).unwrap();
    let options = ["--max-size", "3M", "--format", "json", "--", "60000"];
    let run = outcome(cargo(project, "run").args(options).output().unwrap());
    assert!(run.stderr.contains("recording stops"), "{}", run.stderr);
    assert_eq!(races(&report(&run)), [("early".to_owned(), "observed".to_owned())]);
}
