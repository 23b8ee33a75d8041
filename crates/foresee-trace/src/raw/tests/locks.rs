//! Atomics inside of lock functions, as optimised and unoptimised programs record them.

use super::super::{Code, DataSymbol, Module, SourceLocation};
use super::*;

/// Code by program counter: the functions it is in, innermost first, each with the line it is on.
struct Functions(&'static [(u64, &'static [(&'static str, u32)])]);

impl Symbolizer for Functions {
    fn code(&mut self, _: &[Module], pc: u64) -> Code {
        let found = self.0.iter().find(|(at, _)| *at == pc + 1).map_or(&[][..], |(_, frames)| frames);
        let frame = |&(function, line): &(&str, u32)| SourceLocation {
            function: function.to_owned(),
            file: "a.rs".to_owned(),
            line,
            column: 1,
        };
        Code { frames: found.iter().map(frame).collect(), ..Code::default() }
    }

    fn data(&mut self, _: &[Module], _: u64) -> Option<DataSymbol> {
        None
    }
}

const LOCK: &str = "<std::sys::sync::mutex::futex::Mutex>::lock";
const TRY_LOCK: &str = "<std::sys::sync::mutex::futex::Mutex>::try_lock";
const UNLOCK: &str = "<std::sys::sync::mutex::futex::Mutex>::unlock";
const CAS: &str = "core::sync::atomic::atomic_compare_exchange::<u32>";
const TIMED: &str = "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutexTimed>::try_lock_for";

/// The user's `main`, with everything inlined; and functions of their own, as without optimisation.
const CODE: &[(u64, &[(&str, u32)])] = &[
    (1, &[(CAS, 9), (LOCK, 8), ("<std::sync::poison::mutex::Mutex<u8>>::lock", 7), ("main", 1)]),
    (2, &[("core::sync::atomic::atomic_swap", 9), (UNLOCK, 8), ("main", 2)]),
    // Two guards at the end of one block: inlined alike.
    (3, &[("core::sync::atomic::atomic_swap", 9), (UNLOCK, 8), ("main", 2)]),
    (4, &[("main", 4)]),
    (5, &[(CAS, 9), (TRY_LOCK, 8), ("main", 5)]),
    // Merged code has lost its functions.
    (6, &[("main", 6)]),
    (7, &[(CAS, 9), (TIMED, 8), ("main", 7)]),
    (8, &[("<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::unlock", 8), ("main", 8)]),
    (20, &[("main", 3)]),
    (21, &[(LOCK, 1)]),
    (22, &[(LOCK, 2)]),
    (23, &[(CAS, 1)]),
    (24, &[(CAS, 2)]),
];

/// What the records of one thread each say about locks and atomics, without locations; and how many locks turned out to be none.
fn said(threads: &[&[&[u64]]]) -> (Vec<String>, usize) {
    let mut file = header();
    for (thread, records) in threads.iter().enumerate() {
        file.extend(chunk(thread as u64, records));
    }
    let (lines, reader) = lines(&file, Box::new(Functions(CODE)));
    let lines = lines.iter().map(|line| line.rsplit_once('|').map_or(&line[..], |(said, _)| said).to_owned());
    (lines.collect(), reader.trust().demoted_locks().count())
}

fn rmw(key: u64, pc: u64, addr: u64, old: u64, new: u64) -> [u64; 5] {
    [first_word(Tag::Rmw, 2 << 4, key), pc, addr, old, new]
}

fn load(key: u64, pc: u64, addr: u64, value: u64) -> [u64; 4] {
    [first_word(Tag::Load, 2 << 4, key), pc, addr, value]
}

fn write(key: u64, pc: u64) -> [u64; 3] {
    [first_word(Tag::Write, 1, key), pc, 0x500]
}

fn enter(key: u64, call: u64, callee: u64) -> [u64; 3] {
    [first_word(Tag::Enter, 0, key), call, callee]
}

fn exit(key: u64) -> [u64; 1] {
    [first_word(Tag::Exit, 0, key)]
}

#[test]
fn inlined_locks_are_held_from_the_next_event_to_the_unlock() {
    let (lines, demoted) =
        said(&[&[&rmw(1, 1, 0x100, 0, 1), &write(2, 4), &rmw(3, 2, 0x100, 1, 0), &write(4, 4)]]);
    let lock = "l@0x100:Mutex<u8>";
    let write = "main|w([0x500..0x501])";
    let all = [
        &format!("main|req({lock})"),
        &format!("main|acq({lock})"),
        write,
        &format!("main|rel({lock})"),
        write,
    ];
    assert_eq!(lines, all);
    assert_eq!(demoted, 0);
}

#[test]
fn a_contended_lock_is_got_unseen() {
    let (lines, _) = said(&[
        &[&rmw(1, 1, 0x100, 0, 1), &write(2, 4), &rmw(5, 2, 0x100, 2, 0)],
        &[&load(3, 1, 0x100, 1), &write(8, 4), &rmw(9, 2, 0x100, 1, 0)],
    ]);
    let order: Vec<&str> = lines.iter().map(|line| line.split('(').next().unwrap()).collect();
    assert_eq!(order, ["main|req", "main|acq", "main|w", "T1|req", "main|rel", "T1|acq", "T1|w", "T1|rel"]);
}

#[test]
fn two_locks_given_back_on_one_line_are_two() {
    let (lines, _) = said(&[&[
        &rmw(1, 1, 0x100, 0, 1),
        &rmw(3, 1, 0x200, 0, 1),
        &rmw(5, 2, 0x200, 1, 0),
        &rmw(7, 3, 0x100, 1, 0),
        &write(8, 4),
    ]]);
    let releases: Vec<&String> = lines.iter().filter(|line| line.starts_with("main|rel")).collect();
    assert_eq!(releases, ["main|rel(l@0x200:Mutex<u8>)", "main|rel(l@0x100:Mutex<u8>)"]);
}

#[test]
fn functions_of_their_own_begin_and_end_exactly() {
    let (lines, _) = said(&[&[
        &enter(2, 20, 21),
        &enter(2, 22, 23),
        &rmw(3, 24, 0x100, 0, 1),
        &exit(4),
        &exit(4),
        &write(4, 4),
    ]]);
    assert_eq!(lines, ["main|req(l@0x100)", "main|acq(l@0x100)", "main|w([0x500..0x501])"]);
}

#[test]
fn only_a_try_that_changes_the_word_has_the_lock() {
    let (lines, _) = said(&[&[&load(1, 5, 0x100, 1), &write(2, 4), &rmw(3, 5, 0x100, 0, 1), &write(4, 4)]]);
    assert_eq!(lines, ["main|w([0x500..0x501])", "main|acq.try(l@0x100)", "main|w([0x500..0x501])"]);
}

#[test]
fn waiting_for_some_time_had_success_if_the_lock_is_given_back_next() {
    let timed = |next: [u64; 5]| said(&[&[&load(1, 7, 0x100, 1), &write(2, 4), &next]]).0;
    assert_eq!(
        timed(rmw(3, 8, 0x100, 1, 0)),
        ["main|acq.try(l@0x100)", "main|w([0x500..0x501])", "main|rel(l@0x100)"]
    );
    assert_eq!(timed(rmw(3, 1, 0x100, 0, 1))[0], "main|w([0x500..0x501])");
}

#[test]
fn an_atomic_without_function_is_understood_or_no_lock() {
    let (lines, demoted) =
        said(&[&[&rmw(1, 1, 0x100, 0, 1), &write(2, 4), &rmw(3, 6, 0x100, 1, 0), &write(4, 4)]]);
    assert_eq!(lines[3], "main|rel(l@0x100:Mutex<u8>)");
    assert_eq!(demoted, 0);
    let (_, demoted) = said(&[&[&rmw(1, 1, 0x100, 0, 1), &write(2, 4)], &[&rmw(5, 6, 0x100, 1, 2)]]);
    assert_eq!(demoted, 1);
    // One that holds it sets a bit: that gives nothing back.
    let (_, demoted) = said(&[&[&rmw(1, 1, 0x100, 0, 1), &write(2, 4), &rmw(3, 6, 0x100, 1, 3)]]);
    assert_eq!(demoted, 1);
}

/// What each event does, and to what, without types.
fn acts(lines: &[String]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line.split([':', '[', '=']).next().unwrap_or_default().trim_end_matches(')'))
        .collect()
}

#[test]
fn a_lock_given_back_by_another_thread_is_none_from_then_on() {
    let (lines, demoted) = said(&[
        &[&rmw(1, 1, 0x100, 0, 1), &write(2, 4)],
        &[&rmw(5, 2, 0x100, 1, 0), &write(6, 4), &rmw(7, 1, 0x100, 0, 1), &write(8, 4)],
    ]);
    let expected = [
        "main|req(l@0x100",
        "main|acq(l@0x100",
        "main|w(",
        "main|rel(l@0x100",
        "T1|acq.try(l@0x100",
        "T1|rel(l@0x100",
        "T1|rmw.acqrel(",
        "T1|rmw.acqrel(",
        "T1|w(",
        "T1|rmw.acqrel(",
        "T1|w(",
    ];
    assert_eq!((acts(&lines), demoted), (expected.to_vec(), 1));
}

#[test]
fn two_holders_are_no_holders() {
    let (lines, demoted) =
        said(&[&[&rmw(1, 1, 0x100, 0, 1), &write(2, 4)], &[&rmw(3, 1, 0x100, 1, 1), &write(4, 4)]]);
    assert_eq!(demoted, 1);
    let first = lines.iter().position(|line| line.starts_with("main|rel")).unwrap();
    let second = lines.iter().position(|line| line.starts_with("T1|acq.try")).unwrap();
    assert!(first < second, "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("T1|acq(")), "{lines:?}");
}

const TRY_READ: &str = "<spin::rwlock::RwLock<u8>>::try_read";

#[test]
fn an_attempt_that_takes_back_what_it_did_has_nothing() {
    let code: &'static [(u64, &[(&str, u32)])] = &[(1, &[(TRY_READ, 8), ("main", 1)]), (4, &[("main", 4)])];
    let of = |old| {
        let mut file = header();
        let (taken, undone) = (rmw(1, 1, 0x100, old, old + 4), rmw(2, 1, 0x100, old + 4, old));
        let mut records: Vec<&[u64]> = vec![&taken, &undone];
        if old == 0 {
            records.pop();
        }
        let after = write(3, 4);
        records.push(&after);
        file.extend(chunk(0, &records));
        lines(&file, Box::new(Functions(code))).0.len()
    };
    // The write alone, or what takes the lock, too.
    assert_eq!((of(1), of(2), of(0)), (1, 1, 2));
}

/// The holder gets it, and gives it back, between the other's attempt and the record that shows that it failed.
#[test]
fn who_fails_may_be_late_to_say_so() {
    let (lines, _) = said(&[
        &[&rmw(1, 5, 0x100, 0, 1), &write(4, 4), &rmw(5, 2, 0x100, 1, 0)],
        &[&load(3, 5, 0x100, 1), &write(6, 4)],
    ]);
    let order: Vec<&str> = lines.iter().map(|line| line.split('(').next().unwrap()).collect();
    let holder = ["main|acq.try", "main|load.relaxed", "main|w", "main|store.relaxed", "main|rel"];
    assert_eq!(order, [&["main|store.relaxed", "T1|load.relaxed"], &holder[..], &["T1|w"]].concat());
}
