//! Atomic operations of the ThreadSanitizer ABI, up to 8 bytes, and fences.
//!
//! The call *is* the operation: it is done here, sequentially consistent whatever was asked for.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use foresee_format::Tag;

use crate::entry_points::entries;
use crate::recorder::atomics::{ORDER_RELAXED, atomic, atomic_load, detail};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::{AtomicEffect, stamped};

extern "C-unwind" fn annotated_acquire(object: u64, pc: u64) {
    acquire_edge(object, pc);
}

extern "C-unwind" fn annotated_release(object: u64, pc: u64) {
    release_edge(object, pc);
}

extern "C-unwind" fn fence(order: i32, pc: u64) {
    std::sync::atomic::fence(SeqCst);
    if order != ORDER_RELAXED {
        stamped(Tag::Fence, detail(order, 0), [pc]);
    }
}

extern "C-unwind" fn signal_fence(_order: i32, _pc: u64) {
    std::sync::atomic::compiler_fence(SeqCst);
}

entries! {
    __tsan_atomic_thread_fence => fence, "rsi";
    __tsan_atomic_signal_fence => signal_fence, "rsi";
    __tsan_acquire => annotated_acquire, "rsi";
    __tsan_release => annotated_release, "rsi";
}

/// The operations on one size of atomic.
macro_rules! sized {
    ($module:ident, $ty:ty, $cell:ty, $log2:literal, $entries:tt) => {
        mod $module {
            use super::*;

            /// The atomic object that the program passes the address of.
            fn cell<'a>(at: *mut $ty) -> &'a $cell {
                // SAFETY: the ABI asks for the address of an aligned atomic object, which lives during the call. The
                // reference is not used after it.
                unsafe { <$cell>::from_ptr(at) }
            }

            fn update(at: *mut $ty, order: i32, pc: u64, new: impl Fn($ty) -> $ty) -> $ty {
                atomic(at as u64, $log2, pc, || {
                    let cell = cell(at);
                    let mut old = cell.load(SeqCst);
                    while let Err(now) = cell.compare_exchange_weak(old, new(old), SeqCst, SeqCst) {
                        old = now;
                    }
                    (old, AtomicEffect::Rmw(old.into(), new(old).into()), order)
                })
            }

            extern "C-unwind" fn load(at: *mut $ty, order: i32, pc: u64) -> $ty {
                atomic_load(at as u64, $log2, pc, order, || cell(at).load(SeqCst))
            }

            extern "C-unwind" fn store(at: *mut $ty, value: $ty, order: i32, pc: u64) {
                atomic(at as u64, $log2, pc, || {
                    cell(at).store(value, SeqCst);
                    ((), AtomicEffect::Store(value.into()), order)
                });
            }

            extern "C-unwind" fn exchange(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |_| value)
            }

            extern "C-unwind" fn fetch_add(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old.wrapping_add(value))
            }

            extern "C-unwind" fn fetch_sub(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old.wrapping_sub(value))
            }

            extern "C-unwind" fn fetch_and(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old & value)
            }

            extern "C-unwind" fn fetch_or(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old | value)
            }

            extern "C-unwind" fn fetch_xor(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| old ^ value)
            }

            extern "C-unwind" fn fetch_nand(at: *mut $ty, value: $ty, order: i32, pc: u64) -> $ty {
                update(at, order, pc, |old| !(old & value))
            }

            /// Returns what was there: equal to `expected` exactly if the exchange was done.
            extern "C-unwind" fn exchange_if(
                at: *mut $ty,
                expected: $ty,
                value: $ty,
                order: i32,
                failed: i32,
                pc: u64,
            ) -> $ty {
                atomic(at as u64, $log2, pc, || {
                    match cell(at).compare_exchange(expected, value, SeqCst, SeqCst) {
                        Ok(old) => (old, AtomicEffect::Rmw(old.into(), value.into()), order),
                        Err(old) => (old, AtomicEffect::Load(old.into()), failed),
                    }
                })
            }

            extern "C-unwind" fn compare_exchange(
                at: *mut $ty,
                expected: *mut $ty,
                value: $ty,
                order: i32,
                failed: i32,
                pc: u64,
            ) -> bool {
                // SAFETY: the ABI asks for the address of an aligned variable of the caller's, which no other thread uses during
                // the call.
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
