//! Atomic operations that compilers leave to `libatomic`: of sizes that no instruction has, or not aligned by their size.
//!
//! The library does them; here they are recorded. Of the sizes that a record knows, as what they are, with values that stay
//! unknown; of all others, as edges at their address: whoever changes the object releases before, whoever reads it acquires after.
//! Orders weaker than asked for are not told apart there, which adds edges and takes none away.

use libc::{c_int, c_void, size_t};

use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::atomics::atomic;
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::AtomicEffect;

const LIBRARY: &std::ffi::CStr = c"libatomic.so.1";

/// The size of an object whose operations are recorded as those of an atomic: 16 bytes, aligned.
const LARGEST: size_t = 16;
const LARGEST_LOG2: u8 = 4;

fn is_largest(size: size_t, at: *mut c_void) -> bool {
    size == LARGEST && (at as usize).is_multiple_of(LARGEST)
}

extern "C-unwind" fn load(size: size_t, at: *mut c_void, result: *mut c_void, order: c_int, pc: u64) {
    static REAL: Real = Real::of_library(c"__atomic_load", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    let real = || unsafe {
        call_real!(REAL, (size_t, *mut c_void, *mut c_void, c_int) -> (), size, at, result, order)
    };
    if is_largest(size, at) {
        return atomic(at as u64, LARGEST_LOG2, pc, || (real(), AtomicEffect::Load(0), order));
    }
    real();
    acquire_edge(at as u64, pc);
}

extern "C-unwind" fn store(size: size_t, at: *mut c_void, value: *mut c_void, order: c_int, pc: u64) {
    static REAL: Real = Real::of_library(c"__atomic_store", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    let real = || unsafe {
        call_real!(REAL, (size_t, *mut c_void, *mut c_void, c_int) -> (), size, at, value, order)
    };
    if is_largest(size, at) {
        return atomic(at as u64, LARGEST_LOG2, pc, || (real(), AtomicEffect::Store(0), order));
    }
    release_edge(at as u64, pc);
    real();
}

extern "C-unwind" fn exchange(
    size: size_t,
    at: *mut c_void,
    value: *mut c_void,
    result: *mut c_void,
    order: c_int,
    pc: u64,
) {
    static REAL: Real = Real::of_library(c"__atomic_exchange", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    let real = || unsafe {
        call_real!(
            REAL,
            (size_t, *mut c_void, *mut c_void, *mut c_void, c_int) -> (),
            size, at, value, result, order
        )
    };
    if is_largest(size, at) {
        return atomic(at as u64, LARGEST_LOG2, pc, || (real(), AtomicEffect::Rmw(0, 0), order));
    }
    release_edge(at as u64, pc);
    real();
    acquire_edge(at as u64, pc);
}

extern "C-unwind" fn compare_exchange(
    size: size_t,
    at: *mut c_void,
    expected: *mut c_void,
    value: *mut c_void,
    order: c_int,
    failed: c_int,
    pc: u64,
) -> bool {
    static REAL: Real = Real::of_library(c"__atomic_compare_exchange", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    let real = || unsafe {
        call_real!(
            REAL,
            (size_t, *mut c_void, *mut c_void, *mut c_void, c_int, c_int) -> bool,
            size, at, expected, value, order, failed
        )
    };
    if is_largest(size, at) {
        return atomic(at as u64, LARGEST_LOG2, pc, || match real() {
            true => (true, AtomicEffect::Rmw(0, 0), order),
            false => (false, AtomicEffect::Load(0), failed),
        });
    }
    release_edge(at as u64, pc);
    let exchanged = real();
    acquire_edge(at as u64, pc);
    exchanged
}

// A program may be linked with the library itself.
weak_entries! {
    "__atomic_load" => load, "r8";
    "__atomic_store" => store, "r8";
    "__atomic_exchange" => exchange, "r9";
}

weak_entries_of_six! {
    "__atomic_compare_exchange" => compare_exchange;
}
