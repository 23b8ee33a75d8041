//! Functions that close descriptors.

use libc::{c_int, c_long, c_uint};

use crate::c_library::channels::{closes, closes_all};
use crate::c_library::effects::uses_stream;
use crate::entry_points::{entries, weak_entries};
use crate::real_functions::{Real, call_real};
use crate::recorder::{status, trace_file};

static CLOSE: Real = Real::new(c"close");
static FCLOSE: Real = Real::new(c"fclose");

/// For the program the trace's own descriptor does not exist: one that closes whatever is open must not end the trace.
pub(super) fn no_descriptor() -> c_int {
    // SAFETY: `errno` is this thread's own.
    unsafe { *libc::__errno_location() = libc::EBADF };
    -1
}

extern "C-unwind" fn close_descriptor(fd: c_int, pc: u64) -> c_int {
    if fd >= 0 && fd == trace_file::descriptor() {
        return no_descriptor();
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
    let ours = trace_file::descriptor() as c_uint;
    // SAFETY: forwards the caller's own arguments, or a part of its range.
    let close =
        |first, last| unsafe { call_real!(REAL, (c_uint, c_uint, c_int) -> c_int, first, last, flags) };
    if trace_file::descriptor() < 0 || !(first..=last).contains(&ours) {
        return close(first, last);
    }
    let below = if first < ours { close(first, ours - 1) } else { 0 };
    let above = if last > ours { close(ours + 1, last) } else { 0 };
    below.min(above)
}

extern "C-unwind" fn close_from(first: c_int, pc: u64) {
    close_many(first.max(0) as c_uint, c_uint::MAX, 0, pc);
}

extern "C-unwind" fn close_stream(stream: *mut libc::FILE, pc: u64) -> c_int {
    // SAFETY: the caller passes an open stream, or null, which only the real function gets. `errno` is this thread's own; it is put
    // back, as it belongs to the program.
    unsafe {
        if !stream.is_null() && status::recording() {
            let errno = *libc::__errno_location();
            closes(libc::fileno(stream), pc);
            uses_stream(pc);
            *libc::__errno_location() = errno;
        }
        call_real!(FCLOSE, (*mut libc::FILE) -> c_int, stream)
    }
}

entries! {
    close => close_descriptor, "rsi";
    close_range => close_many, "rcx";
    closefrom => close_from, "rsi";
    fclose => close_stream, "rsi";
}

// A program may have functions of its own by these names.
weak_entries! {
    "__sanitizer_syscall_pre_impl_close" => before_system_call_close, "rsi";
    "__sanitizer_syscall_post_impl_close" => after_system_call_close, "rdx";
}
