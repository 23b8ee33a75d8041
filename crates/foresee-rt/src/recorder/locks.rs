//! Locks and condition variables: requests, acquisitions, releases, waits.
//!
//! A request is recorded before a call that may block, an acquisition after the lock was got, a release before the lock is given
//! back.

use foresee_format::{EXCLUSIVE, Tag};
use libc::{c_int, c_void};

use super::held_locks;
use super::thread::{plain, stamped};

/// The thread is about to wait for a lock.
pub(crate) fn requested(lock: *mut c_void, mode: u8, pc: u64) {
    plain(Tag::Request, mode, [pc, lock as u64]);
}

/// Records the result of an attempt to lock. A robust mutex whose owner died is locked, too.
pub(crate) fn tried(result: c_int, lock: *mut c_void, mode: u8, pc: u64) -> c_int {
    if result == 0 || result == libc::EOWNERDEAD {
        stamped(Tag::Acquire, mode, [pc, lock as u64]);
        held_locks::hold(lock as u64, mode);
    }
    result
}

/// The thread is about to give a lock back.
pub(crate) fn released(lock: *mut c_void, mode: u8, pc: u64) {
    stamped(Tag::Release, mode, [pc, lock as u64]);
    held_locks::drop_hold(lock as u64);
}

/// The mutex is released and the wait begins. Both are recorded while the mutex is still held, so a notification under
/// the mutex comes after them.
pub(crate) fn wait_begins(cond: *mut c_void, mutex: *mut c_void, pc: u64) {
    released(mutex, EXCLUSIVE, pc);
    stamped(Tag::Wait, 0, [pc, cond as u64]);
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
