//! What a user does with traces.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::support::{Folder, example};

fn events(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn info_tells_what_is_in_a_trace() {
    let folder = Folder::new();
    let account = example("account.std");
    let text = folder.foresee(&["trace", "info", account.to_str().unwrap()]).success();
    for part in ["text trace", "events           80 ", "threads          3\n", "fork", "possible run     yes"]
    {
        assert!(text.contains(part), "`{part}` expected in: {text}");
    }
}

#[test]
fn info_as_json_is_one_object() {
    let folder = Folder::new();
    folder.generate("a.ft");
    let text = folder.foresee(&["trace", "info", "--format", "json", "a.ft"]).success();
    let info: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(info["version"], 1);
    assert_eq!(info["form"], "binary");
    assert_eq!(info["events"], 20_000);
    assert_eq!(info["bytes"], folder.read("a.ft").len());
    assert_eq!(info["threads"], 8);
    assert_eq!(info["locks"], 20);
    assert_eq!(info["variables"]["count"], 1000);
    assert_eq!(info["operations"]["fork"], 7);
    assert_eq!(info["problems"], 0);
    assert_eq!(info["damage"], serde_json::Value::Null);
    assert!(info["facts"]["generator"].as_str().unwrap().contains("--events 20000 "));
    let operations = info["operations"].as_object().unwrap();
    assert_eq!(operations.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 20_000);
}

#[test]
fn a_pipe_is_as_good_as_a_file() {
    let folder = Folder::new();
    folder.generate("a.ft");
    folder.generate("a.std");
    for name in ["a.ft", "a.std"] {
        let info = folder.foresee_fed(&["trace", "info", "-"], &folder.read(name)).success();
        let expected = folder.foresee(&["trace", "info", name]).success();
        assert_eq!(info, expected.replacen(name, "standard input", 1));
    }
}

#[test]
fn conversion_loses_nothing() {
    let folder = Folder::new();
    folder.generate("a.std");
    folder.foresee(&["trace", "convert", "a.std", "-o", "b.ft"]).success();
    folder.foresee(&["trace", "convert", "b.ft", "-o", "c.std"]).success();
    assert!(folder.read("a.std") == folder.read("c.std"), "a.std and c.std differ");
    assert_eq!(folder.files(), ["a.std", "b.ft", "c.std"]);
    let account = example("account.std");
    folder.foresee(&["trace", "convert", account.to_str().unwrap(), "-o", "account.ft"]).success();
    let dumped = folder.foresee(&["trace", "dump", "account.ft"]).success();
    assert_eq!(dumped, std::fs::read_to_string(account).unwrap());
}

#[test]
fn a_failed_conversion_leaves_the_old_file() {
    let folder = Folder::new();
    folder.write("old.ft", "precious");
    folder.write("bad.std", "T1|w(x)|1\nnonsense\n");
    assert_eq!(folder.foresee(&["trace", "convert", "bad.std", "-o", "old.ft"]).code, Some(2));
    assert_eq!(folder.read("old.ft"), b"precious");
    assert_eq!(folder.files(), ["bad.std", "old.ft"]);
}

#[test]
fn dump_shows_the_part_asked_for() {
    let folder = Folder::new();
    for name in ["a.ft", "a.std"] {
        folder.generate(name);
        let dump = |args: &[&str]| folder.foresee(&[&["trace", "dump", name], args].concat()).success();
        let whole = dump(&[]);
        let whole = events(&whole);
        assert_eq!(whole.len(), 20_000);
        assert_eq!(events(&dump(&["--from", "15k", "--count", "100"])), whole[15_000..15_100]);
        assert_eq!(events(&dump(&["--from", "19990"])), whole[19_990..]);
        assert!(events(&dump(&["--from", "1M"])).is_empty());
        assert!(events(&dump(&["--count", "0"])).is_empty());
        let of_t3: Vec<_> = whole.iter().copied().filter(|line| line.starts_with("T3|")).collect();
        assert!(of_t3.len() > 1000);
        assert_eq!(events(&dump(&["--thread", "T3"])), of_t3);
    }
}

#[test]
fn validate_accepts_possible_runs() {
    let folder = Folder::new();
    folder.generate("a.ft");
    let text = folder.foresee(&["trace", "validate", "a.ft"]).success();
    assert_eq!(text, "valid: 20,000 events, 8 threads, 20 locks\n");
}

#[test]
fn validate_shows_what_is_impossible() {
    let folder = Folder::new();
    folder.write("two.std", "T1|acq(l)|a.rs:1\nT2|acq(l)|a.rs:9\n");
    let outcome = folder.foresee(&["trace", "validate", "two.std"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), ""));
    assert_eq!(
        outcome.stdout,
        "event 1 of `T2` at a.rs:9: acquires `l`, which `T1` holds\n\
         two.std: not a possible run: 1 problem in 2 events\n"
    );
    folder.write("many.std", "T1|rel(l)|1\n".repeat(1000));
    let outcome = folder.foresee(&["trace", "validate", "many.std"]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(2), 22));
    assert!(outcome.stdout.contains("… and 980 more\n"), "{}", outcome.stdout);
}

#[test]
fn gen_is_reproducible() {
    let folder = Folder::new();
    let generate = |args: &[&str]| folder.foresee(&[&["trace", "gen", "-n", "1k"], args].concat()).success();
    assert_eq!(generate(&[]), generate(&["--seed", "0"]));
    assert_ne!(generate(&[]), generate(&["--seed", "1"]));
    assert_eq!(events(&generate(&["--forks", "chain", "--nesting", "3", "--inversions", "0.5"])).len(), 1000);
    // The options that a trace remembers make the same trace again.
    let trace = generate(&["--skew", "0.7", "--forks", "tree", "--locks", "3"]);
    let (_, options) = trace.lines().next().unwrap().split_once("trace gen ").unwrap();
    let options: Vec<_> = options.split_whitespace().collect();
    assert_eq!(folder.foresee(&[&["trace", "gen"], &options[..]].concat()).success(), trace);
}

#[cfg(unix)]
#[test]
fn traces_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.generate("a.ft");
    let mode = std::fs::metadata(folder.path("a.ft")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = Folder::new();
    for args in [&["trace", "gen", "-n", "1M"][..], &["completions", "bash"], &["trace", "gen", "--help"]] {
        let mut command = folder.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_our_failure() {
    let folder = Folder::new();
    for args in [&["trace", "gen", "-n", "1M"][..], &["completions", "bash"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = folder.command(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(message, "foresee: error: standard output: cannot write: No space left on device\n");
    }
}

#[test]
fn both_names_are_one_program() {
    let folder = Folder::new();
    let version = folder.foresee(&["--version"]).success();
    for args in [&["--version"][..], &["foresee", "--version"]] {
        let output =
            std::process::Command::new(env!("CARGO_BIN_EXE_cargo-foresee")).args(args).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), version);
    }
}

#[test]
fn help_teaches() {
    let folder = Folder::new();
    for command in ["info", "dump", "convert", "validate", "gen"] {
        let help = folder.foresee(&["trace", command, "--help"]).success();
        assert!(help.contains("Examples:") && help.contains(&format!("foresee trace {command}")), "{help}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(folder.foresee(&["completions", shell]).success().contains("validate"), "{shell}");
    }
}

#[test]
fn no_colour_on_a_pipe() {
    let folder = Folder::new();
    for args in [&["trace", "info", "missing"][..], &["--help"], &["frobnicate"]] {
        let outcome = folder.foresee(args);
        assert!(!(outcome.stdout + &outcome.stderr).contains('\x1b'), "{args:?}");
    }
}
