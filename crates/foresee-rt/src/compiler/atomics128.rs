//! Atomic operations of 16 bytes.
//!
//! Their values do not fit a record and stay unknown. The arguments of the compare-exchanges fill all registers, so these do not know
//! where they were called from.

use std::arch::asm;

use crate::entry_points::entries;
use crate::recorder::atomics::atomic;
use crate::recorder::thread::AtomicEffect;

const LOG2: u8 = 4;

/// What is at `at`, after an attempt to change it from `old` to `new`.
fn attempt(at: *mut u128, old: u128, new: u128) -> u128 {
    let (mut low, mut high) = (old as u64, (old >> 64) as u64);
    // SAFETY: the ABI asks for the address of an atomic object aligned to 16 bytes, which lives during the call; compilers call this
    // only for processors that have the instruction. It takes the new value in `rcx:rbx`, but the compiler keeps `rbx`
    // for itself: so it is exchanged for the time of the instruction, and put back. Until then nothing else may be in
    // `rbx`, which the compiler may otherwise choose for any operand: hence all operands have registers of their own.
    unsafe {
        asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            in("rdi") at,
            inout("rsi") new as u64 => _,
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
    atomic(at as u64, LOG2, pc, || (change(at, &new), AtomicEffect::Rmw(0, 0), order))
}

extern "C-unwind" fn load(at: *mut u128, order: i32, pc: u64) -> u128 {
    atomic(at as u64, LOG2, pc, || (attempt(at, 0, 0), AtomicEffect::Load(0), order))
}

extern "C-unwind" fn store(at: *mut u128, value: u128, order: i32, pc: u64) {
    atomic(at as u64, LOG2, pc, || (change(at, |_| value), AtomicEffect::Store(0), order));
}

extern "C-unwind" fn exchange(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
    update(at, order, pc, |_| value)
}

extern "C-unwind" fn fetch_add(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
    update(at, order, pc, |old| old.wrapping_add(value))
}

extern "C-unwind" fn fetch_sub(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
    update(at, order, pc, |old| old.wrapping_sub(value))
}

extern "C-unwind" fn fetch_and(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
    update(at, order, pc, |old| old & value)
}

extern "C-unwind" fn fetch_or(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
    update(at, order, pc, |old| old | value)
}

extern "C-unwind" fn fetch_xor(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
    update(at, order, pc, |old| old ^ value)
}

extern "C-unwind" fn fetch_nand(at: *mut u128, value: u128, order: i32, pc: u64) -> u128 {
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
extern "C-unwind" fn __tsan_atomic128_compare_exchange_val(
    at: *mut u128,
    expected: u128,
    value: u128,
    order: i32,
    failed: i32,
) -> u128 {
    atomic(at as u64, LOG2, 0, || {
        let old = attempt(at, expected, value);
        if old == expected {
            (old, AtomicEffect::Rmw(0, 0), order)
        } else {
            (old, AtomicEffect::Load(0), failed)
        }
    })
}

#[unsafe(no_mangle)]
extern "C-unwind" fn __tsan_atomic128_compare_exchange_strong(
    at: *mut u128,
    expected: *mut u128,
    value: u128,
    order: i32,
    failed: i32,
) -> bool {
    // SAFETY: the ABI asks for the address of an aligned variable of the caller's, which no other thread uses during the call.
    unsafe {
        let wanted = *expected;
        let old = __tsan_atomic128_compare_exchange_val(at, wanted, value, order, failed);
        *expected = old;
        old == wanted
    }
}

#[unsafe(no_mangle)]
extern "C-unwind" fn __tsan_atomic128_compare_exchange_weak(
    at: *mut u128,
    expected: *mut u128,
    value: u128,
    order: i32,
    failed: i32,
) -> bool {
    __tsan_atomic128_compare_exchange_strong(at, expected, value, order, failed)
}
