//! Real programs, recorded: each primitive in a correct program, of which nothing may be reported, and broken programs,
//! of which the race must be found.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::os::unix::process::ExitStatusExt as _;

use support::Program;

#[test]
fn a_mutex_protects() {
    let run = Program::compile("mutex.c").assert_clean();
    assert_eq!(
        (run.count("T", "acquire"), run.count("T", "release"), run.count("T", "request")),
        (400, 400, 400)
    );
    assert_eq!(
        (run.count("main", "fork"), run.count("main", "join"), run.count("T", "thread-end")),
        (4, 4, 4)
    );
    assert!(run.facts.iter().any(|(name, value)| name == "command" && value.ends_with("/program")));
}

#[test]
fn an_unprotected_counter_is_a_race() {
    let run = Program::compile("counter.c").record();
    assert!(run.status.success());
    assert!(run.count("T1", "write") >= 100 && run.count("T2", "write") >= 100);
    assert!(run.count("T1", "read") >= 100);
    assert!(!run.races.is_empty());
}

#[test]
fn copies_are_accesses() {
    let run = Program::compile("copy.c").record();
    assert!(!run.races.is_empty());
}

#[test]
fn reader_writer_locks_protect() {
    let run = Program::compile("rwlock.c").assert_clean();
    assert!(run.count("T", "acquire-shared") > 0 && run.count("T", "acquire") > 0);
    assert_eq!(run.count("T", "acquire-shared"), run.count("T", "release-shared"));
}

#[test]
fn conditions_hand_over() {
    let run = Program::compile("cond.c").assert_clean();
    assert!(run.count("", "notify") > 0);
    assert_eq!(run.count("", "acquire"), run.count("", "release"));
}

#[test]
fn barriers_order_rounds() {
    Program::compile("barrier.c").assert_clean();
}

#[test]
fn semaphores_spin_locks_and_once_order() {
    Program::compile("once_sem_spin.c").assert_clean();
}

#[test]
fn atomics_pass_messages() {
    let run = Program::compile("atomics.c").assert_clean();
    assert!(run.count("", "store") > 0 && run.count("", "load") > 0 && run.count("", "rmw") > 0);
    assert!(run.count("", "fence") > 0);
}

#[test]
fn a_relaxed_message_is_a_race() {
    assert!(!Program::compile("relaxed.c").record().races.is_empty());
}

#[test]
fn memory_that_is_used_again_is_new() {
    let run = Program::compile("memory.c").assert_clean();
    assert!(run.count("", "alloc") > 0 && run.count("", "free") > 0);
}

#[test]
fn cpp_threads_statics_and_futures() {
    Program::compile("threads.cpp").assert_clean();
}

#[test]
fn fifty_named_threads() {
    let run = Program::compile("fifty.c").assert_clean();
    assert_eq!((run.count("main", "fork"), run.count("worker", "thread-end")), (50, 50));
}

#[test]
fn what_was_recorded_survives_any_end() {
    for (name, signal, code) in [
        ("sigkill.c", Some(libc_signal::KILL), None),
        ("abort.c", Some(libc_signal::ABORT), None),
        ("quick_exit.c", None, Some(7)),
    ] {
        let run = Program::compile(name).record();
        // `timeout` passes a signal on as 128 + n, or dies of it.
        let expected = code.or(signal.map(|signal| 128 + signal));
        assert!(run.status.code() == expected || run.status.signal() == signal, "{name}: {:?}", run.status);
        assert!(run.count("main", "write") >= 1000, "{name}");
        assert!(run.races.is_empty());
    }
}

#[test]
fn the_child_of_a_fork_is_not_recorded() {
    let run = Program::compile("fork.c").record();
    assert!(run.status.success());
    assert!((100..200).contains(&run.count("main", "write")), "{}", run.count("main", "write"));
}

#[test]
fn a_full_file_stops_the_recording_not_the_program() {
    let run = Program::compile("full.c").record();
    assert!(run.status.success());
    assert!(run.events.len() > 1000);
}

mod libc_signal {
    pub(crate) const ABORT: i32 = 6;
    pub(crate) const KILL: i32 = 9;
}
