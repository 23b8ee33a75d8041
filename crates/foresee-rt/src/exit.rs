//! Leaving the process by another way than its end. The end itself needs nothing: the file is valid at every moment.

use libc::{c_char, c_int, c_void, pid_t};

use crate::buffer::inside;
use crate::entry::entries;
use crate::rawfile;
use crate::real::{Real, call_real};

/// The child of a fork shares the parent's file, but is no part of its run: it is not recorded.
extern "C-unwind" fn fork_process(_pc: u64) -> pid_t {
    static REAL: Real = Real::new(c"fork");
    // SAFETY: as the caller wants it.
    let child = unsafe { call_real!(REAL, () -> pid_t,) };
    if child == 0 {
        rawfile::forsake();
    }
    child
}

/// A library that is loaded later: what it maps has to be known to name what it does.
extern "C-unwind" fn load_library(path: *const c_char, flags: c_int, _pc: u64) -> *mut c_void {
    static REAL: Real = Real::new(c"dlopen");
    // SAFETY: the arguments are the caller's own.
    let library = unsafe { call_real!(REAL, (*const c_char, c_int) -> *mut c_void, path, flags) };
    if !library.is_null() {
        inside(|_| rawfile::write_maps());
    }
    library
}

entries! {
    fork => fork_process, "rdi";
    dlopen => load_library, "rdx";
}
