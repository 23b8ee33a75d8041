//! What a recording does not show is known: correct programs whose state changes unseen get no alarm, and what is wrong beside that
//! is still found.
//!
//! The programs are in `tests/programs/blind`, one for each way not to be recorded.

use std::process::Command;

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, Outcome};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/blind");

const CORRECT: &[&str] = &[
    "result",
    "bit_field",
    "vector",
    "extended",
    "list",
    "map",
    "text",
    "stream",
    "assembly",
    "write_outside",
    "read_outside",
    "lock_outside",
    "order_outside",
    "atomic_in_assembly",
    "ready_at_exit",
    "field_in_frame",
    "result_in_frame",
    "own_buffer",
    "memory_stream",
    "mapped_file",
    "new_handler",
    "waits_outside",
    "beside_assembly",
    "beside_assembly last",
    "shared_text",
    "shared_text last",
    "shared_outside",
    "shared_outside last",
    "shared_locale",
    "child_memory",
];

/// What is wrong beside code that is not recorded and matters to nobody.
const WRONG: &[&str] = &["wrong", "beside_own_frame"];

/// Builds the program: `prog`, and `outside.o` without foresee.
fn build(folder: &Folder, compiler: &str, level: &str) {
    let outside = format!("{SOURCES}/outside.cpp");
    let mut plain = Command::new(compiler);
    plain.args(["-c", "-O2", "-fPIC", &outside, "-o"]).arg(folder.path("outside.o"));
    assert!(plain.status().unwrap().success());
    let source = format!("{SOURCES}/blind.cpp");
    let mut compile =
        folder.command(&["c++", "-std=c++17", level, &source, "outside.o", "-o", "prog", "-pthread"]);
    let compiled = compile.env("FORESEE_CXX", compiler).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

fn findings(folder: &Folder, which: &str) -> Vec<Value> {
    let run = ["run", "--format", "json", "--", "./prog"];
    let arguments: Vec<&str> = run.into_iter().chain(which.split_whitespace()).collect();
    let Outcome { stdout, stderr, .. } = folder.foresee(&arguments);
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{which}: {stderr}{stdout}"));
    report["findings"].as_array().unwrap().clone()
}

#[test]
fn what_is_not_seen_is_no_alarm() {
    let folder = Folder::new();
    let _ = folder.runtime();
    for (_, compiler) in compilers() {
        for level in ["-O0", "-O2"] {
            build(&folder, compiler, level);
            for which in CORRECT {
                let found = findings(&folder, which);
                let is_candidate = |one: &Value| one["certainty"] == "candidate";
                assert!(found.iter().all(is_candidate), "{compiler} {level} {which}: {found:#?}");
            }
            for which in WRONG {
                let found = findings(&folder, which);
                let is_predicted = |one: &Value| one["kind"] == "race" && one["certainty"] == "predicted";
                assert!(found.iter().any(is_predicted), "{compiler} {level} {which}: {found:#?}");
            }
        }
    }
}

/// A library that is not recorded orders threads, and nothing that is recorded calls it by name: addresses lead there, and the system. Whether a part of it is linked in or all of it is loaded.
#[test]
fn what_others_do_unseen_is_no_alarm_however_they_are_called() {
    let folder = Folder::new();
    let _ = folder.runtime();
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/foreign");
    let [library, program] = ["library.c", "foreign.c"].map(|name| format!("{sources}/{name}"));
    for (compiler, _) in compilers() {
        let mut plain = Command::new(compiler);
        plain.args(["-O2", "-fPIC", "-shared", &library, "-o"]).arg(folder.path("libforeign.so"));
        assert!(plain.status().unwrap().success());
        for level in ["-O0", "-O2"] {
            let mut compile =
                folder.command(&["cc", level, &program, "./libforeign.so", "-o", "prog", "-pthread"]);
            let compiled = compile.env("FORESEE_CC", compiler).output().unwrap();
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
            for which in ["waits", "jumps", "calls", "by_address", "by_key", "by_once", "by_walk"] {
                let found = findings(&folder, which);
                let is_candidate = |one: &Value| one["certainty"] == "candidate";
                assert!(found.iter().all(is_candidate), "{compiler} {level} {which}: {found:#?}");
            }
        }
    }
}

/// What is in `libraries.cpp`.
const IN_LIBRARIES: &[&str] = &[
    "weak_owner",
    "asks_whether_it_lives",
    "barrier",
    "facet",
    "folders",
    "expressions",
    "text",
    "exception",
    "atomic_owner",
    "prints",
];

/// Compilers, with the flag for a library of C++: their own, that with texts of the old kind, LLVM's.
const LIBRARIES: [(&str, Option<&str>); 4] = [
    ("g++", None),
    ("g++", Some("-D_GLIBCXX_USE_CXX11_ABI=0")),
    ("clang++", None),
    ("clang++", Some("-stdlib=libc++")),
];

#[test]
fn orders_within_the_cxx_library_are_no_alarm() {
    let folder = Folder::new();
    let _ = folder.runtime();
    let source = format!("{SOURCES}/libraries.cpp");
    for (compiler, library) in LIBRARIES {
        for level in ["-O0", "-O2"] {
            let mut compile =
                folder.command(&["c++", "-std=c++20", level, &source, "-o", "prog", "-pthread"]);
            let compiled = compile.args(library).env("FORESEE_CXX", compiler).output().unwrap();
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
            for which in IN_LIBRARIES {
                let found = findings(&folder, which);
                let is_candidate = |one: &Value| one["certainty"] == "candidate";
                assert!(found.iter().all(is_candidate), "{compiler} {library:?} {level} {which}: {found:#?}");
            }
        }
    }
}

/// Two threads race, and both access memory unseen before and after; the file has one instruction more.
const ONE_INSTRUCTION: &str = r#"#include <atomic>
#include <thread>
#define SET(state) asm volatile("movl $1, %0" : "=m"(state))
static std::atomic<int> ready;
int data, unused, one, other;
int main() {
    std::thread thread([] { SET(one); data = 1; SET(one); ready = 1; });
    SET(other);
    data = 2;
    SET(other);
    while (!ready) INSTRUCTION;
    thread.join();
}
"#;

/// Assembly that orders threads makes accesses suspicious that nobody records; a hint to the processor does not.
#[test]
fn spinning_is_no_reason_to_doubt() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.cpp", ONE_INSTRUCTION);
    let instructions =
        [("__builtin_ia32_pause()", true), ("asm volatile(\"lock incl %0\" : \"+m\"(unused))", false)];
    for (_, compiler) in compilers() {
        for (instruction, is_certain) in instructions {
            let define = format!("-DINSTRUCTION={instruction}");
            let args = ["c++", "-w", "-O1", define.as_str(), "prog.cpp", "-o", "prog", "-pthread"];
            assert!(folder.command(&args).env("FORESEE_CXX", compiler).status().unwrap().success());
            let found = findings(&folder, "");
            let is_observed = found.iter().any(|one| one["certainty"] == "observed");
            assert_eq!(is_observed, is_certain, "{compiler} {instruction}: {found:#?}");
        }
    }
}

#[test]
fn blind_sections_are_counted_and_settings_open_eyes() {
    let folder = Folder::new();
    let _ = folder.runtime();
    build(&folder, "g++", "-O2");
    let report = |folder: &Folder| -> Value {
        let Outcome { stdout, .. } =
            folder.foresee(&["run", "--format", "json", "--", "./prog", "write_outside"]);
        serde_json::from_str(&stdout).unwrap()
    };
    let blind = &report(&folder)["stats"]["blind"];
    assert_eq!(blind["code"][0]["name"], "outside_write", "{blind:#}");
    assert_eq!(blind["blind"], 1);
    let Outcome { stderr, .. } = folder.foresee(&["run", "--", "./prog", "write_outside"]);
    assert!(stderr.contains("critical sections ran code that is not recorded"), "{stderr}");
    // The user's word counts, even if it is wrong: then the race of the other schedule is predicted.
    std::fs::create_dir(folder.path(".config")).unwrap();
    folder.write(".config/foresee.toml", "no-effect = [\"outside_write\"]\n");
    let report = report(&folder);
    assert_eq!(report["stats"]["blind"]["blind"], 0, "{report:#}");
    assert_eq!(report["findings"][0]["certainty"], "predicted", "{report:#}");
}

/// Two threads race outside of sections that have nothing in common but the lock, whose life is recorded; some code in the loop around them is not recorded.
const ONE_CALL: &str = r#"#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
static OBJECT lock;
static long own[2][8];
static int polls;
int y;
static void *work(void *p) {
    long id = (long)p;
    if (id == 0) y = 1; else usleep(100000);
    for (int i = 0; i < 3; i++) {
        if (polls == 1) { poll(0, 0, 0); own[id][1]++; }
        LOCK(&lock);
        if (polls == 2) { poll(0, 0, 0); own[id][2]++; }
        own[id][0]++;
        UNLOCK(&lock);
    }
    if (id == 1) y = 2;
    return 0;
}
int main(int count, char **words) {
    polls = atoi(words[1]);
    INIT;
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

/// A call that uses a lock makes several records, and nothing that its caller does comes between them.
#[test]
fn nothing_runs_unseen_within_the_call_of_a_lock() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", ONE_CALL);
    let locks = [
        ("pthread_mutex_t", "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex_init(&lock, 0)"),
        (
            "pthread_rwlock_t",
            "pthread_rwlock_wrlock",
            "pthread_rwlock_unlock",
            "pthread_rwlock_init(&lock, 0)",
        ),
        ("pthread_spinlock_t", "pthread_spin_lock", "pthread_spin_unlock", "pthread_spin_init(&lock, 0)"),
        ("sem_t", "sem_wait", "sem_post", "sem_init(&lock, 0, 1)"),
    ];
    for (compiler, _) in compilers() {
        for (object, lock, unlock, init) in locks {
            let defines = [("OBJECT", object), ("LOCK", lock), ("UNLOCK", unlock), ("INIT", init)];
            let defines = defines.map(|(name, value)| format!("-D{name}={value}"));
            let mut compile = folder.command(&["cc", "-O1", "prog.c", "-o", "prog", "-pthread"]);
            assert!(compile.args(defines).env("FORESEE_CC", compiler).status().unwrap().success());
            for (polls, code) in [("0", 66), ("1", 66), ("2", 0)] {
                let outcome = folder.foresee(&["run", "--", "./prog", polls]);
                assert_eq!(outcome.code, Some(code), "{compiler} {object} {polls}: {}", outcome.stdout);
            }
        }
    }
}
