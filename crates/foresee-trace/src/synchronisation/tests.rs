use super::*;
use crate::event::{Mode, Op};
use crate::ids::{LockId, ThreadId};

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
            });
        });
        walk.end(thread(by), Some(op), || id);
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
    assert_eq!(event(Op::Wait { cond: LOCK }), Some(Handover::Gives(first)));
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
    let wait = Op::Wait { cond: COND };
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
