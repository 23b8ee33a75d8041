//! Locks and condition variables: requests, acquisitions, releases, waits.
//!
//! A request is recorded before a call that may block, an acquisition after the lock was got, a release before the lock is given
//! back. An attempt that failed is recorded as well: what the thread does next may depend on somebody having held the lock.

use std::cell::Cell;

use foresee_format::{AGAIN, EXCLUSIVE, TIMED, Tag};
use libc::{c_int, c_void};

use super::held_locks;
use super::order::{Clock, clock, now};
use super::thread::{plain, position, stamped};

/// What C11's functions say where POSIX's say `EBUSY` and `ETIMEDOUT`.
const THRD_BUSY: c_int = 1;
const THRD_TIMEDOUT: c_int = 4;

thread_local! {
    /// The last failed attempt of this thread.
    static LAST_FAILURE: Cell<Failure> = const { Cell::new(Failure { object: 0, key: 0, end: (0, 0) }) };
}

/// An attempt that failed.
#[derive(Clone, Copy)]
struct Failure {
    object: u64,
    key: u64,
    /// Where its record ends.
    end: (usize, u64),
}

/// The thread is about to wait for a lock.
pub(crate) fn requested(lock: *mut c_void, mode: u8, pc: u64) {
    plain(Tag::Request, mode, [pc, lock as u64]);
}

/// Records the result of an attempt to lock. A robust mutex whose owner died is locked, too.
pub(crate) fn tried(result: c_int, lock: *mut c_void, mode: u8, pc: u64) -> c_int {
    if result == 0 || result == libc::EOWNERDEAD {
        stamped(Tag::Acquire, mode, [pc, lock as u64]);
        held_locks::hold(lock as u64, mode);
    } else if matches!(result, libc::EBUSY | libc::ETIMEDOUT | THRD_BUSY | THRD_TIMEDOUT) {
        failed(lock as u64, |again| plain(Tag::Failed, mode | again, [pc, lock as u64]));
    }
    result
}

/// In keys that are times, how long nothing new is said of attempts that fail again and again: some ten microseconds.
const SHORT: u64 = 1 << 14;

/// Records that an attempt to take something failed: by `record`, which is given [`AGAIN`] or 0. One that failed again at once, while
/// no thread synchronised or for a short time, says nothing new: threads that try in a loop leave few records.
pub(crate) fn failed(object: u64, record: impl FnOnce(u8)) {
    let (last, key) = (LAST_FAILURE.get(), now());
    let is_again = last.object == object && last.end == position();
    let is_new = match clock() {
        Clock::Counter => last.key != key,
        Clock::Time => key.wrapping_sub(last.key) >= SHORT,
    };
    if !is_again || is_new {
        record(if is_again { AGAIN } else { 0 });
        LAST_FAILURE.set(Failure { object, key, end: position() });
    }
}

/// The thread is about to give a lock back.
pub(crate) fn released(lock: *mut c_void, mode: u8, pc: u64) {
    stamped(Tag::Release, mode, [pc, lock as u64]);
    held_locks::drop_hold(lock as u64);
}

/// What ends a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// A notification, and nothing else that a program may rely on.
    Notified,
    /// Time may as well.
    SomeTime,
}

/// The mutex is released and the wait begins. Both are recorded while the mutex is still held, so a notification under
/// the mutex comes after them.
pub(crate) fn wait_begins(cond: *mut c_void, mutex: *mut c_void, until: Until, pc: u64) {
    released(mutex, EXCLUSIVE, pc);
    stamped(Tag::Wait, if until == Until::SomeTime { TIMED } else { 0 }, [pc, cond as u64]);
}

/// The wait has returned, for whatever reason; the mutex is held again unless the arguments were wrong.
pub(crate) fn wait_ended(mutex: *mut c_void, pc: u64) {
    requested(mutex, EXCLUSIVE, pc);
    tried(0, mutex, EXCLUSIVE, pc);
}

/// The thread is about to wake one waiter, or all.
pub(crate) fn notifies(cond: *mut c_void, all: bool, pc: u64) {
    stamped(Tag::Notify, all.into(), [pc, cond as u64]);
}
