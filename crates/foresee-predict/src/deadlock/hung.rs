//! Threads that wait at the end of the run for what nobody can do any more.
//!
//! A thread is *stuck* if what it did last is to wait, and all who could end that are stuck or have ended:
//!
//! | it waits for | which is ended by |
//! |---|---|
//! | a lock | each thread that holds it in a way that excludes this one: perhaps the thread itself |
//! | the end of a thread | that thread |
//! | a condition, until it is notified | any other thread |
//! | a semaphore that is 0, or being unparked | any other thread |
//!
//! Stuck threads are what is left when all are taken out whose waiting can end, again and again. A thread that does something else, or of which nothing is known, is
//! not stuck, and so nobody is who waits for it: a program that was ended while it ran has no stuck threads. This holds for any beginning of a run, too: what cannot go on there never does.
//!
//! **What is not taken for waiting.** A wait that may end by itself. One that was notified, or whose semaphore was raised since, for whomever. A request of a lock that some thread has taken twice at once in this run: it lets its
//! holder in again.
//!
//! **Cost.** One pass over the events, if any thread waits at the end; then rounds over the threads that wait, of which each takes one out at least.

use foresee_trace::{EventId, Execution, LockId, Mem, Mode, Op, ThreadId};
use rustc_hash::FxHashSet;

use crate::locks::{LockHistory, NONE, exclude};

/// What ends somebody's waiting.
enum Awaited {
    /// Each of these threads must act, and the lock was taken there.
    Holders(Vec<(ThreadId, EventId)>),
    Thread(ThreadId),
    /// Any other thread.
    Anybody,
}

/// A thread that waits at the end.
struct Waiter {
    thread: ThreadId,
    event: EventId,
    awaited: Awaited,
}

/// Groups of stuck threads that wait for each other: what each did last, and where locks were taken that nobody gives back. Groups with an event that is `known`
/// to be of a deadlock are left out.
pub(super) fn groups(
    execution: &Execution,
    locks: &LockHistory,
    last: &[Option<EventId>],
    known: impl Fn(EventId) -> bool,
) -> Vec<Vec<EventId>> {
    let mut waiters = waiters(execution, locks, last);
    if waiters.is_empty() {
        return Vec::new();
    }
    let has_ended =
        |thread: ThreadId| last[thread.index()].is_some_and(|id| execution.op(id) == Op::ThreadEnd);
    loop {
        let stuck: FxHashSet<ThreadId> = waiters.iter().map(|waiter| waiter.thread).collect();
        let before = waiters.len();
        waiters.retain(|waiter| is_stuck(waiter, &stuck, &has_ended, last));
        if waiters.len() == before {
            break;
        }
    }
    let groups = grouped(&waiters);
    let groups = groups.into_iter().filter(|group| !group.iter().any(|waiter| known(waiter.event)));
    groups.map(|group| events(&group, has_ended)).collect()
}

fn is_stuck(
    waiter: &Waiter,
    stuck: &FxHashSet<ThreadId>,
    has_ended: &impl Fn(ThreadId) -> bool,
    last: &[Option<EventId>],
) -> bool {
    match &waiter.awaited {
        Awaited::Holders(holders) => {
            holders.iter().any(|(holder, _)| stuck.contains(holder) || has_ended(*holder))
        }
        Awaited::Thread(thread) => stuck.contains(thread),
        Awaited::Anybody => {
            (0..last.len() as u32).map(ThreadId).all(|thread| stuck.contains(&thread) || has_ended(thread))
        }
    }
}

/// All threads that wait at the end.
fn waiters(execution: &Execution, locks: &LockHistory, last: &[Option<EventId>]) -> Vec<Waiter> {
    let waits = |id: &EventId| {
        matches!(
            execution.op(*id),
            Op::Request { .. } | Op::Await { .. } | Op::Wait { timed: false, .. } | Op::Blocked { .. }
        )
    };
    let waiting: Vec<EventId> = last.iter().copied().flatten().filter(waits).collect();
    if waiting.is_empty() {
        return Vec::new();
    }
    let again = taken_again(execution, locks);
    let waiter = |&event: &EventId| {
        let thread = execution.thread(event);
        let awaited = match execution.op(event) {
            Op::Request { lock, mode } => {
                let holders = holders(execution, locks, lock, mode);
                let lets_in = again.contains(&lock) && holders.iter().any(|(holder, _)| *holder == thread);
                Awaited::Holders(if lets_in { Vec::new() } else { holders })
            }
            Op::Await { child } => Awaited::Thread(child),
            Op::Wait { cond, .. } if !is_notified(execution, event, cond) => Awaited::Anybody,
            Op::Blocked { mem } if !is_acted_on(execution, event, mem) => Awaited::Anybody,
            _ => return None,
        };
        Some(Waiter { thread, event, awaited })
    };
    waiting.iter().filter_map(waiter).collect()
}

/// Who holds a lock at the end in a way that excludes another holder of this mode.
fn holders(execution: &Execution, locks: &LockHistory, lock: LockId, mode: Mode) -> Vec<(ThreadId, EventId)> {
    let end = execution.len() as u32;
    let mut holders = Vec::new();
    for sections in locks.sections(lock) {
        let held = locks.locksets.get(locks.held(sections.thread, end));
        let excludes = held.iter().any(|&(held, held_mode)| held == lock && exclude(held_mode, mode));
        if let Some(section) = sections.latest(end).filter(|section| excludes && section.release == NONE) {
            holders.push((sections.thread, EventId(section.acquire)));
        }
    }
    holders
}

/// The locks that a thread has taken while it held them.
fn taken_again(execution: &Execution, locks: &LockHistory) -> FxHashSet<LockId> {
    let outermost: FxHashSet<EventId> = locks.acquires().iter().copied().collect();
    let acquires = execution.ids().filter_map(|id| match execution.op(id) {
        Op::Acquire { lock, .. } if !outermost.contains(&id) => Some(lock),
        _ => None,
    });
    acquires.collect()
}

/// Whether somebody has notified the condition since.
fn is_notified(execution: &Execution, wait: EventId, cond: LockId) -> bool {
    (wait.0..execution.len() as u32)
        .any(|id| matches!(execution.op(EventId(id)), Op::Notify { cond: notified, .. } if notified == cond))
}

/// Whether somebody has acted on what a thread is blocked by.
fn is_acted_on(execution: &Execution, blocked: EventId, by: Mem) -> bool {
    (blocked.0..execution.len() as u32)
        .any(|id| matches!(execution.op(EventId(id)), Op::Rmw { mem, .. } if mem.overlaps(by)))
}

/// Threads that wait for each other, however indirectly.
fn grouped(waiters: &[Waiter]) -> Vec<Vec<&Waiter>> {
    let depends = |one: &Waiter, other: &Waiter| match &one.awaited {
        Awaited::Holders(holders) => holders.iter().any(|(holder, _)| *holder == other.thread),
        Awaited::Thread(thread) => *thread == other.thread,
        Awaited::Anybody => true,
    };
    let mut groups: Vec<Vec<&Waiter>> = Vec::new();
    for waiter in waiters {
        let meets =
            |group: &Vec<&Waiter>| group.iter().any(|other| depends(waiter, other) || depends(other, waiter));
        let (met, mut apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        let mut group: Vec<&Waiter> = met.into_iter().flatten().collect();
        group.push(waiter);
        apart.push(group);
        groups = apart;
    }
    groups
}

/// What there is to tell of a group: what each thread waits for, and, of locks whose holder waits for that very lock or has ended, where they were taken.
fn events(group: &[&Waiter], has_ended: impl Fn(ThreadId) -> bool) -> Vec<EventId> {
    let mut events = Vec::new();
    for waiter in group {
        events.push(waiter.event);
        if let Awaited::Holders(holders) = &waiter.awaited {
            let lost = holders.iter().filter(|(holder, _)| *holder == waiter.thread || has_ended(*holder));
            events.extend(lost.map(|(_, taken)| *taken));
        }
    }
    events
}
