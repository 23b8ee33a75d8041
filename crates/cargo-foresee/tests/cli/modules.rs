//! Monitors of the user's own (`raw`), from shared libraries.

use std::process::Command;

use crate::observe::{Observer, observed};
use crate::support::Folder;

/// Two monitors: one for the second event of the first kind, one that fails at the third event at all.
const LIBRARY: &str = r#"#include "foresee-monitors.h"
static uint64_t second_step(uint64_t state, uint32_t event) { return event == 0 ? state + 1 : state; }
static uint32_t second_says(uint64_t state) { return state == 2 ? FORESEE_VERDICT_MATCH : 0; }
static uint64_t seven(void) { return 7; }
static uint64_t third_step(uint64_t state, uint32_t event) { (void)event; return state + 1; }
static uint32_t third_says(uint64_t state) { return state == 10 ? FORESEE_VERDICT_FAIL : 0; }
static const struct foresee_raw_monitor all[] = {
    { "second", 0, second_step, second_says },
    { "third", seven, third_step, third_says },
};
static const struct foresee_raw_monitors table = { VERSION, sizeof all / sizeof *all, all };
const struct foresee_raw_monitors *foresee_raw_monitors(void) { return &table; }
"#;

fn library(folder: &Folder, name: &str, text: &str, flags: &[&str]) {
    folder.write("own.c", text);
    let headers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-Wall", "-Werror", "-I", headers, "own.c", "-o", name]).args(flags);
    assert!(compile.current_dir(folder.path("")).status().unwrap().success());
}

const SPEC: &str = r#"property Second(f) {
    event use(f);
    event close(f);
    raw: "second"
    @match { report "used again"; }
}
property Third(f) {
    event use(f);
    event close(f);
    raw: "third"
    @fail { report "three of them"; }
}
"#;

/// In this run, 2 is closed before it is used again; in others, too, and it is used by two threads.
const TRACE: &str = "main|fork(t)\nmain|event(use, @1)|a.c:1\nmain|event(use, @2)|a.c:2\nt|event(close, @2)|a.c:3\n\
    main|event(use, @2)|a.c:4\nt|event(close, @1)|a.c:5\n";

#[test]
fn own_monitors_come_from_libraries() {
    let folder = Folder::new();
    library(&folder, "own.so", LIBRARY, &["-DVERSION=FORESEE_MONITORS_VERSION"]);
    folder.write("p.rv", SPEC);
    folder.write("run.std", TRACE);
    let commands: [&[&str]; 2] = [&["check", "run.std", "--spec", "p.rv"], &["monitor", "p.rv", "run.std"]];
    for command in commands {
        let said = folder.foresee(&[command, &["--raw-monitors", "own.so"]].concat());
        let all = format!("{command:?}: {}{}", said.stdout, said.stderr);
        assert_eq!(said.code, Some(66), "{all}");
        assert!(all.contains("used again") && all.contains("three of them"), "{all}");
        // Without it there is no such monitor.
        let without = folder.foresee(command);
        assert_eq!(without.code, Some(2), "{}", without.stdout);
        assert!(
            without.stderr.contains("no monitor is registered under the name `second`"),
            "{}",
            without.stderr
        );
    }
}

/// The third event comes later for the binding in the run than in another: with an order of its own, a monitor is predicted with.
#[test]
fn own_monitors_predict() {
    let folder = Folder::new();
    let text = LIBRARY.replace(
        "event == 0 ? state + 1 : state",
        "state == 0 && event == 1 ? 1 : state == 1 && event == 0 ? 2 : state == 0 ? 3 : state",
    );
    library(&folder, "own.so", &text, &["-DVERSION=FORESEE_MONITORS_VERSION"]);
    let first = SPEC.split("property Third").next().unwrap();
    folder.write("p.rv", first);
    // Used, and then closed by another thread; nothing orders the two.
    folder.write("run.std", "main|fork(t)\nmain|event(use, @1)|a.c:1\nt|event(close, @1)|a.c:2\n");
    let said = folder.foresee(&["check", "run.std", "--spec", "p.rv", "--raw-monitors", "own.so"]);
    let all = format!("{}{}", said.stdout, said.stderr);
    assert_eq!(said.code, Some(66), "{all}");
    assert!(all.contains("predicted") && all.contains("used again"), "{all}");
}

#[test]
fn observers_run_own_monitors() {
    let folder = Folder::new();
    folder.build(
        "two.c",
        "#include <pthread.h>\nstatic void *work(void *p) { return p; }\nint main(void) { for (int i = 0; i < 2; i++) { \
         pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); } return 0; }\n",
    );
    library(&folder, "own.so", LIBRARY, &["-DVERSION=FORESEE_MONITORS_VERSION"]);
    let spec = "property Two { event made = fork(_); raw: \"second\" @match { report \"two threads\"; } }\n";
    let observer = Observer::of(spec, &folder, &["--exit-after", "1", "--raw-monitors", "own.so"]);
    let ran = observed(&folder).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (code, out, rest) = observer.end();
    assert_eq!(code, Some(66), "{out}{rest}");
    assert!(rest.contains("two threads"), "{out}{rest}");
}

#[test]
fn libraries_that_are_none_are_refused() {
    let folder = Folder::new();
    folder.write("p.rv", SPEC);
    folder.write("run.std", TRACE);
    let refused = |parts: &[&str]| {
        let said = folder.foresee(&["check", "run.std", "--spec", "p.rv", "--raw-monitors", "own.so"]);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        parts.iter().for_each(|part| assert!(said.stderr.contains(part), "{part}: {}", said.stderr));
    };
    refused(&["--raw-monitors: own.so: cannot be loaded"]);
    folder.write("own.so", "no library");
    refused(&["--raw-monitors: own.so: cannot be loaded"]);
    library(&folder, "own.so", "int other;", &[]);
    refused(&["has no function `foresee_raw_monitors`"]);
    library(&folder, "own.so", LIBRARY, &["-DVERSION=2"]);
    refused(&["has version 2 of the interface"]);
    library(
        &folder,
        "own.so",
        &LIBRARY
            .replace("seven, third_step,", "seven, 0,")
            .replace("static uint64_t third_step", "uint64_t third_step"),
        &["-DVERSION=1"],
    );
    refused(&["monitor 2 of its table has no function `step`"]);
    // Settings name none.
    let said = folder
        .command(&["check", "run.std", "--spec", "p.rv"])
        .env("FORESEE_OPTIONS", "raw-monitors=own.so")
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("raw-monitors"),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
}
