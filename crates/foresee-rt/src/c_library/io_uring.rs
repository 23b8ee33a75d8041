//! Rings that a program shares with the kernel (liburing).
//!
//! The library maps them by system calls of its own, and the program reads them by functions that are compiled into it. What it reads there
//! is written by the kernel, on behalf of whoever has submitted something: so whoever reads the trace has to know where rings are.

use libc::{c_int, c_uint, c_void, size_t};

use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::{order, session, thread};

/// A ring is there, if `result` says so.
fn made(result: c_int) -> c_int {
    if result >= 0 {
        let key = order::now();
        thread::always(|_| session::write_maps(key));
    }
    result
}

extern "C-unwind" fn make_ring(entries: c_uint, ring: *mut c_void, flags: c_uint, _pc: u64) -> c_int {
    static REAL: Real = Real::new(c"io_uring_queue_init");
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    made(unsafe { call_real!(REAL, (c_uint, *mut c_void, c_uint) -> c_int, entries, ring, flags) })
}

extern "C-unwind" fn make_ring_with(
    entries: c_uint,
    ring: *mut c_void,
    parameters: *mut c_void,
    _pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"io_uring_queue_init_params");
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    made(unsafe { call_real!(REAL, (c_uint, *mut c_void, *mut c_void) -> c_int, entries, ring, parameters) })
}

extern "C-unwind" fn make_ring_in(
    entries: c_uint,
    ring: *mut c_void,
    parameters: *mut c_void,
    memory: *mut c_void,
    len: size_t,
    _pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"io_uring_queue_init_mem");
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    made(unsafe {
        call_real!(
            REAL,
            (c_uint, *mut c_void, *mut c_void, *mut c_void, size_t) -> c_int,
            entries,
            ring,
            parameters,
            memory,
            len
        )
    })
}

// A program may have functions of its own by these names.
weak_entries! {
    "io_uring_queue_init" => make_ring, "rcx";
    "io_uring_queue_init_params" => make_ring_with, "rcx";
    "io_uring_queue_init_mem" => make_ring_in, "r9";
}
