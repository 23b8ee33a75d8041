//! Every rule and every claim, on executions small enough to see through.

use foresee_trace::{
    Event, EventId, Execution, ExecutionBuilder, LocId, LockId, Mem, Mode, Names, Op, Order, StrId, ThreadId,
};

use super::{Checker, Claim, Reads, Refusal, Rule, Schedule};

const X: Mem = Mem { addr: 0x10, size: 8 };
const X_LOW: Mem = Mem { addr: 0x10, size: 4 };
const X_HIGH: Mem = Mem { addr: 0x14, size: 4 };
const Y: Mem = Mem { addr: 0x20, size: 8 };
const Z: Mem = Mem { addr: 0x30, size: 8 };
const ORDER: Order = Order::SeqCst;

const BEGIN: Op<'static> = Op::BlockBegin { name: StrId::EMPTY };
const END: Op<'static> = Op::BlockEnd { name: StrId::EMPTY };

fn r(mem: Mem) -> Op<'static> {
    Op::Read { mem, value: None }
}

fn w(mem: Mem) -> Op<'static> {
    Op::Write { mem, value: None }
}

fn rmw(mem: Mem) -> Op<'static> {
    Op::Rmw { mem, order: ORDER, values: None }
}

fn acq(lock: u32) -> Op<'static> {
    Op::Acquire { lock: LockId(lock), mode: Mode::Exclusive, tried: false }
}

fn acq_shared(lock: u32) -> Op<'static> {
    Op::Acquire { lock: LockId(lock), mode: Mode::Shared, tried: false }
}

fn req(lock: u32) -> Op<'static> {
    Op::Request { lock: LockId(lock), mode: Mode::Exclusive }
}

fn rel(lock: u32) -> Op<'static> {
    Op::Release { lock: LockId(lock), mode: Mode::Exclusive }
}

fn wait(cond: u32) -> Op<'static> {
    Op::Wait { cond: LockId(cond), timed: false }
}

fn notify(cond: u32) -> Op<'static> {
    Op::Notify { cond: LockId(cond), all: false }
}

fn fork(child: u32) -> Op<'static> {
    Op::Fork { child: ThreadId(child) }
}

fn join(child: u32) -> Op<'static> {
    Op::Join { child: ThreadId(child) }
}

fn run(events: &[(u32, Op<'_>)]) -> Execution {
    let mut builder = ExecutionBuilder::default();
    for &(thread, op) in events {
        builder.push(&Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op }).unwrap();
    }
    builder.finish(Names::new())
}

fn ids(schedule: &[u32]) -> Vec<EventId> {
    schedule.iter().copied().map(EventId).collect()
}

#[track_caller]
fn accepts(run: &Execution, schedule: &[u32]) {
    assert_eq!(Checker::new(run).check_schedule(&ids(schedule)), Ok(()));
}

#[track_caller]
fn refuses(run: &Execution, schedule: &[u32], expected: (Rule, usize)) {
    match Checker::new(run).check_schedule(&ids(schedule)) {
        Err(Refusal::Broken { rule, position, .. }) => assert_eq!((rule, position), expected),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn shows(run: &Execution, schedule: &[u32], claim: Claim<'_>) {
    assert_eq!(Checker::new(run).check(&ids(schedule), &claim), Ok(()));
}

#[track_caller]
fn does_not_show(run: &Execution, schedule: &[u32], claim: Claim<'_>, because: &str) {
    match Checker::new(run).check(&ids(schedule), &claim) {
        Err(Refusal::NotShown { why }) => assert!(why.contains(because), "{why}"),
        other => panic!("{other:?}"),
    }
}

fn race<'a>(first: u32, second: u32) -> Claim<'a> {
    Claim::Race { first: EventId(first), second: EventId(second) }
}

fn deadlock<'a>(blocked: &[u32]) -> Claim<'a> {
    Claim::Deadlock { blocked: ids(blocked) }
}

fn atomicity<'a>(cycle: &[(u32, u32)]) -> Claim<'a> {
    Claim::Atomicity { cycle: cycle.iter().map(|&(e, f)| (EventId(e), EventId(f))).collect() }
}

#[test]
fn a_threads_do_prefixes_in_order() {
    let run = run(&[(0, w(X)), (0, w(Y)), (1, w(X))]);
    accepts(&run, &[]);
    accepts(&run, &[2, 0]);
    refuses(&run, &[1], (Rule::ThreadOrder, 0));
    refuses(&run, &[0, 2, 2], (Rule::ThreadOrder, 2));
    refuses(&run, &[0, 3], (Rule::ThreadOrder, 1));
    refuses(&run, &[u32::MAX], (Rule::ThreadOrder, 0));
}

#[test]
fn b_locks_exclude() {
    let run = run(&[(0, acq(0)), (0, acq_shared(0)), (0, rel(0)), (0, rel(0)), (0, rel(0)), (1, acq(0))]);
    accepts(&run, &[0, 1, 2, 3, 5, 4]);
    accepts(&run, &[5]);
    refuses(&run, &[0, 1, 2, 5], (Rule::Locks, 3));
    refuses(&run, &[5, 0], (Rule::Locks, 1));
}

#[test]
fn b_readers_share() {
    let run = run(&[(0, acq_shared(0)), (1, acq_shared(0)), (0, rel(0)), (1, rel(0)), (2, acq(0))]);
    accepts(&run, &[1, 0, 3, 2, 4]);
    refuses(&run, &[1, 0, 3, 4], (Rule::Locks, 3));
    refuses(&run, &[4, 0], (Rule::Locks, 1));
}

#[test]
fn b_waiting_gives_the_lock_up_entirely() {
    let run = run(&[(0, acq(0)), (0, acq(0)), (0, wait(0)), (1, acq(0)), (1, rel(0)), (0, acq(0))]);
    accepts(&run, &[0, 1, 2, 3, 4, 5]);
    refuses(&run, &[0, 1, 3], (Rule::Locks, 2));
    refuses(&run, &[0, 1, 2, 3, 5], (Rule::Locks, 4));
}

#[test]
fn c_reads_read_what_they_read() {
    let run = run(&[(0, w(X)), (1, r(X)), (1, w(Y)), (2, w(X))]);
    accepts(&run, &[0, 1, 2]);
    refuses(&run, &[1, 2], (Rule::Reads, 0));
    refuses(&run, &[0, 3, 1, 2], (Rule::Reads, 2));
}

#[test]
fn c_goes_cell_by_cell() {
    let run = run(&[(0, w(X)), (1, w(X_LOW)), (2, r(X)), (2, w(Y)), (3, w(X_HIGH))]);
    accepts(&run, &[0, 1, 2, 3]);
    refuses(&run, &[0, 2, 3], (Rule::Reads, 1));
    refuses(&run, &[1, 0, 2, 3], (Rule::Reads, 2));
    refuses(&run, &[0, 1, 4, 2, 3], (Rule::Reads, 3));
}

#[test]
fn d_threads_start_after_their_fork_and_end_before_their_join() {
    let run = run(&[(0, fork(1)), (1, w(X)), (1, w(Y)), (0, join(1)), (0, join(7))]);
    accepts(&run, &[0, 1, 2, 3, 4]);
    refuses(&run, &[1], (Rule::Threads, 0));
    refuses(&run, &[0, 1, 3], (Rule::Threads, 2));
}

#[test]
fn d_a_wait_returns_after_its_notifies() {
    let run = run(&[(0, wait(0)), (1, notify(0)), (2, notify(0)), (0, w(X)), (1, notify(0)), (1, notify(1))]);
    accepts(&run, &[0, 2, 1, 3]);
    accepts(&run, &[1, 0]);
    refuses(&run, &[0, 1, 3], (Rule::Threads, 2));
    refuses(&run, &[1, 0, 2, 3], (Rule::Threads, 3));
}

#[test]
fn d_an_unexplained_return_is_free() {
    let run = run(&[(0, wait(0)), (0, w(X)), (1, notify(0))]);
    accepts(&run, &[2, 0, 1]);
}

fn blind() -> Op<'static> {
    Op::Blind { code: StrId::EMPTY, orders: false }
}

fn orders() -> Op<'static> {
    Op::Blind { code: StrId::EMPTY, orders: true }
}

#[test]
fn f_sections_with_blind_code_keep_their_place() {
    let plain = run(&[(0, acq(0)), (0, rel(0)), (1, acq(0)), (1, rel(0))]);
    accepts(&plain, &[2, 3, 0, 1]);
    let earlier = run(&[(0, acq(0)), (0, blind()), (0, rel(0)), (1, acq(0)), (1, rel(0))]);
    accepts(&earlier, &[0, 1, 2, 3]);
    refuses(&earlier, &[3], (Rule::Blind, 0));
    let later = run(&[(0, acq(0)), (0, rel(0)), (1, acq(0)), (1, blind()), (1, wait(0))]);
    accepts(&later, &[0, 1, 2, 3, 4]);
    accepts(&later, &[2]);
    refuses(&later, &[2, 3], (Rule::Blind, 1));
    let other_lock = run(&[(0, acq(0)), (0, rel(0)), (1, acq(1)), (1, blind()), (1, rel(1))]);
    accepts(&other_lock, &[2, 3, 4, 0, 1]);
}

#[test]
fn f_sections_that_share_are_not_ordered() {
    let shared = run(&[(0, acq_shared(0)), (0, rel(0)), (1, acq_shared(0)), (1, blind()), (1, rel(0))]);
    accepts(&shared, &[2, 3, 4, 0, 1]);
    let then_exclusive = run(&[(0, acq_shared(0)), (0, blind()), (0, rel(0)), (1, acq(0))]);
    refuses(&then_exclusive, &[3], (Rule::Blind, 0));
    let first_exclusive = run(&[(0, acq(0)), (0, rel(0)), (1, acq_shared(0)), (1, blind())]);
    refuses(&first_exclusive, &[2, 3], (Rule::Blind, 1));
}

#[test]
fn f_blind_code_that_may_synchronise_keeps_its_order() {
    let all = run(&[(0, orders()), (1, blind()), (2, orders())]);
    accepts(&all, &[1, 0, 2]);
    refuses(&all, &[1, 2], (Rule::Blind, 1));
}

#[test]
fn f_blind_code_uses_all_reads_before_it() {
    // The write of the other thread comes too late for the read.
    let late =
        |code| run(&[(1, w(Z)), (1, w(X)), (0, r(X)), (0, code), (0, w(Y)), (2, w(Y)), (0, Op::Branch)]);
    let schedule = Schedule::from(ids(&[2, 3, 4, 5]));
    let verdict = |run: &Execution| {
        Checker::new(run).check_all_with(&[(&schedule, race(4, 5))], Reads::Relaxed).remove(0)
    };
    assert_eq!(verdict(&late(Op::ThreadBegin)), Ok(()));
    assert!(matches!(verdict(&late(blind())), Err(Refusal::Broken { rule: Rule::Reads, .. })));
}

#[test]
fn f_atomic_reads_read_the_same_write_where_there_is_blind_code() {
    let store = |thread| (thread, Op::Store { mem: X, order: ORDER, value: Some(1) });
    let load = (2, Op::Load { mem: X, order: ORDER, value: Some(1) });
    let verdict = |last: Op<'static>| {
        let run = run(&[store(0), store(1), load, (2, w(Y)), (3, w(Y)), (4, last)]);
        let schedule = Schedule::from(ids(&[0, 2, 3, 4]));
        Checker::new(&run).check_all_with(&[(&schedule, race(3, 4))], Reads::Relaxed).remove(0)
    };
    assert_eq!(verdict(Op::ThreadBegin), Ok(()));
    assert!(matches!(verdict(blind()), Err(Refusal::Broken { rule: Rule::Reads, .. })));
}

#[test]
fn e_last_reads_are_exempt_unless_joined() {
    let run = run(&[(0, w(X)), (1, r(X)), (2, join(1)), (2, w(Y))]);
    accepts(&run, &[1, 0]);
    accepts(&run, &[0, 1, 2]);
    refuses(&run, &[1, 2], (Rule::Reads, 0));
}

#[test]
fn e_nobody_reads_what_a_changed_rmw_wrote() {
    let run = run(&[(0, w(X)), (1, rmw(X)), (2, r(X)), (2, w(Y)), (0, w(X)), (3, rmw(X)), (3, w(Y))]);
    accepts(&run, &[0, 1, 2, 3]);
    accepts(&run, &[1, 2]);
    accepts(&run, &[1, 0, 4, 5, 6]);
    refuses(&run, &[1, 2, 3], (Rule::Exemption, 1));
}

#[test]
fn races_end_the_schedule() {
    let run = run(&[(0, w(X)), (1, r(Y)), (1, r(X)), (2, r(X)), (0, w(X)), (2, w(X_HIGH))]);
    shows(&run, &[1, 0, 2], race(0, 2));
    shows(&run, &[1, 2, 0], race(2, 0));
    does_not_show(&run, &[1, 2, 0], race(0, 2), "does not end with");
    does_not_show(&run, &[1, 0], race(1, 0), "no common byte");
    does_not_show(&run, &[0, 1, 2, 3], race(2, 3), "do not race");
    does_not_show(&run, &[0, 4], race(0, 4), "one thread");
    does_not_show(&run, &[1, 0, 2], race(0, 99), "no event 99");
}

#[test]
fn a_changed_rmw_races_only_as_a_read() {
    let run = run(&[(0, Op::Store { mem: X, order: ORDER, value: None }), (1, rmw(X)), (2, r(X)), (3, w(X))]);
    shows(&run, &[0, 1, 2], race(1, 2));
    shows(&run, &[3, 1], race(3, 1));
    does_not_show(&run, &[1, 2], race(1, 2), "do not race");
    does_not_show(&run, &[0, 1], race(0, 1), "do not race");
}

#[test]
fn deadlocks_are_circles() {
    let run = run(&[
        (0, acq(0)),
        (0, req(1)),
        (0, acq(1)),
        (0, rel(1)),
        (0, rel(0)),
        (1, acq(1)),
        (1, req(0)),
        (2, req(0)),
    ]);
    for schedule in [&[0, 5][..], &[0, 1, 5], &[5, 6, 0, 1]] {
        shows(&run, schedule, deadlock(&[2, 6]));
        shows(&run, schedule, deadlock(&[6, 2]));
    }
    does_not_show(&run, &[0, 5], deadlock(&[1, 6]), "not what its thread does");
    does_not_show(&run, &[0], deadlock(&[2, 6]), "not blocked by");
    does_not_show(&run, &[0, 5], deadlock(&[2]), "two threads");
    does_not_show(&run, &[0, 5], deadlock(&[2, 6, 2, 6]), "twice");
    does_not_show(&run, &[0, 5], deadlock(&[2, 7]), "not blocked by");
    does_not_show(&run, &[0, 5], deadlock(&[0, 5]), "not what its thread does");
    does_not_show(&run, &[0, 5], deadlock(&[3, 6]), "takes no lock");
}

#[test]
fn sharing_and_reentry_do_not_block() {
    let run = run(&[
        (0, acq_shared(0)),
        (0, acq(1)),
        (0, acq(0)),
        (0, rel(1)),
        (1, acq_shared(1)),
        (1, acq_shared(0)),
    ]);
    does_not_show(&run, &[0, 1], deadlock(&[2, 4]), "holds the lock");
    does_not_show(&run, &[0, 4], deadlock(&[1, 5]), "not blocked by");
}

#[test]
fn blocked_threads_must_have_come_there() {
    let reading = run(&[
        (0, acq(0)),
        (0, r(X)),
        (0, acq(1)),
        (0, rel(1)),
        (0, rel(0)),
        (1, acq(1)),
        (1, acq(0)),
        (2, w(X)),
    ]);
    shows(&reading, &[0, 1, 5], deadlock(&[2, 6]));
    let changed = Checker::new(&reading).check(&ids(&[7, 0, 1, 5]), &deadlock(&[2, 6]));
    assert!(matches!(changed, Err(Refusal::Broken { rule: Rule::Reads, position: 2, .. })), "{changed:?}");

    let waiting = run(&[
        (0, acq(0)),
        (0, wait(7)),
        (2, notify(7)),
        (0, acq(1)),
        (0, rel(1)),
        (0, rel(0)),
        (1, acq(1)),
        (1, acq(0)),
    ]);
    shows(&waiting, &[0, 1, 2, 6], deadlock(&[3, 7]));
    does_not_show(&waiting, &[0, 1, 6], deadlock(&[3, 7]), "did not wake");
}

#[test]
fn atomicity_violations_are_circles_through_a_block() {
    let run = run(&[(0, BEGIN), (0, r(X)), (0, w(X)), (0, END), (0, w(Y)), (1, w(X)), (1, r(Y))]);
    shows(&run, &[0, 1, 5, 2], atomicity(&[(1, 5), (5, 2)]));
    does_not_show(&run, &[0, 1, 2, 5], atomicity(&[(1, 5), (5, 2)]), "in this order");
    does_not_show(&run, &[0, 1, 5], atomicity(&[(1, 5), (5, 2)]), "in this order");
    does_not_show(&run, &[0, 1, 2, 5], atomicity(&[(1, 5)]), "cannot go on");
    does_not_show(&run, &[0, 1, 2, 5], atomicity(&[(1, 2)]), "one thread");
    does_not_show(&run, &[0, 1, 2, 5], atomicity(&[(0, 5)]), "do not conflict");
    does_not_show(&run, &[0, 1, 2, 5], atomicity(&[]), "no atomic block");
    // Forward from the read to what follows the block, but never back into the block.
    does_not_show(&run, &[0, 1, 2, 3, 4, 5, 6], atomicity(&[(2, 5), (4, 6)]), "cannot go on");
}

#[test]
fn locks_forks_and_joins_conflict() {
    let locks =
        run(&[(0, BEGIN), (0, acq(0)), (0, rel(0)), (0, acq(0)), (0, rel(0)), (1, acq(0)), (1, rel(0))]);
    shows(&locks, &[0, 1, 2, 5, 6, 3], atomicity(&[(2, 5), (6, 3)]));
    let reentrant = run(&[
        (0, acq(0)),
        (0, BEGIN),
        (0, acq(0)),
        (0, rel(0)),
        (0, rel(0)),
        (0, acq(0)),
        (1, acq(0)),
        (1, rel(0)),
    ]);
    shows(&reentrant, &[0, 1, 2, 3, 4, 6, 7, 5], atomicity(&[(4, 6), (7, 5)]));
    does_not_show(&reentrant, &[0, 1, 2, 3, 4, 6, 7, 5], atomicity(&[(3, 6), (7, 5)]), "do not conflict");
    let shared =
        run(&[(0, BEGIN), (0, acq_shared(0)), (0, rel(0)), (0, acq(0)), (1, acq_shared(0)), (1, rel(0))]);
    does_not_show(&shared, &[0, 1, 2, 4, 5, 3], atomicity(&[(2, 4), (5, 3)]), "do not conflict");
    let threads = run(&[(0, BEGIN), (0, fork(1)), (1, w(X)), (0, join(1)), (0, END)]);
    shows(&threads, &[0, 1, 2, 3], atomicity(&[(1, 2), (2, 3)]));
}

#[test]
fn properties_judge_the_schedule() {
    let run = run(&[(0, w(X)), (1, w(X))]);
    let second_first = |_: &Execution, schedule: &[EventId]| schedule.first() == Some(&EventId(1));
    shows(&run, &[1, 0], Claim::property(&second_first));
    does_not_show(&run, &[0, 1], Claim::property(&second_first), "does not violate");
}

#[test]
fn many_witnesses_are_judged_as_one_by_one() {
    let run = run(&[
        (0, w(X)),
        (1, r(X)),
        (0, acq(0)),
        (0, acq(1)),
        (1, acq(1)),
        (1, w(X)),
        (2, r(X)),
        (0, w(X)),
        (1, acq(0)),
    ]);
    let then = |observed, rest: &[u32]| Schedule::after(observed, ids(rest));
    let race = |first, second| (first, second);
    let witnesses = [
        (then(5, &[]), race(0, 1)),
        (then(3, &[3, 6, 7]), race(6, 7)),
        (then(3, &[6, 3, 7]), race(3, 7)),
        (then(4, &[4]), race(4, 5)),
        (then(2, &[2, 3, 6, 7]), race(6, 7)),
        (then(8, &[]), race(6, 7)),
        (then(0, &[0, 1]), race(0, 1)),
        (then(2, &[4]), race(0, 99)),
    ];
    let claims: Vec<_> = (witnesses.iter())
        .map(|&(ref schedule, (first, second))| {
            (schedule, Claim::Race { first: EventId(first), second: EventId(second) })
        })
        .collect();
    let checker = Checker::new(&run);
    let one_by_one: Vec<_> = claims.iter().map(|(s, claim)| checker.check(&s.to_vec(), claim)).collect();
    assert_eq!(checker.check_all(&claims), one_by_one);
    assert_eq!(one_by_one.iter().filter(|verdict| verdict.is_ok()).count(), 3);

    let (with, without) = (then(3, &[4]), then(2, &[2]));
    let blocked = || Claim::Deadlock { blocked: ids(&[3, 8]) };
    let broken = checker.check(&with.to_vec(), &blocked());
    assert_eq!(checker.check_all(&[(&with, blocked()), (&without, blocked())])[0], broken);
}

#[test]
fn c_may_go_by_value() {
    let write = |value| Op::Write { mem: X, value };
    let read = |value| Op::Read { mem: X, value };
    let accepts = |writes: [Option<u64>; 2], reads: Option<u64>, schedule: &[u32], rule| {
        let run =
            run(&[(0, write(writes[0])), (1, write(writes[1])), (2, read(reads)), (2, w(Y)), (3, r(X_LOW))]);
        let claim = Claim::property(&|_, _| true);
        let schedule = Schedule::from(ids(schedule));
        Checker::new(&run).check_all_with(&[(&schedule, claim)], rule)[0].is_ok()
    };
    let (same, other) = ([Some(1), Some(1)], [Some(2), Some(1)]);
    assert!(accepts(same, Some(1), &[0, 2, 3], Reads::Relaxed));
    assert!(accepts(same, None, &[0, 2, 3], Reads::Relaxed));
    assert!(accepts([Some(1), None], Some(1), &[0, 2, 3], Reads::Relaxed));
    assert!(!accepts(same, Some(1), &[0, 2, 3], Reads::SameWrite));
    assert!(!accepts(other, Some(1), &[0, 2, 3], Reads::Relaxed));
    assert!(!accepts([None, None], None, &[0, 2, 3], Reads::Relaxed));
    assert!(!accepts([None, Some(1)], Some(1), &[0, 2, 3], Reads::Relaxed));
    assert!(!accepts(same, Some(1), &[2, 3], Reads::Relaxed));
}

#[test]
fn c_may_go_by_control_flow() {
    let accepts = |rest: &[(u32, Op<'_>)], schedule: &[u32], reads| {
        let events: Vec<_> =
            [(0, w(X)), (1, r(X)), (1, w(Y))].into_iter().chain(rest.iter().copied()).collect();
        let run = run(&events);
        let schedule = Schedule::from(ids(schedule));
        let [.., first, second] = *schedule.then() else { return false };
        Checker::new(&run).check_all_with(&[(&schedule, Claim::Race { first, second })], reads)[0].is_ok()
    };
    let end = [(0, Op::Branch), (0, w(Z)), (1, w(Z))];
    assert!(accepts(&end, &[1, 2, 0, 3, 4, 5], Reads::Relaxed));
    assert!(!accepts(&end, &[1, 2, 0, 3, 4, 5], Reads::SameWrite));
    assert!(!accepts(&[(0, w(Z)), (0, w(Z)), (1, w(Z))], &[1, 2, 0, 3, 4, 5], Reads::Relaxed));
    // The read is before a branch, or its copy is.
    assert!(!accepts(&[(1, Op::Branch), (0, w(Z)), (1, w(Z))], &[1, 2, 3, 0, 4, 5], Reads::Relaxed));
    let copied = |last| [(2, r(Y)), (2, Op::Branch), (0, w(Z)), last];
    assert!(!accepts(&copied((2, w(Z))), &[1, 2, 3, 4, 0, 5, 6], Reads::Relaxed));
    assert!(accepts(&copied((1, w(Z))), &[1, 2, 0, 5, 6], Reads::Relaxed));
}
