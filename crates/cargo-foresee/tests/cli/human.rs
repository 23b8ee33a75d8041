//! What a person reads about a program: the example that comes first in the README, word for word.

use std::fs;

use serde_json::Value;

use crate::cargo::cargo_foresee;
use crate::support::Folder;

/// What is found in the bank, without its stories, whose events passed over are not the same in every run.
const BANK: &str = "\
predicted data race on `bank::MOVED` (8 bytes)  [race-1]
    ┌─ examples/bank.rs:22:9
 22 │         MOVED += amount;
    │         ^^^^^^^^^^^^^^^ `ann` writes `bank::MOVED` here, holding `bank::CHECKING` (locked in line 20)
    │   in bank::transfer
    │   in bank::main::{closure#0} (examples/bank.rs:31:28)
    ┌─ examples/bank.rs:22:9
 22 │         MOVED += amount;
    │         ^^^^^^^^^^^^^^^ `bob` reads `bank::MOVED` here, holding `bank::SAVINGS` (locked in line 20)
    │   in bank::transfer
    │   in bank::main::{closure#1} (examples/bank.rs:37:13)
    `ann` was started by `main` at examples/bank.rs:31:19
    `bob` was started by `main` at examples/bank.rs:34:10

    The run you saw was fine: `ann` had unlocked `bank::SAVINGS` (examples/bank.rs:27:1) before `bob` locked it \
(examples/bank.rs:20:27). Nothing makes it so:

predicted deadlock of `ann` and `bob` over `bank::SAVINGS` and `bank::CHECKING`  [deadlock-1]
    ┌─ examples/bank.rs:24:25
 24 │     let mut target = to.lock().unwrap();
    │                         ^^^^^^ `ann` waits here for `bank::SAVINGS`, holding `bank::CHECKING` (locked in line 20)
    │   in bank::transfer
    │   in bank::main::{closure#0} (examples/bank.rs:31:28)
    ┌─ examples/bank.rs:24:25
 24 │     let mut target = to.lock().unwrap();
    │                         ^^^^^^ `bob` waits here for `bank::CHECKING`, holding `bank::SAVINGS` (locked in line 20)
    │   in bank::transfer
    │   in bank::main::{closure#1} (examples/bank.rs:37:13)
    `ann` was started by `main` at examples/bank.rs:31:19
    `bob` was started by `main` at examples/bank.rs:34:10

    The run you saw was fine, by luck. This one is possible as well:

";

/// The text without stories, and their steps without numbers and columns, sorted.
fn without_stories(text: &str) -> (String, Vec<String>) {
    let (mut rest, mut steps, mut in_story) = (String::new(), Vec::new(), false);
    for line in text.lines() {
        if in_story {
            let step = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
            steps.extend(step.strip_prefix("  ").map(str::to_owned));
            in_story = !line.starts_with("    witness: ");
            continue;
        }
        rest.push_str(line);
        rest.push('\n');
        in_story = line.starts_with("    The run you saw was fine");
    }
    steps.sort();
    steps.dedup();
    (rest, steps)
}

#[test]
fn the_bank_of_the_readme() {
    let folder = Folder::new();
    for sub in ["src", "examples"] {
        fs::create_dir(folder.path(sub)).unwrap();
    }
    let bank = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank.rs");
    fs::copy(bank, folder.path("examples/bank.rs")).unwrap();
    folder.write("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    folder.write("src/lib.rs", "");
    let run = |format| cargo_foresee(&folder, &["run", "-q", "--example", "bank", "--format", format]);

    let human = run("human");
    assert_eq!((human.code, human.stdout.as_str()), (Some(66), "checking 90, savings 110\nmoved 50\n"));
    let (text, steps) = without_stories(&human.stderr);
    let (found, summary) = text.split_at(text.rfind("2 findings").unwrap_or(text.len()));
    assert_eq!(found.replace("\n\n\n", "\n\n"), BANK.replace("\n\n\n", "\n\n"), "{}", human.stderr);
    assert!(summary.starts_with("2 findings (2 predicted) in "), "{summary}");
    let expected = [
        "locks bank::CHECKING  bank.rs:20:27",
        "locks bank::SAVINGS  bank.rs:20:27",
        "main starts ann  bank.rs:31:19",
        "main starts bob  bank.rs:34:10",
        "reads bank::MOVED  bank.rs:22:9 ⚡",
        "waits for bank::CHECKING  bank.rs:24:25 ⚡",
        "waits for bank::SAVINGS  bank.rs:24:25 ⚡",
        "writes bank::MOVED  bank.rs:22:9 ⚡",
    ];
    assert_eq!(steps, expected, "{}", human.stderr);

    let json = run("json").stdout;
    let report: Value = serde_json::from_str(&json[json.find('{').unwrap()..]).unwrap();
    let whole = folder.path("examples/bank.rs").canonicalize().unwrap();
    for event in report["findings"].as_array().unwrap().iter().flat_map(|f| f["events"].as_array().unwrap()) {
        assert_eq!(event["location"]["file"], whole.to_str().unwrap());
    }
    let sarif = run("sarif").stdout;
    assert!(sarif.contains("\"uri\": \"examples/bank.rs\""), "{sarif}");
}

#[test]
fn deep_stacks_are_cut_and_libraries_folded() {
    let folder = Folder::new();
    let calls: String = (1..=9).map(|n| format!("b|enter(f{n})|deep.c:{n} in f{}\n", n - 1)).collect();
    let inside =
        "b|enter(<lock_api::mutex::Mutex<R, T>>::lock)|deep.c:10 in f9\nb|enter(core::f)|deep.c:10 in f9\n";
    let closure = "b|enter(f10)|deep.c:10 in f9\n";
    folder.write("t.std", format!("a|w(x)|deep.c:1 in f\n{calls}{inside}{closure}b|w(x)|deep.c:11 in f10\n"));
    let human = folder.foresee(&["check", "t.std", "--engine", "hb"]).stderr;
    let shown: Vec<&str> = human.lines().filter_map(|line| line.trim_start().strip_prefix("│   ")).collect();
    let expected = [
        "in f",
        "in f10",
        "… 2 library frames",
        "in f9 (deep.c:10)",
        "in f8 (deep.c:9)",
        "in f7 (deep.c:8)",
        "in f6 (deep.c:7)",
        "… 5 more",
    ];
    assert_eq!(shown, expected, "{human}");
}
