//! Rust programs of all kinds of synchronisation: built as users do, recorded and checked by all engines.
//!
//! The programs are in `tests/programs/rust`. They are built once for each profile and linker; all runs of a test go on at the
//! same time, more than there are processors, so that threads wait for each other in many ways.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::hangs;
use crate::support::{Folder, Outcome, outcome};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/rust");

/// Programs that were built.
struct Built {
    folder: PathBuf,
}

static DEBUG: LazyLock<Built> = LazyLock::new(|| Built::new("debug", "lld", ""));
static RELEASE: LazyLock<Built> = LazyLock::new(|| Built::new("release", "lld", ""));
static DEBUG_GNU: LazyLock<Built> = LazyLock::new(|| Built::new("debug", "gnu", "-Clinker-features=-lld"));
static RELEASE_GNU: LazyLock<Built> =
    LazyLock::new(|| Built::new("release", "gnu", "-Clinker-features=-lld"));

impl Built {
    fn new(profile: &'static str, linker: &str, flags: &str) -> Self {
        let target: PathBuf = [env!("CARGO_TARGET_TMPDIR"), "programs", linker].iter().collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
        command.args(["foresee", "build", "--locked", "--target-dir"]).arg(&target);
        command.args((profile == "release").then_some("--release"));
        command.current_dir(SOURCES).env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", flags);
        let built = outcome(command.output().unwrap());
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        Built { folder: target.join("foresee/x86_64-unknown-linux-gnu").join(profile) }
    }

    fn program(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// `foresee run`, with the report of machines.
    fn run(&self, options: &[&str], program: &str, words: &[&str]) -> Outcome {
        self.run_by("counter", options, program, words)
    }

    /// The same, ordered by this clock: which one is used otherwise depends on how many processors there are.
    fn run_by(&self, clock: &str, options: &[&str], program: &str, words: &[&str]) -> Outcome {
        let program = self.program(program);
        let folder = Folder::new();
        let mut command =
            folder.command(&[&["run", "--format", "json"], options, &["--", &program], words].concat());
        outcome(command.env("FORESEE_CLOCK", clock).output().unwrap())
    }
}

/// Does all of `work`, several at a time, and tells of each that panics.
fn at_once<T: Sync>(work: &[T], count: usize, each: impl Fn(&T) + Sync) {
    let next = Mutex::new(work.iter());
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                loop {
                    let Some(item) = next.lock().unwrap().next() else { break };
                    each(item);
                }
            });
        }
    });
}

const GROUPS: [&str; 16] = [
    ASSEMBLY,
    "atomics",
    "attempts",
    "channels",
    HANDED_OVER,
    "late",
    "library",
    "locks",
    "newest_parking",
    "outside",
    "parking",
    "sharing",
    "spinning",
    "stealing",
    "threads",
    "waiting",
];

/// The group of locks that are given back by other threads than took them: what rests on them is in doubt, and nothing else. What is
/// predicted by their having been locks before is a candidate, if anything is.
const HANDED_OVER: &str = "handed_over";

/// The group that synchronises by assembly: what that may have ordered is in doubt.
const ASSEMBLY: &str = "assembly";

/// Whether a finding with this certainty in a correct program of this group is a false alarm.
fn is_alarm(group: &str, certainty: &str) -> bool {
    ![HANDED_OVER, ASSEMBLY].contains(&group) || certainty != "candidate"
}

/// Nothing is found, and nothing is in doubt.
fn nothing_is_found(built: &Built, times: usize) {
    let clock = |time| ["counter", "time", "pages"][time % 3];
    let runs = (0..times).flat_map(|time| GROUPS.map(|group| (clock(time), group)));
    let runs: Vec<(&str, &str)> =
        runs.filter(|(clock, group)| *clock == "counter" || *group != ASSEMBLY).collect();
    let failures = Mutex::new(Vec::new());
    at_once(&runs, 4, |(clock, group)| {
        let Outcome { code, stdout, stderr } = built.run_by(clock, &[], "correct", &[group]);
        let report = stdout.find('{').map_or("", |at| &stdout[at..]);
        let report: Value = serde_json::from_str(report).unwrap_or_default();
        let missing = report["stats"]["missing"].as_array().map_or(0, Vec::len);
        let found = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
        let alarms =
            found.iter().filter(|one| is_alarm(group, one["certainty"].as_str().unwrap_or_default()));
        // The program as a whole has assembly, so nobody would record it in pages who is not told to: what is not known then is said.
        let is_said = |line: &str| *clock != "counter" && line.contains("FORESEE_CLOCK=counter");
        let is_silent = stderr.lines().all(is_said);
        if alarms.count() > 0 || code != Some(0) || !is_silent || missing > 0 && *group != HANDED_OVER {
            let (findings, missing) = (&report["findings"], &report["stats"]["missing"]);
            failures
                .lock()
                .unwrap()
                .push(format!("{group} by {clock}: {code:?}\n{stderr}{findings:#}\n{missing:#}"));
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} runs:\n{}", failures.len(), runs.len(), failures.join("\n"));
}

#[test]
fn nothing_is_found_in_correct_programs_debug() {
    nothing_is_found(&DEBUG, 10);
}

#[test]
fn nothing_is_found_in_correct_programs_release() {
    nothing_is_found(&RELEASE, 10);
}

#[test]
fn nothing_is_found_in_correct_programs_debug_gnu_ld() {
    nothing_is_found(&DEBUG_GNU, 3);
}

#[test]
fn nothing_is_found_in_correct_programs_release_gnu_ld() {
    nothing_is_found(&RELEASE_GNU, 3);
}

/// What reads see is what recorded code wrote, or code that is known not to be recorded, such as Rust's library when a vector grows. A
/// write that shows beside these is one that the table of effects lacks.
#[test]
fn no_write_of_correct_programs_is_unexplained() {
    let built: [&Built; 2] = [&DEBUG, &RELEASE];
    at_once(&built.map(|built| GROUPS.map(|group| (built, group))).concat(), 4, |(built, group)| {
        let Outcome { stdout, stderr, .. } = built.run(&["--values"], "correct", &[group]);
        let report = stdout.find('{').map_or("", |at| &stdout[at..]);
        let report: Value = serde_json::from_str(report).unwrap_or_else(|_| panic!("{group}: {stderr}"));
        let values = &report["stats"]["values"];
        assert!(values["unexplained"] == 0 && values["compared"] != 0, "{group}: {values:#}");
    });
}

/// Records a program and checks its raw and its packed trace: what is found in each, by certainty.
fn raw_and_packed(built: &Built, program: &str, words: &[&str]) -> [Vec<String>; 2] {
    let folder = Folder::new();
    let program = built.program(program);
    let line = [&["record", "-o", "run.ft", "--keep-raw", "--", &program], words].concat();
    assert_eq!(folder.foresee(&line).code, Some(0), "{program} {words:?}");
    ["run.ft", "run.raw"].map(|trace| {
        let outcome = folder.foresee(&["check", trace, "--format", "json"]);
        let certainty = |finding: Value| format!("{} {}", finding["certainty"], finding["kind"]);
        findings(&outcome).into_iter().map(certainty).collect()
    })
}

#[test]
fn correct_programs_are_judged_alike_from_raw_and_packed_traces() {
    let built: [&Built; 2] = [&DEBUG, &RELEASE];
    at_once(&built.map(|built| GROUPS.map(|group| (built, group))).concat(), 4, |(built, group)| {
        let [packed, raw] = raw_and_packed(built, "correct", &[group]);
        let mut found = packed.iter().chain(&raw).filter_map(|one| one.split('"').nth(1));
        assert!(!found.any(|certainty| is_alarm(group, certainty)), "{group}: {packed:?} {raw:?}");
    });
}

/// What `fetch_max` orders is not in any trace: what looks like a race is never reported as one.
#[test]
fn what_cannot_be_seen_is_doubted_on_every_path() {
    for built in [&*DEBUG, &*RELEASE] {
        for found in raw_and_packed(built, "fetch_max", &[]) {
            assert_eq!(found, [r#""candidate" "race""#]);
        }
        let live = built.run(&[], "fetch_max", &[]);
        let found = findings(&live);
        assert!(found.iter().all(|finding| finding["certainty"] == "candidate"), "{found:?}");
    }
}

/// Assembly makes nothing unknown where it does not run.
#[test]
fn what_does_not_run_hides_nothing() {
    for built in [&*DEBUG, &*RELEASE] {
        let found = findings(&built.run(&[], "unused_assembly", &[]));
        let told: Vec<_> = found.iter().map(|one| (&one["kind"], &one["certainty"])).collect();
        assert_eq!(told, [(&"deadlock".into(), &"predicted".into())]);
    }
}

/// Where in its file a wrong program is marked by `// name`.
fn marked(name: &str) -> BTreeSet<(String, u64)> {
    let mut found = BTreeSet::new();
    for file in ["races.rs", "deadlocks.rs"] {
        let path: PathBuf = [SOURCES, "src/bin/broken", file].iter().collect();
        for (line, text) in (1..).zip(fs::read_to_string(path).unwrap().lines()) {
            if text.ends_with(&format!("// {name}")) {
                found.insert((file.to_owned(), line));
            }
        }
    }
    found
}

fn findings(outcome: &Outcome) -> Vec<Value> {
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    report["findings"].as_array().unwrap().clone()
}

/// The places that a finding tells of.
fn places(finding: &Value) -> BTreeSet<(String, u64)> {
    let place = |event: &Value| {
        let at = &event["location"];
        let file = at["file"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        (file, at["line"].as_u64().unwrap_or_default())
    };
    finding["events"].as_array().unwrap().iter().map(place).collect()
}

/// A wrong program, and how certain what is found in it is.
struct Wrong {
    name: &'static str,
    kind: &'static str,
    certainty: &'static str,
    options: &'static [&'static str],
}

const fn race(name: &'static str, certainty: &'static str) -> Wrong {
    Wrong { name, kind: "race", certainty, options: &[] }
}

const fn inversion(name: &'static str) -> Wrong {
    Wrong { name, kind: "deadlock", certainty: "predicted", options: &[] }
}

const fn hangs(name: &'static str) -> Wrong {
    Wrong { name, kind: "deadlock", certainty: "observed", options: &["--timeout", "2s"] }
}

const WRONG: &[Wrong] = &[
    race("static_mut", "observed"),
    race("predicted", "predicted"),
    race("beside_formatting", "predicted"),
    race("beside_copies", "predicted"),
    race("relaxed_publication", "observed"),
    race("missing_fence", "observed"),
    race("double_checked", "observed"),
    race("unsound_send", "observed"),
    race("unsound_sync", "observed"),
    race("reallocated", "observed"),
    race("used_after_free", "observed"),
    race("two_locks", "observed"),
    race("written_under_read_lock", "observed"),
    race("after_wait", "observed"),
    race("no_barrier", "observed"),
    race("beside_once", "observed"),
    race("other_joined", "observed"),
    race("parking_lot", "predicted"),
    race("only_release_store", "observed"),
    race("after_newest_wait", "observed"),
    race("after_hand_over", "observed"),
    race("after_failed_try", "observed"),
    race("beside_hand_over", "predicted"),
    race("beside_stdin", "observed"),
    inversion("inversion"),
    inversion("parking_lot_inversion"),
    inversion("rwlock_inversion"),
    inversion("read_write_inversion"),
    inversion("parking_lot_rwlock_inversion"),
    inversion("newest_inversion"),
    inversion("reentrant_inversion"),
    inversion("upgradable_inversion"),
    inversion("spin_inversion"),
    inversion("read_again"),
    inversion("parking_lot_read_again"),
    inversion("three"),
    inversion("mixed"),
    hangs("hangs"),
    hangs("parking_lot_hangs"),
    hangs("rwlock_hangs"),
];

/// What is wrong is found, as what it is, where it is; and nothing else is.
fn wrong_programs(built: &Built) {
    let failures = Mutex::new(Vec::new());
    at_once(WRONG, 3, |wrong| {
        let outcome = built.run(wrong.options, "broken", &[wrong.name]);
        let marked = marked(wrong.name);
        assert!(!marked.is_empty(), "{}: nothing is marked", wrong.name);
        let found = if outcome.code == Some(66) { findings(&outcome) } else { Vec::new() };
        let fits = |finding: &Value| {
            finding["kind"] == wrong.kind
                && finding["certainty"] == wrong.certainty
                && places(finding).is_subset(&marked)
        };
        let all: BTreeSet<_> = found.iter().flat_map(places).collect();
        if found.is_empty() || !found.iter().all(fits) || all != marked {
            let told = found.iter().map(|finding| {
                format!("  {} {} {:?}\n", finding["certainty"], finding["kind"], places(finding))
            });
            let told: String = told.collect();
            failures.lock().unwrap().push(format!(
                "{}: {:?}, marked {marked:?}, found\n{told}{}",
                wrong.name, outcome.code, outcome.stderr
            ));
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn wrong_programs_debug() {
    wrong_programs(&DEBUG);
}

#[test]
fn wrong_programs_release() {
    wrong_programs(&RELEASE);
}

/// Ctrl-C ends a program that hangs, and what it hangs in is told.
#[test]
fn who_waits_for_what_is_told_of_programs_that_hang() {
    let hang: [(&str, &[&str]); 5] = [
        ("again", &["`main` waits for `hangs::MUTEX` at ", ", which it has locked itself at "]),
        ("upgraded", &["`main` waits for `hangs::LOCK` at ", ", which it has locked itself at "]),
        (
            "joined",
            &["`main` waits for the end of `T1`", "`T1` waits for a notification of `hangs::CONDITION` at "],
        ),
        ("received", &["`main` waits for `unpark` at ", "`T1` waits for `hangs::MUTEX` at "]),
        ("parked", &["`main` waits for `unpark` at "]),
    ];
    for (built, (which, said)) in
        [&*DEBUG, &*RELEASE].into_iter().flat_map(|built| hang.map(|one| (built, one)))
    {
        let found = hangs::findings(&built.run(&["--timeout", "700ms"], "hangs", &[which]));
        let [(kind, message)] = &found[..] else { panic!("{which}: {found:?}") };
        assert_eq!(kind, "observed deadlock", "{which}: {message}");
        assert!(said.iter().all(|part| message.contains(part)), "{which}: {message}");
    }
    for (built, which) in
        [&*DEBUG, &*RELEASE].into_iter().flat_map(|built| ["by_turns", "sleeping"].map(|one| (built, one)))
    {
        let run = built.run(&["--timeout", "700ms"], "hangs", &[which]);
        assert_eq!(hangs::findings(&run), [], "{which}");
    }
}

#[test]
fn an_interrupted_program_that_hangs() {
    let folder = Folder::new();
    let mut command = folder.command(&["run", "--format", "json", "--", &DEBUG.program("broken"), "hangs"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let outcome = outcome(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    let found = findings(&outcome);
    assert_eq!((&found[0]["kind"], &found[0]["certainty"]), (&"deadlock".into(), &"observed".into()));
    assert_eq!(places(&found[0]), marked("hangs"));
}
