//! Whatever is given instead of a trace: exit code 2, one line that names the file and says what was expected, no panic.

use crate::support::Folder;

const READERS: [&[&str]; 4] =
    [&["trace", "info"], &["trace", "dump"], &["trace", "validate"], &["trace", "convert", "-o", "out.std"]];

const NEITHER: &str = "neither a foresee trace nor a text trace";

/// Every command that reads a trace refuses this one, and leaves no output behind.
#[track_caller]
fn refused(folder: &Folder, input: &str, parts: &[&str]) {
    for command in READERS {
        let before = folder.files();
        folder
            .foresee(&[command, &[input]].concat())
            .one_message(2, &[&["foresee: error: "], &[input], parts].concat());
        assert_eq!(folder.files(), before);
    }
}

#[test]
fn other_files() {
    let folder = Folder::new();
    let noise: Vec<u8> = (1..=5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    folder.write("noise.ft", noise);
    refused(&folder, "noise.ft", &[NEITHER]);
    folder.write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06");
    refused(&folder, "picture.png", &[NEITHER, "0x89"]);
    folder.write("prose.std", "Dear reader,\nthis is no trace.\n");
    refused(&folder, "prose.std", &[NEITHER]);
    folder.write("zeros.ft", [0; 4096]);
    refused(&folder, "zeros.ft", &[NEITHER]);
}

#[test]
fn a_wrong_line() {
    let folder = Folder::new();
    folder.write("wrong.std", "T1|w(x)|1\nT1|frob(x)|2\nT1|r(x)|3\n");
    for command in [&["trace", "info"][..], &["trace", "validate"], &["trace", "convert", "-o", "out.ft"]] {
        let outcome = folder.foresee(&[command, &["wrong.std"]].concat());
        outcome.one_message(2, &["wrong.std: line 2, column 4: expected ", "frob"]);
    }
    assert_eq!(folder.files(), ["wrong.std"]);
}

#[test]
fn nothing_to_read() {
    let folder = Folder::new();
    folder.write("empty.ft", "");
    refused(&folder, "empty.ft", &["is empty; expected a foresee trace"]);
    refused(&folder, "missing.ft", &["cannot read: No such file or directory"]);
    refused(&folder, ".", &["is a directory; expected a trace file"]);
    refused(&folder, "empty.ft/trace.ft", &["cannot read: Not a directory"]);
    refused(&folder, "/dev/null", &["is empty"]);
    let empty_pipe = folder.foresee_fed(&["trace", "info", "-"], b"");
    empty_pipe.one_message(2, &["foresee: error: standard input: the file is empty"]);
    let noisy_pipe = folder.foresee_fed(&["trace", "info", "-"], &[0xff; 100_000]);
    noisy_pipe.one_message(2, &["standard input: ", NEITHER]);
}

/// For root every file is readable, so a file that cannot be read is only found by others.
#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("secret.std", "T1|w(x)|1\n");
    std::fs::set_permissions(folder.path("secret.std"), PermissionsExt::from_mode(0o000)).unwrap();
    if std::fs::read(folder.path("secret.std")).is_err() {
        refused(&folder, "secret.std", &["cannot read: Permission denied"]);
    }
    // The kernel refuses to read this one even for root.
    if std::path::Path::new("/proc/self/mem").exists() {
        refused(&folder, "/proc/self/mem", &["cannot read: "]);
    }
}

#[test]
fn a_newer_version() {
    let folder = Folder::new();
    folder.generate("new.ft");
    let mut bytes = folder.read("new.ft");
    bytes[8..10].copy_from_slice(&999u16.to_le_bytes());
    folder.write("new.ft", &bytes);
    refused(&folder, "new.ft", &["format version 999", "update foresee"]);
    let piped = folder.foresee_fed(&["trace", "info", "-"], &bytes);
    piped.one_message(2, &["standard input: the trace has format version 999"]);
}

/// The readable part and a warning; only `validate` insists on the whole.
#[test]
fn a_truncated_trace() {
    let folder = Folder::new();
    folder.foresee(&["trace", "gen", "--events", "600k", "-o", "whole.ft"]).success();
    let whole = folder.foresee(&["trace", "dump", "whole.ft"]).success();
    let bytes = folder.read("whole.ft");
    for length in [1, 8, 15, 16, 100, bytes.len() / 2, bytes.len() * 3 / 4, bytes.len() - 200] {
        folder.write("cut.ft", &bytes[..length]);
        let warning = ["foresee: warning: cut.ft: damaged at byte ", "events before it are intact"];
        for command in [&["trace", "info", "cut.ft"][..], &["trace", "convert", "cut.ft", "-o", "cut.std"]] {
            folder.foresee(command).one_message(0, &warning);
        }
        folder.foresee(&["trace", "validate", "cut.ft"]).one_message(2, &["error: cut.ft: damaged at byte "]);
        let dumped = folder.foresee(&["trace", "dump", "cut.ft"]);
        dumped.one_message(0, &warning);
        let events =
            |text: &str| text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
        let (all, readable) = (events(&whole), events(&dumped.stdout));
        assert!(all.starts_with(&readable), "cut at {length}: no prefix of the whole");
        if length == bytes.len() * 3 / 4 {
            assert!(!readable.is_empty());
        }
    }
}

#[test]
fn bad_usage() {
    let folder = Folder::new();
    folder.generate("a.ft");
    for (args, parts) in [
        (&["trace", "convert", "a.ft", "-o", "a.trace"][..], &["a.trace: ", ".ft", ".std"][..]),
        (&["trace", "convert", "a.ft", "-o", "a"], &["a: ", ".ft", ".std"]),
        (&["trace", "convert", "a.ft", "-o", "./a.ft"], &["./a.ft: is input and output"]),
        (&["trace", "convert", "a.ft", "-o", "no/a.std"], &["no/a.std: cannot create: No such file"]),
        (&["trace", "gen", "-o", "a.zip"], &["a.zip: ", ".ft", ".std"]),
        (&["trace", "dump", "a.ft", "--thread", "nobody"], &["a.ft: no thread is called `nobody`"]),
    ] {
        folder.foresee(args).one_message(2, parts);
    }
    assert_eq!(folder.files(), ["a.ft"]);
    for args in [
        &["trace", "gen", "--events", "many"][..],
        &["trace", "gen", "--writes", "2"],
        &["trace", "gen", "--threads", "0"],
        &["trace", "gen", "--forks", "ring"],
        &["trace", "info"],
        &["frobnicate"],
        &[],
    ] {
        let outcome = folder.foresee(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(!outcome.stderr.is_empty());
    }
}
