use super::*;
use crate::event::{Mem, Mode, Order};
use crate::ids::{LocId, LockId};

const X: Mem = Mem { addr: 0x1000, size: 4 };
const L: LockId = LockId(0);
const A: ThreadId = ThreadId(0);
const B: ThreadId = ThreadId(1);

fn verdict(events: &[(ThreadId, Op<'static>)]) -> Verdict {
    let mut names = Names::new();
    let (a, b, l) = (names.thread("A"), names.thread("B"), names.lock("l"));
    assert_eq!((a, b, l), (A, B, L));
    let mut validator = Validator::new();
    for (index, &(thread, op)) in (0..).zip(events) {
        validator.event(&names, index, &Event { thread, loc: LocId::UNKNOWN, op });
    }
    validator.finish()
}

#[track_caller]
fn possible(events: &[(ThreadId, Op<'static>)]) {
    let verdict = verdict(events);
    assert!(verdict.is_valid(), "{:?}", verdict.problems);
}

/// Exactly one problem, at the last event.
#[track_caller]
fn impossible(events: &[(ThreadId, Op<'static>)], what: &str) {
    let verdict = verdict(events);
    assert_eq!(verdict.problem_count, 1, "{:?}", verdict.problems);
    let problem = &verdict.problems[0];
    assert_eq!((problem.index, problem.what.as_str()), (events.len() as u64 - 1, what));
}

fn acquire(mode: Mode) -> Op<'static> {
    Op::Acquire { lock: L, mode, tried: false }
}

fn release(mode: Mode) -> Op<'static> {
    Op::Release { lock: L, mode }
}

fn read(mem: Mem, value: u64) -> Op<'static> {
    Op::Read { mem, value: Some(value) }
}

fn write(mem: Mem, value: u64) -> Op<'static> {
    Op::Write { mem, value: Some(value) }
}

use Mode::{Exclusive as W, Shared as R};

#[test]
fn a_mutex_has_one_holder() {
    possible(&[(A, acquire(W)), (A, release(W)), (B, acquire(W))]);
    impossible(&[(A, acquire(W)), (B, acquire(W))], "acquires `l`, which `A` holds");
    impossible(&[(A, acquire(R)), (B, acquire(W))], "acquires `l`, which is held shared");
    impossible(&[(A, acquire(W)), (B, acquire(R))], "acquires `l`, which `A` holds");
    possible(&[(A, acquire(R)), (B, acquire(R)), (A, release(R)), (B, release(R)), (A, acquire(W))]);
}

#[test]
fn re_entry_counts_once() {
    let twice = [(A, acquire(W)), (A, acquire(W)), (A, release(W))];
    impossible(&[&twice[..], &[(B, acquire(W))]].concat(), "acquires `l`, which `A` holds");
    possible(&[&twice[..], &[(A, release(W)), (B, acquire(W))]].concat());
    possible(&[(A, acquire(W)), (A, acquire(R)), (A, release(R)), (A, release(W)), (B, acquire(W))]);
    possible(&[(A, acquire(R)), (A, acquire(W)), (A, release(W)), (B, acquire(R))]);
}

#[test]
fn only_holders_release() {
    impossible(&[(A, release(W))], "releases `l`, which the thread does not hold");
    impossible(&[(A, acquire(W)), (B, release(W))], "releases `l`, which `A` holds");
    impossible(&[(A, acquire(R)), (B, release(R))], "releases `l`, which the thread does not hold");
    impossible(&[(A, acquire(R)), (A, release(W))], "releases `l` exclusively, but holds it shared");
}

#[test]
fn a_wait_gives_its_lock_up() {
    let waiting =
        [(A, acquire(W)), (A, acquire(W)), (A, Op::Wait { cond: L, timed: false }), (B, acquire(W))];
    possible(&waiting);
    impossible(&[&waiting[..], &[(A, acquire(W))]].concat(), "acquires `l`, which `B` holds");
}

#[test]
fn threads_live_from_fork_to_join() {
    let (fork, join) = (Op::Fork { child: B }, Op::Join { child: B });
    possible(&[(A, fork), (B, Op::Branch), (B, Op::ThreadEnd), (A, join)]);
    possible(&[(A, join)]);
    impossible(&[(B, Op::Branch), (A, fork)], "forks `B`, which has run before, at event 0");
    impossible(&[(A, fork), (A, fork)], "forks `B` again, after event 0");
    impossible(&[(B, fork)], "forks the thread `B` itself");
    impossible(&[(B, join)], "joins the thread `B` itself");
    impossible(&[(A, join), (B, Op::Branch)], "happens after the thread was joined, at event 0");
    impossible(&[(A, Op::ThreadEnd), (A, Op::Branch)], "happens after the thread's end, at event 0");
    impossible(&[(A, Op::Branch), (A, Op::ThreadBegin)], "begins a thread that has run before, at event 0");
    impossible(&[(ThreadId(9), Op::Branch)], "is of a thread that the trace does not name");
    impossible(&[(A, Op::Fork { child: ThreadId(u32::MAX) })], "forks a thread that the trace does not name");
}

#[test]
fn reads_see_the_last_write() {
    possible(&[(A, write(X, 7)), (B, read(X, 7)), (B, write(X, 8)), (A, read(X, 8))]);
    impossible(
        &[(A, write(X, 7)), (B, read(X, 9))],
        "reads 9 from `[0x1000..0x1004]`, but 7 was written last",
    );
    possible(&[(A, write(X, 7)), (A, Op::Write { mem: X, value: None }), (B, read(X, 9))]);
    possible(&[(A, write(X, 7)), (A, Op::Free { mem: Mem { addr: 0xff0, size: 32 } }), (B, read(X, 9))]);
    possible(&[(A, write(X, 7)), (A, Op::Alloc { mem: Mem { addr: 0, size: 1 << 20 } }), (B, read(X, 9))]);
    let order = Order::SeqCst;
    let increment = |from| Op::Rmw { mem: X, order, values: Some((from, from + 1)) };
    possible(&[(A, increment(1)), (B, increment(2)), (A, Op::Load { mem: X, order, value: Some(3) })]);
    impossible(
        &[(A, increment(1)), (B, increment(1))],
        "reads 1 from `[0x1000..0x1004]`, but 2 was written last",
    );
}

#[test]
fn values_are_compared_by_byte() {
    let across = Mem { addr: 0x1006, size: 4 };
    let upper = Mem { addr: 0x1008, size: 2 };
    possible(&[(A, write(across, 0x1122_3344)), (A, read(upper, 0x1122))]);
    impossible(
        &[(A, write(upper, 0x1122)), (A, read(across, 0x1123_0000))],
        "reads 287506432 from `[0x1006..0x100a]`, part of which was written last with another value",
    );
    let forget_one = Op::Write { mem: Mem { addr: 0x1009, size: 1 }, value: None };
    possible(&[(A, write(across, 0x1122_3344)), (A, forget_one), (A, read(across, 0xff22_3344))]);
    let top = Mem { addr: u64::MAX - 3, size: 4 };
    possible(&[(A, write(top, 1)), (A, read(top, 1)), (A, Op::Free { mem: top })]);
}

#[test]
fn memory_has_a_size_and_an_end() {
    impossible(&[(A, read(Mem { size: 0, ..X }, 0))], "touches 0 bytes of memory");
    impossible(
        &[(A, read(Mem { addr: u64::MAX, size: 2 }, 0))],
        "touches memory beyond the address space at 0xffffffffffffffff",
    );
}

#[test]
fn blocks_nest() {
    let (f, g) = (StrId(0), StrId(1));
    possible(&[(A, Op::BlockBegin { name: f }), (A, Op::BlockEnd { name: f })]);
    impossible(&[(A, Op::BlockEnd { name: f })], "ends the atomic block ``, which did not begin");
    possible(&[(A, Op::BlockBegin { name: g }), (A, Op::BlockEnd { name: f })]); // an end without a name
    impossible(
        &[(A, Op::BlockBegin { name: f }), (A, Op::BlockEnd { name: g })],
        "ends the atomic block `A` inside of ``",
    );
    impossible(&[(A, Op::CommitEnd { name: f })], "ends the commit block ``, which did not begin");
    let deep = |op| vec![(A, op); BLOCKS_KEPT + 10];
    possible(&[deep(Op::BlockBegin { name: f }), deep(Op::BlockEnd { name: f })].concat());
}

#[test]
fn many_problems_are_counted_but_few_are_kept() {
    let verdict = verdict(&vec![(A, release(W)); 1000]);
    assert_eq!((verdict.problem_count, verdict.problems.len()), (1000, PROBLEMS_KEPT));
}

#[test]
fn the_summary_counts() {
    let mut names = Names::new();
    let (t, l, x) = (names.thread("T"), names.lock("l"), names.symbol("x"));
    names.thread("unused");
    let mut summary = Summary::default();
    let half = Mem { addr: x.addr, size: 4 };
    for op in [acquire(W), read(x, 1), read(x, 1), read(half, 1), release(W)] {
        summary.event(&names, &Event { thread: t, loc: LocId::UNKNOWN, op });
    }
    assert_eq!(l, L);
    assert_eq!(summary.kinds().collect::<Vec<_>>(), [("read", 3), ("acquire", 1), ("release", 1)]);
    assert_eq!((summary.events(), summary.threads(), summary.locks(), summary.locations()), (5, 1, 1, 0));
    assert_eq!((summary.variables(), summary.synchronisation()), (Count { number: 2, exact: true }, 2));
}

#[test]
fn values_come_from_what_was_read() {
    let from = |mem| (A, Op::From { mem });
    let half = |nth: u64| Mem { addr: X.addr + 2 * nth, size: 2 };
    let (reads, writes) = ((A, read(X, 0)), (A, write(X, 0)));
    possible(&[reads, from(X), from(half(1)), writes, (A, Op::Constant), (A, Op::Branch)]);
    possible(&[(A, read(half(1), 0)), (A, read(half(0), 0)), from(X), (B, write(X, 0)), writes]);
    let unread = "takes a value from `[0x1000..0x1004]`, which the thread has not read";
    assert_eq!(verdict(&[from(X), writes]).problems[0].what, unread);
    assert_eq!(verdict(&[(B, read(X, 0)), from(X), writes]).problems[0].what, unread);
    assert_eq!(verdict(&[(A, read(half(0), 0)), from(X), writes]).problems[0].what, unread);
    impossible(&[reads, from(X), (A, acquire(W))], "takes no value, but event 1 says where from");
    impossible(&[reads, (A, Op::Constant), reads], "takes no value, but event 1 says where from");
    // A trace may end anywhere.
    possible(&[reads, (B, write(X, 0)), from(X)]);
}
