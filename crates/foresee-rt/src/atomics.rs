//! Atomic operations of the ThreadSanitizer ABI.
//!
//! The call *is* the operation: it is done here, sequentially consistent whatever was asked for, between its stamp and its
//! record, under a spin lock that its address chooses. So the stamps of an atomic's operations are in its modification
//! order, and every value read is that of the write before it. The lock covers 16 bytes: atomics of different sizes that
//! overlap share it. Code that is not recorded does its operations without the lock; they are atomic all the same.

use std::arch::asm;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::atomic::{Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use foresee_format::{SYNC_SPACE, Tag};

use crate::buffer::{inside, stamp, stamped};
use crate::entry::entries;

const STRIPES: usize = 1 << 10;
static LOCKS: [Lock; STRIPES] = [const { Lock(AtomicBool::new(false)) }; STRIPES];

/// Alone in its cache line: threads that are busy with different atomics do not disturb each other.
#[repr(align(64))]
struct Lock(AtomicBool);

const ORDER_RELAXED: i32 = 0;
const ORDER_ACQUIRE: i32 = 2;
const ORDER_RELEASE: i32 = 3;
const ORDER_ACQ_REL: i32 = 4;

fn lock(addr: u64) -> &'static AtomicBool {
    let stripe = (addr >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    let Lock(lock) = &LOCKS[stripe as usize % STRIPES];
    let mut spins = 0u32;
    while lock.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
        spins += 1;
        if spins.is_multiple_of(64) {
            // SAFETY: no preconditions. The holder may have lost its processor.
            unsafe { libc::sched_yield() };
        } else {
            std::hint::spin_loop();
        }
    }
    lock
}

/// Gives back all locks: those who hold them are not in the child of a fork.
pub(crate) fn unlock_all() {
    for Lock(lock) in &LOCKS {
        lock.store(false, Release);
    }
}

/// What an atomic operation did.
#[derive(Clone, Copy)]
pub(crate) enum Did {
    Load(u64),
    Store(u64),
    Rmw(u64, u64),
}

fn detail(order: i32, size_log2: u8) -> u8 {
    let order = order & 0xff;
    (if (0..=5).contains(&order) { order as u8 } else { 5 }) | size_log2 << 4
}

/// Does and records an atomic operation; `operation` says with its result what it did, and in which order.
#[inline]
pub(crate) fn atomic<R>(
    addr: u64,
    size_log2: u8,
    pc: u64,
    mut operation: impl FnMut() -> (R, Did, i32),
) -> R {
    let recorded = inside(|local| {
        let lock = lock(addr);
        // Before the operation: code that is not recorded may act on what it wrote at once, and its thread's next record
        // has to come later.
        let stamp = stamp();
        let (result, did, order) = operation();
        local.atomic(stamp, did, detail(order, size_log2), pc, addr);
        lock.store(false, Release);
        result
    });
    match recorded {
        Some(result) => result,
        None => operation().0,
    }
}

/// Edges for what orders threads but is neither lock nor atomic (barrier, semaphore, once): operations on an atomic of
/// their own, without values, at an address where no program has memory.
pub(crate) fn release_edge(object: u64, pc: u64) {
    stamped(Tag::Rmw, detail(ORDER_RELEASE, 3), [pc, object | SYNC_SPACE, 0, 0]);
}

pub(crate) fn acquire_edge(object: u64, pc: u64) {
    stamped(Tag::Load, detail(ORDER_ACQUIRE, 3), [pc, object | SYNC_SPACE, 0]);
}

pub(crate) fn take_edge(object: u64, pc: u64) {
    stamped(Tag::Rmw, detail(ORDER_ACQUIRE, 3), [pc, object | SYNC_SPACE, 0, 0]);
}

pub(crate) fn both_edges(object: u64, pc: u64) {
    stamped(Tag::Rmw, detail(ORDER_ACQ_REL, 3), [pc, object | SYNC_SPACE, 0, 0]);
}

extern "C" fn annotated_acquire(object: u64, pc: u64) {
    acquire_edge(object, pc);
}

extern "C" fn annotated_release(object: u64, pc: u64) {
    release_edge(object, pc);
}

extern "C" fn fence(order: i32, pc: u64) {
    std::sync::atomic::fence(SeqCst);
    if order != ORDER_RELAXED {
        stamped(Tag::Fence, detail(order, 0), [pc]);
    }
}

extern "C" fn signal_fence(_order: i32, _pc: u64) {
    std::sync::atomic::compiler_fence(SeqCst);
}

entries! {
    __tsan_atomic_thread_fence => fence, "rsi";
    __tsan_atomic_signal_fence => signal_fence, "rsi";
    __tsan_acquire => annotated_acquire, "rsi";
    __tsan_release => annotated_release, "rsi";
}

/// The operations on one size of atomic, up to 8 bytes.
macro_rules! sized {
    ($module:ident, $ty:ty, $cell:ty, $log2:literal, $entries:tt) => {
        mod $module {
            use super::*;

            /// SAFETY of the uses: the program calls these with the address of an atomic object that lives.
            fn cell<'a>(at: *mut $ty) -> &'a $cell {
                unsafe { <$cell>::from_ptr(at) }
            }

            fn update(at: *mut $ty, order: i32, pc: u64, new: impl Fn($ty) -> $ty) -> $ty {
                atomic(at as u64, $log2, pc, || {
                    let cell = cell(at);
                    let mut old = cell.load(SeqCst);
                    while let Err(now) = cell.compare_exchange_weak(old, new(old), SeqCst, SeqCst) {
                        old = now;
                    }
                    (old, Did::Rmw(old.into(), new(old).into()), order)
                })
            }

            extern "C" fn load(at: *mut $ty, order: i32, pc: u64) -> $ty {
                atomic(at as u64, $log2, pc, || {
                    let value = cell(at).load(SeqCst);
                    (value, Did::Load(value.into()), order)
                })
            }

            extern "C" fn store(at: *mut $ty, value: $ty, order: i32, pc: u64) {
                atomic(at as u64, $log2, pc, || {
                    cell(at).store(value, SeqCst);
                    ((), Did::Store(value.into()), order)
                });
            }

            extern "C" fn exchange(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |_| value)
            }

            extern "C" fn fetch_add(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old.wrapping_add(value))
            }

            extern "C" fn fetch_sub(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old.wrapping_sub(value))
            }

            extern "C" fn fetch_and(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old & value)
            }

            extern "C" fn fetch_or(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old | value)
            }

            extern "C" fn fetch_xor(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old ^ value)
            }

            extern "C" fn fetch_nand(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| !(old & value))
            }

            /// Returns what was there: equal to `expected` exactly if the exchange was done.
            extern "C" fn exchange_if(
                at: *mut $ty,
                expected: $ty,
                value: $ty,
                order: i32,
                failed: i32,
                pc: u64,
            ) -> $ty {
                atomic(at as u64, $log2, pc, || {
                    match cell(at).compare_exchange(expected, value, SeqCst, SeqCst) {
                        Ok(old) => (old, Did::Rmw(old.into(), value.into()), order),
                        Err(old) => (old, Did::Load(old.into()), failed),
                    }
                })
            }

            extern "C" fn compare_exchange(
                at: *mut $ty,
                expected: *mut $ty,
                value: $ty,
                order: i32,
                failed: i32,
                pc: u64,
            ) -> bool {
                // SAFETY: `expected` is the caller's, aligned, and not shared.
                unsafe {
                    let wanted = *expected;
                    let old = exchange_if(at, wanted, value, order, failed, pc);
                    if old != wanted {
                        *expected = old;
                    }
                    old == wanted
                }
            }

            entries! $entries
        }
    };
}

sized! { atomic8, u8, AtomicU8, 0, {
    __tsan_atomic8_load => load, "rdx";
    __tsan_atomic8_store => store, "rcx";
    __tsan_atomic8_exchange => exchange, "rcx";
    __tsan_atomic8_fetch_add => fetch_add, "rcx";
    __tsan_atomic8_fetch_sub => fetch_sub, "rcx";
    __tsan_atomic8_fetch_and => fetch_and, "rcx";
    __tsan_atomic8_fetch_or => fetch_or, "rcx";
    __tsan_atomic8_fetch_xor => fetch_xor, "rcx";
    __tsan_atomic8_fetch_nand => fetch_nand, "rcx";
    __tsan_atomic8_compare_exchange_val => exchange_if, "r9";
    __tsan_atomic8_compare_exchange_strong => compare_exchange, "r9";
    __tsan_atomic8_compare_exchange_weak => compare_exchange, "r9";
} }

sized! { atomic16, u16, AtomicU16, 1, {
    __tsan_atomic16_load => load, "rdx";
    __tsan_atomic16_store => store, "rcx";
    __tsan_atomic16_exchange => exchange, "rcx";
    __tsan_atomic16_fetch_add => fetch_add, "rcx";
    __tsan_atomic16_fetch_sub => fetch_sub, "rcx";
    __tsan_atomic16_fetch_and => fetch_and, "rcx";
    __tsan_atomic16_fetch_or => fetch_or, "rcx";
    __tsan_atomic16_fetch_xor => fetch_xor, "rcx";
    __tsan_atomic16_fetch_nand => fetch_nand, "rcx";
    __tsan_atomic16_compare_exchange_val => exchange_if, "r9";
    __tsan_atomic16_compare_exchange_strong => compare_exchange, "r9";
    __tsan_atomic16_compare_exchange_weak => compare_exchange, "r9";
} }

sized! { atomic32, u32, AtomicU32, 2, {
    __tsan_atomic32_load => load, "rdx";
    __tsan_atomic32_store => store, "rcx";
    __tsan_atomic32_exchange => exchange, "rcx";
    __tsan_atomic32_fetch_add => fetch_add, "rcx";
    __tsan_atomic32_fetch_sub => fetch_sub, "rcx";
    __tsan_atomic32_fetch_and => fetch_and, "rcx";
    __tsan_atomic32_fetch_or => fetch_or, "rcx";
    __tsan_atomic32_fetch_xor => fetch_xor, "rcx";
    __tsan_atomic32_fetch_nand => fetch_nand, "rcx";
    __tsan_atomic32_compare_exchange_val => exchange_if, "r9";
    __tsan_atomic32_compare_exchange_strong => compare_exchange, "r9";
    __tsan_atomic32_compare_exchange_weak => compare_exchange, "r9";
} }

sized! { atomic64, u64, AtomicU64, 3, {
    __tsan_atomic64_load => load, "rdx";
    __tsan_atomic64_store => store, "rcx";
    __tsan_atomic64_exchange => exchange, "rcx";
    __tsan_atomic64_fetch_add => fetch_add, "rcx";
    __tsan_atomic64_fetch_sub => fetch_sub, "rcx";
    __tsan_atomic64_fetch_and => fetch_and, "rcx";
    __tsan_atomic64_fetch_or => fetch_or, "rcx";
    __tsan_atomic64_fetch_xor => fetch_xor, "rcx";
    __tsan_atomic64_fetch_nand => fetch_nand, "rcx";
    __tsan_atomic64_compare_exchange_val => exchange_if, "r9";
    __tsan_atomic64_compare_exchange_strong => compare_exchange, "r9";
    __tsan_atomic64_compare_exchange_weak => compare_exchange, "r9";
} }

/// 16 bytes: values do not fit a record and stay unknown. The arguments fill all registers, so the compare-exchanges do
/// not know where they are.
mod atomic128 {
    use super::*;

    const LOG2: u8 = 4;

    /// What is at `at`, after an attempt to change it from `old` to `new`.
    ///
    /// SAFETY of the uses: the program calls with the address of an aligned atomic object that lives; every x86-64
    /// processor on which a compiler uses 16-byte atomics has the instruction.
    fn attempt(at: *mut u128, old: u128, new: u128) -> u128 {
        let (mut low, mut high) = (old as u64, (old >> 64) as u64);
        unsafe {
            // The compiler keeps `rbx` for itself: it is exchanged for the time of the instruction.
            asm!(
                "xchg {new_low}, rbx",
                "lock cmpxchg16b [{at}]",
                "mov rbx, {new_low}",
                at = in(reg) at,
                new_low = inout(reg) new as u64 => _,
                in("rcx") (new >> 64) as u64,
                inout("rax") low,
                inout("rdx") high,
                options(nostack),
            );
        }
        u128::from(high) << 64 | u128::from(low)
    }

    fn change(at: *mut u128, new: impl Fn(u128) -> u128) -> u128 {
        let mut old = attempt(at, 0, 0);
        loop {
            let now = attempt(at, old, new(old));
            if now == old {
                return old;
            }
            old = now;
        }
    }

    fn update(at: *mut u128, order: i32, pc: u64, new: impl Fn(u128) -> u128) -> u128 {
        atomic(at as u64, LOG2, pc, || (change(at, &new), Did::Rmw(0, 0), order))
    }

    extern "C" fn load(at: *mut u128, order: i32, pc: u64) -> u128 {
        atomic(at as u64, LOG2, pc, || (attempt(at, 0, 0), Did::Load(0), order))
    }

    extern "C" fn store(at: *mut u128, value: u128, order: i32, pc: u64) {
        atomic(at as u64, LOG2, pc, || (change(at, |_| value), Did::Store(0), order));
    }

    extern "C" fn exchange(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
        update(at, order, pc, |_| value)
    }

    extern "C" fn fetch_add(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
        update(at, order, pc, |old| old.wrapping_add(value))
    }

    extern "C" fn fetch_sub(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
        update(at, order, pc, |old| old.wrapping_sub(value))
    }

    extern "C" fn fetch_and(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
        update(at, order, pc, |old| old & value)
    }

    extern "C" fn fetch_or(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
        update(at, order, pc, |old| old | value)
    }

    extern "C" fn fetch_xor(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
        update(at, order, pc, |old| old ^ value)
    }

    extern "C" fn fetch_nand(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
        update(at, order, pc, |old| !(old & value))
    }

    entries! {
        __tsan_atomic128_load => load, "rdx";
        __tsan_atomic128_store => store, "r8";
        __tsan_atomic128_exchange => exchange, "r8";
        __tsan_atomic128_fetch_add => fetch_add, "r8";
        __tsan_atomic128_fetch_sub => fetch_sub, "r8";
        __tsan_atomic128_fetch_and => fetch_and, "r8";
        __tsan_atomic128_fetch_or => fetch_or, "r8";
        __tsan_atomic128_fetch_xor => fetch_xor, "r8";
        __tsan_atomic128_fetch_nand => fetch_nand, "r8";
    }

    #[unsafe(no_mangle)]
    extern "C" fn __tsan_atomic128_compare_exchange_val(
        at: *mut u128,
        expected: u128,
        value: u128,
        order: i32,
        failed: i32,
    ) -> u128 {
        atomic(at as u64, LOG2, 0, || {
            let old = attempt(at, expected, value);
            if old == expected { (old, Did::Rmw(0, 0), order) } else { (old, Did::Load(0), failed) }
        })
    }

    #[unsafe(no_mangle)]
    extern "C" fn __tsan_atomic128_compare_exchange_strong(
        at: *mut u128,
        expected: *mut u128,
        value: u128,
        order: i32,
        failed: i32,
    ) -> bool {
        // SAFETY: `expected` is the caller's, aligned, and not shared.
        unsafe {
            let wanted = *expected;
            let old = __tsan_atomic128_compare_exchange_val(at, wanted, value, order, failed);
            *expected = old;
            old == wanted
        }
    }

    #[unsafe(no_mangle)]
    extern "C" fn __tsan_atomic128_compare_exchange_weak(
        at: *mut u128,
        expected: *mut u128,
        value: u128,
        order: i32,
        failed: i32,
    ) -> bool {
        __tsan_atomic128_compare_exchange_strong(at, expected, value, order, failed)
    }
}
