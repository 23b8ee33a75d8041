//! Atomic operations: done and recorded as one.
//!
//! The operation is done between its stamp and its record, under a spin lock that its address chooses. So the stamps of an atomic's
//! operations are in its modification order, and every value read is that of the write before it. The lock covers 16
//! bytes: atomics of different sizes that overlap share it. Code that is not recorded does its operations without the lock; they
//! are atomic all the same.

use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use super::order::stamp;
use super::thread::{AtomicEffect, Local, identity, inside};
use crate::spinning::spin_until;

/// Memory orders, as the ABI of ThreadSanitizer and the trace count them.
pub(crate) const ORDER_RELAXED: i32 = 0;
pub(crate) const ORDER_ACQUIRE: i32 = 2;
pub(crate) const ORDER_RELEASE: i32 = 3;
pub(crate) const ORDER_ACQ_REL: i32 = 4;

const STRIPES: usize = 1 << 10;
static LOCKS: [SpinLock; STRIPES] = [const { SpinLock(AtomicUsize::new(FREE)) }; STRIPES];

/// Who holds it. Alone in its cache line: threads that are busy with different atomics do not disturb each other.
#[repr(align(64))]
struct SpinLock(AtomicUsize);

/// Nobody holds the lock.
const FREE: usize = 0;

fn lock(addr: u64, owner: &Local) -> &'static AtomicUsize {
    let stripe = (addr >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    let SpinLock(lock) = &LOCKS[stripe as usize % STRIPES];
    spin_until(|| lock.compare_exchange_weak(FREE, identity(owner), Acquire, Relaxed).is_ok());
    lock
}

/// Gives back all locks: those who hold them do not exist in the child of a fork.
pub(crate) fn unlock_all() {
    for SpinLock(lock) in &LOCKS {
        lock.store(FREE, Release);
    }
}

/// Gives back the lock that this thread holds, if any: its operation was a fault, from whose handler it jumps.
pub(crate) fn unlock_own(owner: &Local) {
    for SpinLock(lock) in &LOCKS {
        let _ = lock.compare_exchange(identity(owner), FREE, Release, Relaxed);
    }
}

/// The detail of an atomic's record; orders that do not exist count as sequentially consistent.
pub(crate) fn detail(order: i32, size_log2: u8) -> u8 {
    let order = order & 0xff;
    (if (0..=5).contains(&order) { order as u8 } else { 5 }) | size_log2 << 4
}

/// Does and records an atomic operation; `operation` gives with its result what it did, and in which order.
#[inline]
pub(crate) fn atomic<R>(
    addr: u64,
    size_log2: u8,
    pc: u64,
    mut operation: impl FnMut() -> (R, AtomicEffect, i32),
) -> R {
    let recorded = inside(|local| {
        let lock = lock(addr, local);
        // Before the operation: code that is not recorded may act on what it wrote at once, and its thread's next record
        // has to come later.
        let stamp = stamp();
        let (result, effect, order) = operation();
        local.atomic(stamp, effect, detail(order, size_log2), pc, addr);
        lock.store(FREE, Release);
        result
    });
    match recorded {
        Some(result) => result,
        None => operation().0,
    }
}
