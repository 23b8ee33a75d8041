//! The hook that is called when a thread panics: whoever sets it hands over to whoever panics, under a lock of the library.

use libc::c_void;

use super::accesses::panics;
use crate::entry_points::entries;
use crate::real_functions::std_functions;
use crate::recorder::edges::{acquire_edge, both_edges};

/// A `Box<dyn Fn(…)>`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Hook {
    data: *mut c_void,
    table: *const c_void,
}

std_functions! {
    foresee_real_set_hook(data: *mut c_void, table: *const c_void);
    foresee_real_take_hook() -> Hook;
    foresee_real_begin_unwind(info: *const c_void);
}

/// Stands for the lock.
static LOCK: u8 = 0;

fn lock() -> u64 {
    (&raw const LOCK) as u64
}

extern "C-unwind" fn set_hook(data: *mut c_void, table: *const c_void, pc: u64) {
    both_edges(lock(), pc);
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    unsafe { foresee_real_set_hook(data, table) }
}

extern "C-unwind" fn take_hook(pc: u64) -> Hook {
    both_edges(lock(), pc);
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    let hook = unsafe { foresee_real_take_hook() };
    acquire_edge(lock(), pc);
    hook
}

/// Does not return: the thread unwinds through here.
extern "C-unwind" fn begin_unwind(info: *const c_void, pc: u64) {
    acquire_edge(lock(), pc);
    panics();
    // SAFETY: calls the library's function with its caller's own argument, and its signature.
    unsafe { foresee_real_begin_unwind(info) }
}

entries! {
    foresee_std_set_hook => set_hook, "rdx";
    foresee_std_take_hook => take_hook, "rdi";
    foresee_std_begin_unwind => begin_unwind, "rsi";
}
