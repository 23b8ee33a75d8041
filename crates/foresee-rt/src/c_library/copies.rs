//! Copies and fills of memory, which compilers do not instrument themselves.

use libc::{c_int, c_void, size_t};

use crate::entry_points::entries;
use crate::program;
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::{counts, has_written, read_range, write_range};

/// Who calls `memcpy` itself: code of gcc, instrumented or not, and Rust's library. Other instrumented code calls
/// `__tsan_memcpy`. In a Rust program, plain calls are taken to be the library's, whose accesses are not recorded: what orders
/// them is not seen.
const PLAIN: bool = true;
const INSTRUMENTED: bool = false;

/// Whether what such a call does is recorded.
fn is_recorded<const PLAIN_CALL: bool>(pc: u64) -> bool {
    counts(pc) && !(PLAIN_CALL && program::is_rust_library(pc))
}

/// Copies by `real`.
fn copies<const PLAIN_CALL: bool>(
    (to, from, size): (*mut c_void, *const c_void, size_t),
    pc: u64,
    real: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    if !is_recorded::<PLAIN_CALL>(pc) {
        return real();
    }
    read_range(from as u64, size as u64, pc);
    write_range(to as u64, size as u64, pc);
    let result = real();
    has_written(to as u64, size as u64, pc);
    result
}

extern "C-unwind" fn copy<const PLAIN_CALL: bool>(
    to: *mut c_void,
    from: *const c_void,
    size: size_t,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"memcpy");
    copies::<PLAIN_CALL>((to, from, size), pc, || {
        // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
        unsafe { call_real!(REAL, (*mut c_void, *const c_void, size_t) -> *mut c_void, to, from, size) }
    })
}

extern "C-unwind" fn copy_within<const PLAIN_CALL: bool>(
    to: *mut c_void,
    from: *const c_void,
    size: size_t,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"memmove");
    copies::<PLAIN_CALL>((to, from, size), pc, || {
        // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
        unsafe { call_real!(REAL, (*mut c_void, *const c_void, size_t) -> *mut c_void, to, from, size) }
    })
}

extern "C-unwind" fn fill<const PLAIN_CALL: bool>(
    to: *mut c_void,
    byte: c_int,
    size: size_t,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"memset");
    let is_recorded = is_recorded::<PLAIN_CALL>(pc);
    if is_recorded {
        write_range(to as u64, size as u64, pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*mut c_void, c_int, size_t) -> *mut c_void, to, byte, size) };
    if is_recorded {
        has_written(to as u64, size as u64, pc);
    }
    result
}

entries! {
    memcpy => copy::<PLAIN>, "rcx";
    memmove => copy_within::<PLAIN>, "rcx";
    memset => fill::<PLAIN>, "rcx";
    __tsan_memcpy => copy::<INSTRUMENTED>, "rcx";
    __tsan_memmove => copy_within::<INSTRUMENTED>, "rcx";
    __tsan_memset => fill::<INSTRUMENTED>, "rcx";
}
