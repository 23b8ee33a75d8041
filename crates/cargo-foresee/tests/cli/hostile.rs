//! Traces, specs and settings of somebody else: they do not get at the user's files, terminal or exit code.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Folder, end_if_it_hangs};

/// A race between two places.
fn race_at(one: &str, other: &str) -> String {
    format!("T1|fork(T2)|a.c:1\nT1|w(x)|{one}\nT2|w(x)|{other}\n")
}

#[test]
fn a_trace_has_no_file_of_the_user_shown() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("work/.git")).unwrap();
    folder.write("secret.c", "it is secret\n");
    folder.write("work/.git/config", "it is secret\n");
    folder.write("work/shown.c", "x = 1; // to be seen\n");
    let outside = folder.path("secret.c");
    let outside = outside.to_str().unwrap();
    let inside = folder.path("work/shown.c");
    let check = |one: &str, other: &str, more: &[&str]| {
        folder.write("work/t.std", race_at(one, other));
        let mut command = folder.command(&["check", "t.std", "--engine", "hb"]);
        let ran = command.args(more).env("TOKEN", "it is secret").current_dir(folder.path("work")).output();
        String::from_utf8(ran.unwrap().stderr).unwrap()
    };
    for hidden in ["/proc/self/environ:1", "/proc/kmsg:1", "../secret.c:1", ".git/config:1", "/dev/stdin:1"] {
        let report = check(hidden, &format!("{outside}:1"), &[]);
        assert!(report.contains("observed data race") && !report.contains("it is secret"), "{report}");
    }
    assert!(check(&format!("{}:1", inside.display()), "a.c:2", &[]).contains("to be seen"));
    assert!(check(&format!("{outside}:1"), "a.c:2", &["--source-root", ".."]).contains("it is secret"));
}

#[test]
fn a_file_of_settings_decides_nothing_in_silence() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("work/.config")).unwrap();
    folder.write("work/t.std", race_at("a.c:1", "a.c:2"));
    folder.write("precious", "mine\n");
    folder.write("work/known", "race:x\n");
    let check = |settings: &str, options: &str| {
        folder.write("work/.config/foresee.toml", settings);
        let mut command = folder.command(&["check", "t.std"]);
        command.current_dir(folder.path("work")).env("FORESEE_OPTIONS", options).env("TOKEN", "it is secret");
        let ran = command.output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    for wrong in
        ["output = \"../precious\"", "suppressions = \"/proc/self/environ\"", "spec = [\"../precious\"]"]
    {
        let (code, said) = check(wrong, "");
        assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains("is outside of the workspace") && !said.contains("it is secret"), "{said}");
    }
    assert_eq!(folder.read("precious"), b"mine\n");
    let (code, said) = check("exit-code = 0\n", "");
    assert_eq!(code, Some(0));
    assert!(said.contains("foresee.toml has it: exit-code = 0"), "{said}");
    let (code, said) = check("exit-code = 0\n", "exit-code=5");
    assert_eq!((code, said.contains("has it")), (Some(5), false), "{said}");
    let (code, said) = check("suppressions = \"known\"\nengine = \"hb\"\n", "");
    assert_eq!(code, Some(0));
    assert!(said.contains("has it: engine = \"hb\", suppressions = \"known\""), "{said}");
}

#[test]
fn what_never_ends_is_not_read() {
    let folder = Folder::new();
    folder.write("t.std", race_at("a.c:1", "a.c:2"));
    for option in ["--spec", "--suppressions"] {
        folder
            .foresee(&["check", "t.std", option, "/dev/zero"])
            .one_message(2, &["/dev/zero", "more than 4 MB"]);
    }
}

#[test]
fn names_do_nothing_to_a_terminal() {
    let folder = Folder::new();
    // Colours, titles, C1 codes, marks of direction, tags; and the same in a line of source.
    let evil = "e\\u{1b}[31m\\u{9b}2J\\u{202e}\\u{2066}\\u{e0041}";
    folder.write("e.c", "x = 1; /* \u{1b}]0;title\u{7} \u{202e} */\n");
    folder.write(
        "t.std",
        format!("T1|fork({evil})|e.c:1\nT1|w(x{evil})|e.c:1 in f{evil}\n{evil}|w(x{evil})|e.c:1\n"),
    );
    folder.foresee(&["trace", "convert", "t.std", "-o", "t.ft"]).success();
    folder.write("p.rv", "property P { event e(x); ere: e @match { report \"{x}\"; } }\n");
    folder.write("e.std", format!("T1|event(e, {evil})\n"));
    let is_plain = |c: char| c == '\n' || foresee_trace::is_printable(c);
    let commands: [&[&str]; 11] = [
        &["check", "t.ft"],
        &["check", "t.ft", "--format", "json"],
        &["check", "t.ft", "--format", "sarif"],
        &["check", "t.ft", "--format", "junit"],
        &["trace", "dump", "t.ft"],
        &["trace", "info", "t.ft"],
        &["trace", "info", "t.ft", "--format", "json"],
        &["trace", "validate", "t.ft"],
        &["monitor", "p.rv", "e.std"],
        &["check", "\u{1b}[31m\u{202e}.ft"],
        &["trace", "dump", "t.ft", "--thread", "\u{1b}[31m\u{202e}"],
    ];
    for arguments in commands {
        // As on a terminal: nothing but our own colours would be there, and none is wanted.
        let mut command = folder.command(arguments);
        let ran = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
        let ours = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[34m", "\x1b[36m", "\x1b[33m", "\x1b[1m\x1b[31m"];
        let without = ours.iter().rev().fold(stderr, |text, style| text.replace(style, ""));
        assert!(
            stdout.chars().all(is_plain) && without.chars().all(is_plain),
            "{arguments:?}: {stdout:?} {without:?}"
        );
        assert!(!stdout.is_empty() || !without.is_empty());
    }
    let dumped = folder.foresee(&["trace", "dump", "t.ft"]).success();
    folder.write("again.std", &dumped);
    assert_eq!(folder.foresee(&["trace", "dump", "again.std"]).success(), dumped, "nothing is lost");
}

#[test]
fn a_program_does_not_wait_for_a_hostile_observer() {
    let folder = Folder::new();
    folder.build("p.c", "#include <stdio.h>\nint main(void) { puts(\"started\"); }\n");
    let spec =
        |body: String| format!("property P(x) {{ event a(x); ere: {body} @match {{ report \"m\"; }} }}");
    let welcome = |spec: String| format!("{{\"welcome\":{{\"spec\":{spec:?}}}}}\n");
    // One byte after the other, for ever; specs that no compiler survives; no end of a line, what is no answer, and half of one.
    let answers = [
        None,
        Some(welcome(spec(format!("a{}", "+".repeat(40))))),
        Some(welcome(spec("(".repeat(40_000)))),
        Some("x".repeat(30_000_000)),
        Some("[".repeat(100_000) + "\n"),
        Some("{\"refused\":\"\u{1b}[31m\"}\n".to_owned()),
        Some(welcome(spec("a".to_owned()))[..20].to_owned()),
        Some(String::new()),
        // Goes at once, when the program has begun.
        Some(welcome(spec("a".to_owned()))),
    ];
    for answer in answers {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let whole = answer.clone().unwrap_or_default();
            let _ = stream.write_all(whole.as_bytes());
            while answer.is_none() && stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        let mut command = folder.command(&["run", "--", "./prog"]);
        let child =
            command.env("FORESEE_OBSERVER", address).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap();
        end_if_it_hangs(&child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"started\n"[..]), "{said}");
        assert!(!said.contains("panicked") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn memory_is_bounded_whatever_grows() {
    let folder = Folder::new();
    let forks: String = (1..=200).map(|thread| format!("T0|fork(T{thread})|a.c:1\n")).collect();
    folder.write("threads.std", forks);
    let said = folder.foresee(&["check", "threads.std", "--memory", "100k"]).stderr;
    assert!(said.contains("prediction looked at the first 38 events"), "{said}");
    let events: String =
        (1..700_000).map(|pair| format!("T1|event(open, @{pair}, @{pair}0000000)\n")).collect();
    folder.write("pairs.std", events);
    folder.write(
        "p.rv",
        "property P(c, i) { event open(c, i); event use(i); ere: open use+ @match { report \"m\"; } }\n",
    );
    let outcome = folder.foresee(&["monitor", "--memory", "1k", "p.rv", "pairs.std"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("not enough memory to look at all of the recording"),
        "{}",
        outcome.stderr
    );
}
