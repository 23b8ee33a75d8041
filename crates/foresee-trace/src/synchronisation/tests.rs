use super::*;
use crate::event::{Mode, Op};
use crate::ids::{LockId, StrId, ThreadId};

const LOCK: LockId = LockId(0);
const COND: LockId = LockId(1);

fn thread(number: u32) -> ThreadId {
    ThreadId(number)
}

fn acquire(lock: LockId, mode: Mode) -> Op<'static> {
    Op::Acquire { lock, mode, tried: false }
}

fn release(lock: LockId) -> Op<'static> {
    Op::Release { lock, mode: Mode::Exclusive }
}

/// What each event comes after, in words; events are numbered from 0.
fn walk(events: &[(u32, Op<'_>)]) -> Vec<Vec<String>> {
    let mut walk: ThreadWalk<usize> = ThreadWalk::new();
    let step = |(id, &(by, ref op)): (usize, &(u32, Op<'_>))| {
        let mut after = Vec::new();
        walk.begin(thread(by), Some(op), |what| {
            after.push(match what {
                After::Fork(fork) => format!("fork {fork}"),
                After::Notifies { earlier, notifies, .. } => format!("{notifies:?} after {earlier}"),
                After::Wait(wait) => format!("wait {wait}"),
                After::End(child) => format!("end of {}", child.0),
                After::Section(end) => format!("section {end}"),
                After::Order(last) => format!("order {last}"),
            });
        });
        walk.end(thread(by), Some(op), || id);
        after.sort();
        after
    };
    events.iter().enumerate().map(step).collect()
}

fn notify() -> Op<'static> {
    Op::Notify { cond: COND, all: true }
}

#[test]
fn only_the_outermost_acquire_and_release_count() {
    let mut locks = LockWalk::new();
    let section = Section { number: 0, lock: LOCK, mode: Mode::Shared };
    let mut event = |op| locks.event(thread(3), &op);
    assert_eq!(event(release(LOCK)), None);
    assert_eq!(event(acquire(LOCK, Mode::Shared)), Some(Handover::Takes(section)));
    assert_eq!(event(acquire(LOCK, Mode::Exclusive)), None);
    assert_eq!(event(release(LOCK)), None);
    assert_eq!(event(release(LOCK)), Some(Handover::Gives(section)));
    assert_eq!(event(release(LOCK)), None);
}

#[test]
fn a_wait_gives_its_lock_up_entirely() {
    let mut locks = LockWalk::new();
    let mut event = |op| locks.event(thread(0), &op);
    let first = event(acquire(LOCK, Mode::Exclusive)).unwrap().section();
    assert_eq!(event(acquire(LOCK, Mode::Exclusive)), None);
    assert_eq!(event(Op::Wait { cond: LOCK, timed: false }), Some(Handover::Gives(first)));
    let second = event(acquire(LOCK, Mode::Exclusive)).unwrap().section();
    assert_eq!((first.number, second.number), (0, 1));
    assert_eq!(locks.held(thread(0)).collect::<Vec<_>>(), [second]);
}

#[test]
fn the_first_event_comes_after_the_first_fork() {
    let fork = Op::Fork { child: thread(1) };
    let join = Op::Join { child: thread(1) };
    let events = [(0, fork), (0, fork), (1, Op::Branch), (0, fork), (1, Op::Branch), (0, join)];
    let after = walk(&events);
    assert_eq!(after[2], ["fork 0"]);
    assert_eq!(after[5], ["end of 1"]);
    assert!([0, 1, 3, 4].iter().all(|&event: &usize| after[event].is_empty()));
}

#[test]
fn what_follows_a_wait_comes_after_the_notifies_meanwhile() {
    let wait = Op::Wait { cond: COND, timed: false };
    let events = [
        (0, notify()),
        (1, wait),
        (0, notify()),
        (2, wait),
        (0, notify()),
        (1, Op::Branch),
        (0, notify()),
        (2, notify()),
        (2, wait),
        (2, Op::Branch),
    ];
    let after = walk(&events);
    assert_eq!(after[2], ["wait 1"]);
    assert_eq!(after[4], ["wait 1", "wait 3"]);
    assert_eq!(after[5], ["[2, 4] after 1"]);
    assert_eq!(after[6], ["wait 3"]);
    assert_eq!(after[7], ["[4, 6] after 2"]);
    assert_eq!(after[9], ["[] after 5"]);
}

fn blind(orders: bool) -> Op<'static> {
    Op::Blind { code: StrId::EMPTY, orders }
}

#[test]
fn a_section_with_blind_code_keeps_its_place() {
    let exclusive = acquire(LOCK, Mode::Exclusive);
    let section = |by, inside: &[Op<'static>]| -> Vec<(u32, Op<'static>)> {
        [&[exclusive], inside, &[release(LOCK)]].concat().into_iter().map(|op| (by, op)).collect()
    };
    let events =
        [section(0, &[]), section(1, &[]), section(2, &[blind(false), blind(false)]), section(1, &[])];
    let after = walk(&[events.concat(), section(0, &[blind(false)])].concat());
    assert_eq!(after[5], ["section 1", "section 3"]);
    assert_eq!(after[8], ["section 7"], "an acquire after a section with blind code");
    assert_eq!(after[10], ["section 7"]);
    assert_eq!(after[11], ["section 9"], "what is older is known through the section of blind code");
    assert!([0, 1, 2, 3, 4, 6, 7, 9, 12].iter().all(|&event: &usize| after[event].is_empty()));
}

#[test]
fn sections_that_share_a_lock_are_not_ordered() {
    let (shared, exclusive) = (acquire(LOCK, Mode::Shared), acquire(LOCK, Mode::Exclusive));
    let events = [
        (0, shared),
        (1, shared),
        (0, release(LOCK)),
        (1, blind(false)),
        (1, Op::Wait { cond: LOCK, timed: false }),
        (2, shared),
        (2, release(LOCK)),
        (3, exclusive),
        (3, blind(false)),
    ];
    let after = walk(&events);
    assert!(after[..7].iter().all(Vec::is_empty));
    assert_eq!(after[7], ["section 4"]);
    assert_eq!(after[8], ["section 2", "section 4", "section 6"]);
}

#[test]
fn blind_code_that_may_synchronise_keeps_its_order() {
    let events = [(0, blind(true)), (1, blind(false)), (1, blind(true)), (1, blind(true)), (0, blind(true))];
    assert_eq!(walk(&events), [vec![], vec![], vec!["order 0"], vec![], vec!["order 3"]]);
}
