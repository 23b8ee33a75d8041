//! The locks of the standard streams: `Stdin::lock`, `Stdout::lock`, `Stderr::lock`.
//!
//! They are taken within the library, and given back where the guard is dropped: in code of the user's crate, by atomics that the
//! reader understands. What the library takes for itself (`println!`) it gives back unseen; the reader knows by the
//! caller which is which ([`OF_STREAM`]).
//!
//! Relied on: a handle is a reference to the lock, and so is the first word of a guard; the word of `Stdin`'s mutex is its first,
//! that of the others' reentrant locks is near the beginning. A guard that begins otherwise is not recorded.

use foresee_format::{OF_STREAM, Tag};
use libc::c_void;

use crate::entry_points::entries;
use crate::real_functions::std_functions;
use crate::recorder::thread::{plain, stamped};

/// A guard: the lock, and with a mutex whether the thread was panicking.
#[derive(Clone, Copy)]
#[repr(C)]
struct Guard {
    lock: *const c_void,
    panicking: u64,
}

type Handle = *const *const c_void;

std_functions! {
    foresee_real_stdin_lock(handle: Handle) -> Guard;
    foresee_real_stdout_lock(handle: Handle) -> Guard;
    foresee_real_stderr_lock(handle: Handle) -> Guard;
}

/// Takes a lock by `real`, and records that.
fn locks(handle: Handle, pc: u64, real: unsafe extern "C-unwind" fn(Handle) -> Guard) -> Guard {
    // SAFETY: a handle is a reference to a reference; the library reads it, too.
    let lock = unsafe { handle.read() };
    plain(Tag::Request, OF_STREAM, [pc, lock as u64]);
    // SAFETY: calls the library's function with its caller's own argument, and its signature.
    let guard = unsafe { real(handle) };
    if guard.lock == lock {
        stamped(Tag::Acquire, OF_STREAM, [pc, lock as u64]);
    }
    guard
}

extern "C-unwind" fn stdin_lock(handle: Handle, pc: u64) -> Guard {
    locks(handle, pc, foresee_real_stdin_lock)
}

extern "C-unwind" fn stdout_lock(handle: Handle, pc: u64) -> Guard {
    locks(handle, pc, foresee_real_stdout_lock)
}

extern "C-unwind" fn stderr_lock(handle: Handle, pc: u64) -> Guard {
    locks(handle, pc, foresee_real_stderr_lock)
}

entries! {
    foresee_std_stdin_lock => stdin_lock, "rsi";
    foresee_std_stdout_lock => stdout_lock, "rsi";
    foresee_std_stderr_lock => stderr_lock, "rsi";
}
