//! Functions that close descriptors.

use libc::{FILE, c_int, c_long, c_uint};

use crate::c_library::channels::{channel, closes, closes_all, gives_by_all_streams};
use crate::c_library::descriptor_lives;
use crate::c_library::effects::uses_stream;
use crate::c_library::process::child_changed;
use crate::c_library::streams;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::{descriptor, status};

static CLOSE: Real = Real::new(c"close");
static FCLOSE: Real = Real::new(c"fclose");

/// For the program the trace's own descriptor does not exist: one that closes whatever is open must not end the trace.
pub(super) fn no_descriptor() -> c_int {
    // SAFETY: `errno` is this thread's own.
    unsafe { *libc::__errno_location() = libc::EBADF };
    -1
}

extern "C-unwind" fn close_descriptor(fd: c_int, pc: u64) -> c_int {
    if descriptor::is_ours(fd) {
        return no_descriptor();
    }
    if channel(fd).is_some() {
        descriptor_lives::closes(fd, pc);
    }
    closes(fd, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(CLOSE, (c_int) -> c_int, fd) }
}

/// The hook for sanitizers that programs call if they close by a system call of their own (`sanitizer/linux_syscall_hooks.h`).
extern "C-unwind" fn before_system_call_close(fd: c_long, pc: u64) {
    closes(fd as c_int, pc);
}

extern "C-unwind" fn after_system_call_close(_result: c_long, _fd: c_long, _pc: u64) {}

/// Closes all from `first` to `last` but the trace's own.
extern "C-unwind" fn close_many(first: c_uint, last: c_uint, flags: c_int, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"close_range");
    if flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0 {
        closes_all(first, last, pc);
    }
    // SAFETY: forwards the caller's own arguments, or a part of its range.
    let close =
        |first, last| unsafe { call_real!(REAL, (c_uint, c_uint, c_int) -> c_int, first, last, flags) };
    let (mut from, mut result) = (first, 0);
    while let Some(ours) = descriptor::first_of_ours(from).filter(|&ours| ours <= last) {
        if from < ours {
            result = close(from, ours - 1).min(result);
        }
        if ours == last {
            return result;
        }
        from = ours + 1;
    }
    close(from, last).min(result)
}

extern "C-unwind" fn close_from(first: c_int, pc: u64) {
    close_many(first.max(0) as c_uint, c_uint::MAX, 0, pc);
}

/// A stream is about to be closed: by the next call, with which its lock ends.
fn closes_stream(stream: *mut FILE, pc: u64) {
    if !stream.is_null() && status::recording() {
        let _in_use = streams::flushing(stream).begin(pc);
        closes(streams::descriptor(stream), pc);
        uses_stream(pc);
    }
}

extern "C-unwind" fn close_stream(stream: *mut FILE, pc: u64) -> c_int {
    closes_stream(stream, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(FCLOSE, (*mut FILE) -> c_int, stream) }
}

/// A stream from or to a child is closed, and the child waited for.
extern "C-unwind" fn close_child(stream: *mut FILE, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pclose");
    closes_stream(stream, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*mut FILE) -> c_int, stream) };
    child_changed(pc);
    result
}

/// All streams are closed.
extern "C-unwind" fn close_streams(pc: u64) -> c_int {
    static REAL: Real = Real::new(c"fcloseall");
    gives_by_all_streams(pc);
    // SAFETY: forwards the call, with the signature of the C library's function.
    unsafe { call_real!(REAL, () -> c_int,) }
}

weak_entries! {
    "close" => close_descriptor, "rsi";
    "close_range" => close_many, "rcx";
    "closefrom" => close_from, "rsi";
    "fclose" => close_stream, "rsi";
}

// A program may have functions of its own by these names.
weak_entries! {
    "fcloseall" => close_streams, "rdi";
    "pclose" => close_child, "rsi";
    "__sanitizer_syscall_pre_impl_close" => before_system_call_close, "rsi";
    "__sanitizer_syscall_post_impl_close" => after_system_call_close, "rdx";
}
