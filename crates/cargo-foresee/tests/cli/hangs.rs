//! What a program that was ended waited for: threads that nobody can wake any more are an observed deadlock, all others are none.

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, Outcome};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/hangs/hangs.c");

/// The findings of a report: each with what is said of it.
pub(crate) fn findings(run: &Outcome) -> Vec<(String, String)> {
    let start = run.stdout.find('{').unwrap_or_else(|| panic!("{}", run.stderr));
    let report: Value = serde_json::from_str(&run.stdout[start..]).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = report["findings"].as_array().unwrap().iter();
    found
        .map(|one| {
            let [certainty, kind] = ["certainty", "kind"].map(|key| text(&one[key]));
            (format!("{certainty} {kind}"), text(&one["message"]))
        })
        .collect()
}

#[test]
fn who_waits_for_what_is_told_of_programs_that_hang() {
    let hang: [(&str, &[&str]); 6] = [
        ("again", &["`main` waits for `mutex` at ", ", which it has locked itself at "]),
        (
            "ended",
            &[
                "`main` waits for `mutex` at ",
                ", which `T1` has locked at ",
                " and not given back: it has ended",
            ],
        ),
        ("unnotified", &["`main` waits for a notification of `condition` at "]),
        ("unraised", &["`main` waits for `semaphore` at "]),
        ("lowered_twice", &["`main` waits for `semaphore` at ", ", which it has locked itself at "]),
        (
            "joined",
            &["`main` waits for the end of `T1` at ", "`T1` waits for a notification of `condition` at "],
        ),
    ];
    let folder = Folder::new();
    let _ = folder.runtime();
    for (compiler, _) in compilers() {
        let mut compile = folder.command(&["cc", "-g", SOURCE, "-o", "prog", "-pthread"]);
        let compiled = compile.env("FORESEE_CC", compiler).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let run = |which: &str| {
            folder.foresee(&["run", "--format", "json", "--timeout", "700ms", "--", "./prog", which])
        };
        for (which, said) in hang {
            let found = findings(&run(which));
            let [(kind, message)] = &found[..] else { panic!("{compiler} {which}: {found:?}") };
            assert_eq!(kind, "observed deadlock", "{compiler} {which}: {message}");
            for part in said {
                assert!(message.contains(part), "{compiler} {which}: {message}");
            }
        }
        for which in
            ["timed", "busy", "exits", "recursive", "process", "raised", "raised_by_turns", "of_processes"]
        {
            assert_eq!(findings(&run(which)), [], "{compiler} {which}");
        }
    }
}

/// Nobody knows why, but that somebody was still there is known.
#[test]
fn a_hang_that_is_not_explained_is_said() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write(
        "spin.c",
        r#"
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static int ends[2];
static void *at_barrier(void *arg) { pthread_barrier_wait(&barrier); return arg; }
static void *at_pipe(void *arg) { char byte; return read(ends[0], &byte, 1) == 1 ? arg : 0; }
static void *ends_at_once(void *arg) { return arg; }
int main(void) {
    pthread_t threads[3];
    if (pipe(ends)) return 1;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&threads[0], 0, at_barrier, 0);
    pthread_create(&threads[1], 0, at_pipe, 0);
    pthread_create(&threads[2], 0, ends_at_once, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
"#,
    );
    folder.foresee(&["cc", "-g", "spin.c", "-o", "prog", "-pthread"]).success();
    let run = folder.foresee(&["run", "--timeout", "700ms", "--trace", "run.ft", "./prog"]);
    let again = folder.foresee(&["check", "run.ft"]);
    for said in [&run.stderr, &again.stderr] {
        assert!(said.contains("SIGTERM ended the program; last seen were `main` at spin.c:"), "{said}");
        assert!(said.contains("`T1` at spin.c:6") && said.contains("`T2` at spin.c:7"), "{said}");
        assert!(!said.contains("`T3`") && said.contains("it is not explained"), "{said}");
    }
}
