//! Reading and writing that goes on beside the program, `aio_read` and the like.
//!
//! Threads of the C library do it, which are not recorded. Whoever starts an operation gives to its descriptor and to all
//! operations; whoever finds one complete learns both. When they access memory in between is not known: whoever learns that an operation is complete counts as
//! having run code that is not seen. Callbacks in threads of the C library are the reader's matter (`raw/interpreting/unseen_starts`).

use foresee_format::Unseen;
use libc::{aiocb, c_int, c_void, ssize_t, timespec};

use super::channels::{OF_AIO, OF_SIGNALS, gives, learns};
use super::given;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::status;

fn starts(operation: *const aiocb, pc: u64) {
    given::reads(operation, pc);
    // SAFETY: null, or an operation that the caller passes to be started.
    if let Some(operation) = unsafe { operation.as_ref() } {
        release_edge(OF_AIO, pc);
        // It may end with a signal.
        release_edge(OF_SIGNALS, pc);
        gives(operation.aio_fildes, pc);
    }
}

fn is_complete(operation: *const aiocb, pc: u64) {
    // SAFETY: null, or an operation that was started and lives until its result was asked for.
    if let Some(operation) = unsafe { operation.as_ref() } {
        acquire_edge(OF_AIO, pc);
        given::unseen(Unseen::Background, pc);
        learns(operation.aio_fildes, pc);
    }
}

/// The operations of a list, which may have gaps.
fn operations(list: *const *const aiocb, count: c_int) -> impl Iterator<Item = *const aiocb> {
    // SAFETY: the caller of the C library's function passes so many pointers.
    (0..count.max(0) as usize).map(move |i| unsafe { *list.add(i) })
}

/// Functions that start one operation.
macro_rules! starters {
    ($($function:ident of $name:literal;)*) => {
        $(extern "C-unwind" fn $function(operation: *mut aiocb, pc: u64) -> c_int {
            static REAL: Real = Real::new($name);
            starts(operation, pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            unsafe { call_real!(REAL, (*mut aiocb) -> c_int, operation) }
        })*
    };
}

starters! {
    start_reading of c"aio_read";
    start_writing of c"aio_write";
}

extern "C-unwind" fn start_syncing(how: c_int, operation: *mut aiocb, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"aio_fsync");
    starts(operation, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (c_int, *mut aiocb) -> c_int, how, operation) }
}

extern "C-unwind" fn start_many(
    mode: c_int,
    list: *const *mut aiocb,
    count: c_int,
    notification: *mut c_void,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"lio_listio");
    let recorded = status::recording();
    if recorded {
        operations(list.cast(), count).for_each(|operation| starts(operation, pc));
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(
            REAL,
            (c_int, *const *mut aiocb, c_int, *mut c_void) -> c_int,
            mode, list, count, notification
        )
    };
    if recorded && mode == libc::LIO_WAIT {
        operations(list.cast(), count).for_each(|operation| is_complete(operation, pc));
    }
    result
}

extern "C-unwind" fn state(operation: *const aiocb, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"aio_error");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*const aiocb) -> c_int, operation) };
    if result != libc::EINPROGRESS {
        is_complete(operation, pc);
    }
    result
}

extern "C-unwind" fn outcome(operation: *mut aiocb, pc: u64) -> ssize_t {
    static REAL: Real = Real::new(c"aio_return");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*mut aiocb) -> ssize_t, operation) };
    is_complete(operation, pc);
    result
}

/// At least one of the operations is complete; which, is seen only by asking: the edges are those of all.
extern "C-unwind" fn wait_for_some(
    list: *const *const aiocb,
    count: c_int,
    timeout: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"aio_suspend");
    given::reads(timeout, pc);
    given::reads_bytes(list, size_of::<*const aiocb>() * usize::try_from(count).unwrap_or(0), pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(REAL, (*const *const aiocb, c_int, *const timespec) -> c_int, list, count, timeout)
    };
    if result == 0 && status::recording() {
        operations(list, count).for_each(|operation| is_complete(operation, pc));
    }
    result
}

// A program may have functions of its own by these names.
weak_entries! {
    "aio_read" => start_reading, "rsi";
    "aio_read64" => start_reading, "rsi";
    "aio_write" => start_writing, "rsi";
    "aio_write64" => start_writing, "rsi";
    "aio_fsync" => start_syncing, "rdx";
    "aio_fsync64" => start_syncing, "rdx";
    "lio_listio" => start_many, "r8";
    "lio_listio64" => start_many, "r8";
    "aio_error" => state, "rsi";
    "aio_error64" => state, "rsi";
    "aio_return" => outcome, "rsi";
    "aio_return64" => outcome, "rsi";
    "aio_suspend" => wait_for_some, "rcx";
    "aio_suspend64" => wait_for_some, "rcx";
}
