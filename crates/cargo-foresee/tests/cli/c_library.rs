//! What functions of the C library order and change by means of their own: correct programs that rest on that get no alarm, and what is
//! wrong beside it is found.
//!
//! The programs are in `tests/programs/c_library`. Each checks its own results, so that what stands in front of the functions does what they
//! do.

use serde_json::Value;

use crate::programs::compilers;
use crate::support::Folder;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/c_library");

/// A source, the programs in it that are correct, and those that are not, with how certain the race is.
type Source = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const ORDERS: [Source; 7] = [
    (
        "streams.c",
        &["pipes", "long_message", "standard_output", "child", "position", "stream_of_cancelled"],
        &[("wrong_printing", "predicted"), ("wrong_stream", "observed"), ("wrong_lock", "observed")],
    ),
    ("files.c", &["names", "states"], &[("wrong_reading", "observed"), ("wrong_name", "observed")]),
    ("cancelled.c", &["cancelled"], &[("wrong_cancel", "observed")]),
    (
        "kernel.c",
        &[
            "reader_closed",
            "range_closed",
            "full",
            "listening",
            "shut_down",
            "terminal",
            "opened",
            "removed",
            "signalled",
            "by_child",
            "scanned",
        ],
        &[("wrong_room", "observed"), ("wrong_end", "observed")],
    ),
    (
        "processes.c",
        &[
            "child_signals",
            "child_ends",
            "by_shell",
            "shared_conditions",
            "full_of_messages",
            "removed_messages",
        ],
        &[("wrong_signal", "observed")],
    ),
    (
        "room.c",
        &[
            "drained_pipe",
            "drained_sockets",
            "drained_counter",
            "drained_queue",
            "full_queue",
            "drained_by_stream",
            "told_by_epoll",
            "warned",
            "warned_without_error",
            "warned_of_nothing",
            "signal_told",
            "logged",
            "addresses_told",
            "unwatched",
            "handlers_of_fork",
        ],
        &[("wrong_room", "observed")],
    ),
    (
        "given.c",
        &[
            "variable",
            "variables",
            "sent",
            "copied",
            "place",
            "signal",
            "information",
            "condition",
            "semaphore",
            "operation",
            "address",
            "wide",
            "numbered",
            "count",
            "count_after",
            "scanned_wide",
            "scanned_numbered",
            "zone",
            "stream",
            "queue",
            "flags",
            "appended",
            "program_break",
            "callback",
        ],
        &[("wrong_place", "observed"), ("wrong_deadline", "observed")],
    ),
];

/// Of what threads synchronise by, and of descriptors.
const LIVES: [Source; 2] = [
    (
        "lives.c",
        &[
            "counted",
            "counted_by_atomic",
            "joined",
            "barrier_of_last",
            "semaphore_of_waiter",
            "condition_of_broadcaster",
            "statics",
            "reused",
            "given",
            "detached",
            "forked",
        ],
        &[
            ("wrong_mutex", "observed"),
            ("wrong_rwlock", "observed"),
            ("wrong_spin", "observed"),
            ("wrong_condition", "observed"),
            ("wrong_barrier", "observed"),
            ("wrong_semaphore", "observed"),
            ("wrong_c11_mutex", "observed"),
            ("wrong_c11_condition", "observed"),
            ("wrong_again", "observed"),
            ("wrong_free", "observed"),
            ("wrong_allocation", "observed"),
            ("wrong_begin", "observed"),
            ("wrong_once", "observed"),
        ],
    ),
    (
        "descriptors.c",
        &[
            "joined",
            "last_read",
            "reused",
            "counted",
            "handed_over",
            "replaced",
            "forked",
            "detached",
            "not_open",
        ],
        &[
            ("wrong_write", "observed"),
            ("wrong_read", "observed"),
            ("wrong_replacement", "observed"),
            ("wrong_lock", "predicted"),
        ],
    ),
];

const CHANGED: &[&str] = &[
    "madvise",
    "fixed",
    "break",
    "frexp",
    "frexpl",
    "modf",
    "modff",
    "modfl",
    "sincos",
    "remquo",
    "lgamma_r",
    "strtold",
    "timer_create",
];

const UNCHANGED: &[(&str, &str)] = &[("wrong", "predicted"), ("unlocked", "observed")];

/// Runs programs of a source, built by each compiler with and without optimisation: of `correct` ones nothing is reported, of `wrong` ones a
/// race that is so certain.
fn run_each(source: &str, options: &[&str], correct: &[&str], wrong: &[(&str, &str)]) {
    let folder = Folder::new();
    let _ = folder.runtime();
    let file = format!("{SOURCES}/{source}");
    for (compiler, _) in compilers() {
        for level in ["-O0", "-O2"] {
            let mut compile =
                folder.command(&["cc", "-g", level, &file, "-o", "prog", "-pthread", "-lm", "-lrt"]);
            let compiled = compile.env("FORESEE_CC", compiler).output().unwrap();
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
            let findings = |which: &str| -> (String, Vec<Value>) {
                let line = [&["run", "--format", "json"], options, &["--", "./prog", which]].concat();
                let outcome = folder.foresee(&line);
                let what = format!("{compiler} {level} {which}: {}{}", outcome.stderr, outcome.stdout);
                assert!(matches!(outcome.code, Some(0 | 66)), "{what}");
                // What the program prints comes first.
                let start = outcome.stdout.find('{').unwrap_or_else(|| panic!("{what}"));
                let report: Value =
                    serde_json::from_str(&outcome.stdout[start..]).unwrap_or_else(|_| panic!("{what}"));
                assert!(report["stats"]["values"]["unseen_writes"].as_u64().unwrap_or(0) == 0, "{what}");
                (what, report["findings"].as_array().unwrap().clone())
            };
            for which in correct {
                let (what, found) = findings(which);
                assert!(found.is_empty(), "{what}");
            }
            for (which, certainty) in wrong {
                let (what, found) = findings(which);
                let is_it = |one: &Value| one["kind"] == "race" && one["certainty"] == *certainty;
                assert!(found.iter().any(is_it), "{what}");
            }
        }
    }
}

/// Two threads count in one function, without a lock for what the compiler counts.
const COVERED: &str = r#"
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *work(void *unused) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return count != 40;
}
"#;

#[test]
fn what_compilers_count_for_coverage_is_no_race() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("covered.c", COVERED);
    for flag in ["--coverage", "-fprofile-generate"] {
        for level in ["-O0", "-O1", "-O2"] {
            let mut compile = folder.command(&["cc", level, flag, "covered.c", "-o", "prog", "-pthread"]);
            let compiled = compile.env("FORESEE_CC", "gcc").output().unwrap();
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
            let run = folder.foresee(&["run", "--format", "json", "--", "./prog"]);
            assert_eq!(run.code, Some(0), "{flag} {level}: {}{}", run.stderr, run.stdout);
        }
    }
}

#[test]
fn streams_files_and_cancelled_threads_order() {
    for (source, correct, wrong) in ORDERS {
        run_each(source, &[], correct, wrong);
    }
}

#[test]
fn who_uses_a_lock_that_another_ends_is_told() {
    let (source, correct, wrong) = LIVES[0];
    run_each(source, &[], correct, wrong);
}

#[test]
fn who_uses_a_descriptor_that_another_closes_is_told() {
    let (source, correct, wrong) = LIVES[1];
    run_each(source, &[], correct, wrong);
}

#[test]
fn what_the_kernel_and_results_change_is_seen() {
    run_each("changes.c", &[], CHANGED, UNCHANGED);
}

#[test]
fn no_change_is_unseen() {
    run_each("changes.c", &["--values"], CHANGED, &[]);
}
