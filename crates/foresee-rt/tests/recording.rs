//! Real programs, recorded: each primitive in a correct program, of which nothing may be reported, and broken programs,
//! of which the race must be found.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

mod headers;
mod never_lost;
mod support;

use std::os::unix::process::ExitStatusExt as _;

use foresee_trace::raw::is_side_file;
use support::each;

#[test]
fn a_mutex_protects() {
    each("mutex.c", |program| {
        let run = program.assert_clean();
        assert_eq!(
            (run.count("T", "acquire"), run.count("T", "release"), run.count("T", "request")),
            (400, 400, 400)
        );
        assert_eq!(
            (run.count("main", "fork"), run.count("main", "join"), run.count("T", "thread-end")),
            (4, 4, 4)
        );
        assert!(run.facts.iter().any(|(name, value)| name == "command" && value.ends_with("/program")));
    });
}

#[test]
fn an_unprotected_counter_is_a_race() {
    each("counter.c", |program| {
        let run = program.record();
        assert!(run.status.success());
        assert!(run.count("T1", "write") >= 100 && run.count("T2", "write") >= 100);
        assert!(run.count("T1", "read") >= 100);
        assert!(!run.races.is_empty());
    });
}

#[test]
fn copies_are_accesses() {
    each("copy.c", |program| {
        let run = program.record();
        assert!(!run.races.is_empty());
    });
}

#[test]
fn the_c_library_does_what_it_does_and_its_accesses_are_recorded() {
    each("effects.c", |program| {
        let run = program.assert_clean();
        assert!(run.count("T", "write") > 100 && run.count("T", "read") > 100);
    });
}

#[test]
fn reader_writer_locks_protect() {
    each("rwlock.c", |program| {
        let run = program.assert_clean();
        assert!(run.count("T", "acquire-shared") > 0 && run.count("T", "acquire") > 0);
        assert_eq!(run.count("T", "acquire-shared"), run.count("T", "release-shared"));
    });
}

#[test]
fn conditions_hand_over() {
    each("cond.c", |program| {
        let run = program.assert_clean();
        assert!(run.count("", "notify") > 0);
        assert_eq!(run.count("", "acquire"), run.count("", "release"));
    });
}

#[test]
fn barriers_order_rounds() {
    each("barrier.c", |program| drop(program.assert_clean()));
}

#[test]
fn semaphores_spin_locks_and_once_order() {
    each("once_sem_spin.c", |program| drop(program.assert_clean()));
}

#[test]
fn atomics_pass_messages() {
    each("atomics.c", |program| {
        let run = program.assert_clean();
        assert!(run.count("", "store") > 0 && run.count("", "load") > 0 && run.count("", "rmw") > 0);
        assert!(run.count("", "fence") > 0);
    });
}

#[test]
fn atomics_of_16_bytes_pass_messages() {
    each("atomics128.c", |program| {
        let run = program.assert_clean();
        assert!(run.count("", "store") > 0 && run.count("", "load") > 0 && run.count("", "rmw") > 0);
    });
}

#[test]
fn a_relaxed_message_is_a_race() {
    each("relaxed.c", |program| assert!(!program.record().races.is_empty()));
}

#[test]
fn memory_that_is_used_again_is_new() {
    each("memory.c", |program| {
        let run = program.assert_clean();
        assert!(run.count("", "alloc") > 0 && run.count("", "free") > 0);
    });
}

#[test]
fn cpp_threads_statics_and_futures() {
    each("threads.cpp", |program| drop(program.assert_clean()));
}

#[test]
fn containers_of_cpp_do_what_they_do_and_their_accesses_are_recorded() {
    each("containers.cpp", |program| drop(program.assert_clean()));
}

#[test]
fn readiness_and_moved_data_order() {
    each("readiness.c", |program| drop(program.assert_clean()));
}

#[test]
fn a_poll_of_something_else_orders_nothing() {
    each("poll_race.c", |program| assert!(!program.record().races.is_empty()));
}

#[test]
fn other_processes_hand_over() {
    each("children.c", |program| drop(program.assert_clean()));
}

#[test]
fn signals_hand_over_to_their_handlers() {
    each("sent_signals.c", |program| drop(program.assert_clean()));
}

#[test]
fn fifty_named_threads() {
    each("fifty.c", |program| {
        let run = program.assert_clean();
        assert_eq!((run.count("main", "fork"), run.count("worker", "thread-end")), (50, 50));
    });
}

#[test]
fn what_was_recorded_survives_any_end() {
    for (name, signal, code) in [
        ("sigkill.c", Some(libc_signal::KILL), None),
        ("abort.c", Some(libc_signal::ABORT), None),
        ("quick_exit.c", None, Some(7)),
    ] {
        each(name, |program| {
            let run = program.record();
            // `timeout` passes a signal on as 128 + n, or dies of it.
            let expected = code.or(signal.map(|signal| 128 + signal));
            assert!(
                run.status.code() == expected || run.status.signal() == signal,
                "{name}: {:?}",
                run.status
            );
            assert!(run.count("main", "write") >= 1000, "{name}");
            assert!(run.races.is_empty());
        });
    }
}

#[test]
fn the_child_of_a_fork_has_a_trace_of_its_own() {
    each("fork.c", |program| {
        let run = program.record();
        assert!(run.status.success());
        assert!((100..200).contains(&run.count("main", "write")), "{}", run.count("main", "write"));
        let [child] = &program.others()[..] else { panic!("one child") };
        assert!(child.count("main", "write") >= 5000);
    });
}

/// The locks that the parent's thread held are held in the child, whose trace would be impossible otherwise.
#[test]
fn the_child_of_a_fork_holds_what_its_parent_held() {
    each("fork_children.c", |program| {
        for _ in 0..5 {
            let run = program.record();
            assert!(run.status.success());
            assert!(run.races.is_empty(), "{:#?}", run.describe_races());
            let [child] = &program.others()[..] else { panic!("one child") };
            assert_eq!((child.count("", "acquire"), child.count("", "release")), (3, 3));
            assert_eq!((child.count("main", "fork"), child.count("main", "join")), (2, 2));
            assert!(!child.races.is_empty());
        }
    });
}

#[test]
fn copies_of_the_process_that_nobody_sees_record_nothing() {
    each("copied_process.c", |program| {
        let run = program.assert_clean();
        // With what creating the thread writes: its handle.
        assert_eq!(run.count("main", "write"), 10 + 1);
        assert!(program.others().is_empty());
    });
}

#[test]
fn functions_are_found_before_it_is_too_late() {
    each("late_lookup.c", |program| drop(program.assert_clean()));
}

#[test]
fn the_kernel_hands_over() {
    each("pipes.c", |program| {
        let run = program.assert_clean();
        assert!(run.count("T1", "rmw") >= 8 && run.count("main", "load") >= 8);
    });
    each("pipe_race.c", |program| assert!(!program.record().races.is_empty()));
}

#[test]
fn the_kernel_hands_over_by_other_means() {
    each("ipc.c", |program| {
        program.assert_clean();
    });
}

#[test]
fn numbers_of_descriptors_are_used_again() {
    each("reused_fds.c", |program| {
        program.assert_clean();
    });
}

#[test]
fn pages_that_are_mapped_again_are_new() {
    each("mappings.c", |program| drop(program.assert_clean()));
    each("unmap_race.c", |program| assert!(!program.record().races.is_empty()));
}

#[test]
fn annotations_for_other_tools_are_understood() {
    each("annotated.c", |program| {
        let run = program.assert_clean();
        // Twice each level, the levels taken again, the attempt and its second try, the other lock.
        assert_eq!(run.count("worker", "acquire"), 2 * 20 * (2 + 2 + 1 + 1));
        assert_eq!(run.count("worker", "release"), 2 * 20 * (2 + 2 + 1 + 1));
    });
}

#[test]
fn fibers_are_threads() {
    each("fibers.c", |program| {
        let run = program.assert_clean();
        assert_eq!((run.count("fiber", "write"), run.count("fiber", "thread-end")), (4, 1));
    });
}

#[test]
fn threads_of_c11() {
    each("c11.c", |program| {
        let run = program.assert_clean();
        assert_eq!((run.count("main", "fork"), run.count("main", "join")), (2, 2));
        assert_eq!(run.count("", "acquire"), run.count("", "release"));
    });
    each("c11_race.c", |program| assert!(!program.record().races.is_empty()));
}

#[test]
fn string_functions_access_memory() {
    each("strings.c", |program| {
        let run = program.record();
        assert!(run.status.success());
        // Each of the eight texts is looked at while it is changed.
        assert_eq!(run.races.len(), 8, "{:#?}", run.describe_races());
    });
}

#[test]
fn signal_handlers_may_come_at_any_moment_and_jump() {
    each("handlers.c", |program| {
        for _ in 0..5 {
            let run = program.record();
            assert!(run.status.success(), "{:?}", run.status);
            assert!(run.races.is_empty(), "{:#?}", run.describe_races());
            assert_eq!(run.count("main", "join"), 1, "what follows the jump is recorded");
        }
    });
}

/// What handlers store to atomics is in the trace, each time, whatever they interrupt: as often as the program itself says.
#[test]
fn what_signal_handlers_do_is_recorded() {
    each("signal_storm.c", |program| {
        let ((handled, _), run) = program.record_output(&[]);
        assert_eq!(run.count("main", "store").to_string(), handled);
        run.assert_ends_well();
    });
    each("queued_signals.c", |program| {
        assert_eq!(program.run_native(&[]).0, "1200");
        let ((handled, _), run) = program.record_output(&[]);
        assert_eq!((run.count("main", "store"), handled.as_str()), (1200, "1200"));
        run.assert_ends_well();
    });
}

#[test]
fn signal_handlers_ignore_nothing() {
    each("ignored_handlers.c", |program| {
        let run = program.assert_clean();
        assert_eq!((run.count("T1", "store"), run.count("T1", "write")), (50, 50));
    });
}

#[test]
fn signal_handlers_may_leave_by_any_way() {
    each("handlers_leave.c", |program| {
        let ((threads, _), run) = program.record_output(&[]);
        assert_eq!((run.count("T", "store"), threads.as_str()), (20, "20"));
        assert_eq!(run.count("T", "thread-end"), 20);
        assert_eq!(program.others().len(), 5);
        run.assert_ends_well();
    });
}

#[test]
fn faults_of_atomic_operations_may_be_survived() {
    each("faults.c", |program| drop(program.assert_clean()));
}

#[test]
fn signal_handlers_belong_to_their_threads_from_the_beginning() {
    each("early_signals.c", |program| {
        let ((handled, _), run) = program.record_output(&[]);
        assert_eq!(run.count("T", "store").to_string(), handled);
        assert_eq!((run.count("T", "thread-begin"), run.count("T", "thread-end")), (200, 200));
        run.assert_ends_well();
    });
}

#[test]
fn exceptions_leave_functions() {
    each("exceptions.cpp", |program| {
        let run = program.assert_clean();
        assert_eq!(run.count("T", "acquire"), 2 * (20 + 10));
        assert_eq!(run.count("T", "enter"), run.count("T", "exit"));
    });
}

#[test]
fn functions_and_threads_may_be_left_without_a_return() {
    each("leaving.c", |program| {
        let run = program.assert_clean();
        assert_eq!(run.count("main", "enter"), run.count("main", "exit"));
        assert_eq!((run.count("T", "acquire"), run.count("T", "release")), (2, 2));
        assert!(run.count("T", "thread-end") >= 2);
    });
}

#[test]
fn a_full_file_stops_the_recording_not_the_program() {
    each("full.c", |program| {
        let run = program.record();
        assert!(run.status.success());
        assert!(run.events.len() > 1000);
    });
}

mod libc_signal {
    pub(crate) const ABORT: i32 = 6;
    pub(crate) const KILL: i32 = 9;
}

#[test]
fn threads_write_side_by_side() {
    each("side_by_side.c", |program| {
        let run = program.record();
        assert!(run.status.success());
        assert!(run.races.is_empty(), "{:#?}", run.describe_races());
        // Four threads write 80,000 times each, then one more, and one of the child.
        assert!(run.count("T", "write") >= 400_000, "{}", run.count("T", "write"));
        let [child] = &program.others()[..] else { panic!("one child") };
        assert!(child.count("T", "write") >= 80_000);
        let files = program.trace_files();
        let sides = files.iter().filter(|path| is_side_file(path.to_str().unwrap())).count();
        let processors = std::thread::available_parallelism().unwrap().get();
        assert!(sides >= usize::from(processors > 1), "{sides}");
    });
}
