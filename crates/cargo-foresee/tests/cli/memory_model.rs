//! The memory model of C++20: each way to order threads in a correct program, of which no engine may report anything, and
//! in its broken twin, of which something must be.
//!
//! `FORESEE_TIMES` multiplies how often each is run.

use crate::programs::compilers;
use crate::support::Folder;

/// The programs in `memory_model`; with `BROKEN` defined, each is its broken twin.
const PROGRAMS: [(&str, &str); 11] = [
    ("release_sequence", include_str!("memory_model/release_sequence.cpp")),
    ("fences", include_str!("memory_model/fences.cpp")),
    ("relaxed_counter", include_str!("memory_model/relaxed_counter.cpp")),
    ("seqlock", include_str!("memory_model/seqlock.cpp")),
    ("consume", include_str!("memory_model/consume.cpp")),
    ("atomic_ref", include_str!("memory_model/atomic_ref.cpp")),
    ("mixed", include_str!("memory_model/mixed.cpp")),
    ("atomic_flag", include_str!("memory_model/atomic_flag.cpp")),
    ("latch", include_str!("memory_model/latch.cpp")),
    ("shared_mutex", include_str!("memory_model/shared_mutex.cpp")),
    ("call_once", include_str!("memory_model/call_once.cpp")),
];

/// Builds each program by each compiler, and runs it: the exit code must be `code`, every time.
fn assert_codes(flags: &[&str], code: i32) {
    let times = std::env::var("FORESEE_TIMES").map_or(1, |times| times.parse().unwrap());
    let folder = Folder::new();
    let _ = folder.runtime();
    for (name, text) in PROGRAMS {
        folder.write("prog.cpp", text);
        for (_, compiler) in compilers() {
            let mut compile =
                folder.command(&["c++", "-std=c++20", "-O1", "prog.cpp", "-o", "prog", "-pthread"]);
            let compiled = compile.args(flags).env("FORESEE_CXX", compiler).output().unwrap();
            assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
            for _ in 0..3 * times {
                let ran = folder.foresee(&["run", "--", "./prog"]);
                assert_eq!(ran.code, Some(code), "{name} by {compiler}: {}{}", ran.stdout, ran.stderr);
            }
        }
    }
}

#[test]
fn correct_programs_are_clean() {
    assert_codes(&[], 0);
}

#[test]
fn their_broken_twins_are_found() {
    assert_codes(&["-DBROKEN"], 66);
}

/// They are undefined, and no engine says which of them race.
#[test]
fn atomics_of_different_sizes_are_said_not_to_be_covered() {
    let folder = Folder::new();
    folder.build(
        "sizes.c",
        r"
#include <pthread.h>
static long long word;
static int half;
static void *low(void *arg) { __atomic_store_n((int *)&word, 1, __ATOMIC_RELAXED); return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, low, 0);
    __atomic_fetch_add(&word, 2, __ATOMIC_RELAXED);
    __atomic_fetch_add(&half, 2, __ATOMIC_RELAXED);
    pthread_join(thread, 0);
    return 0;
}
",
    );
    let ran = folder.foresee(&["run", "--", "./prog"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("`word` is accessed by atomics of different sizes"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("`half`"), "{}", ran.stderr);
}
