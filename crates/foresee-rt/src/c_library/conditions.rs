//! Condition variables of POSIX and C11.

use libc::{c_int, c_void, timespec};

use super::channels::{gives_to_processes, takes_from_processes};
use super::given;
use super::locks::MUTEX;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::locks::{Until, notifies, wait_begins, wait_ended};
use crate::recorder::objects::uses;

/// Since this version condition variables have their present layout.
pub(super) const COND_VERSION: &std::ffi::CStr = c"GLIBC_2.3.2";

/// What the C library runs for a thread that is cancelled, kept on the thread's stack.
#[repr(C)]
struct Cleanup {
    routine: unsafe extern "C-unwind" fn(*mut c_void),
    argument: *mut c_void,
    kind: c_int,
    outer: *mut c_void,
}

unsafe extern "C-unwind" {
    fn _pthread_cleanup_push(
        cleanup: *mut Cleanup,
        routine: unsafe extern "C-unwind" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(cleanup: *mut Cleanup, run: c_int);
}

/// A wait that is cancelled does not return, but the thread has the mutex again when it cleans up.
unsafe extern "C-unwind" fn cancelled(wait: *mut c_void) {
    // SAFETY: `waiting` passes the address of this pair on its stack, and cancellation runs this before that frame is gone.
    let (mutex, pc) = unsafe { *wait.cast::<(*mut c_void, u64)>() };
    uses(mutex, pc);
    wait_ended(mutex, pc);
}

/// Waits by calling `real`, with or without a return.
fn waiting(
    cond: *mut c_void,
    mutex: *mut c_void,
    until: Until,
    pc: u64,
    real: impl FnOnce() -> c_int,
) -> c_int {
    uses(cond, pc);
    uses(mutex, pc);
    if let Some(field) = MUTEX {
        gives_to_processes(mutex, field, pc);
    }
    // Other processes are seen by nobody: they may notify whenever they like.
    let until = if MUTEX.is_some_and(|field| field.is_set(mutex)) { Until::SomeTime } else { until };
    wait_begins(cond, mutex, until, pc);
    let mut wait = (mutex, pc);
    let wait = (&raw mut wait).cast();
    let mut cleanup = Cleanup { routine: cancelled, argument: wait, kind: 0, outer: std::ptr::null_mut() };
    // SAFETY: `cleanup`, which the C library fills, and `wait` stay where they are until the pop, or until a cancellation has run
    // `cancelled` and unwinds this frame.
    let result = unsafe {
        _pthread_cleanup_push(&raw mut cleanup, cancelled, wait);
        let result = real();
        _pthread_cleanup_pop(&raw mut cleanup, 0);
        result
    };
    uses(mutex, pc);
    wait_ended(mutex, pc);
    if let Some(field) = MUTEX {
        takes_from_processes(mutex, field, pc);
    }
    result
}

/// Functions that wait for a condition: `function of C name, until what, (how long)`. C11's differ in their names only.
macro_rules! waiters {
    ($($function:ident of $real:expr, $until:ident, ($($arg:ident: $ty:ty),*);)*) => {
        $(extern "C-unwind" fn $function(
            cond: *mut c_void,
            mutex: *mut c_void,
            $($arg: $ty,)*
            pc: u64,
        ) -> c_int {
            static REAL: Real = $real;
            $(given::Argument::before($arg, pc);)*
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            waiting(cond, mutex, Until::$until, pc, || unsafe {
                call_real!(REAL, (*mut c_void, *mut c_void $(, $ty)*) -> c_int, cond, mutex $(, $arg)*)
            })
        })*
    };
}

waiters! {
    cond_wait of Real::versioned(c"pthread_cond_wait", COND_VERSION), Notified, ();
    cond_timedwait of Real::versioned(c"pthread_cond_timedwait", COND_VERSION), SomeTime, (until: *const timespec);
    cond_clockwait of Real::new(c"pthread_cond_clockwait"), SomeTime, (clock: c_int, until: *const timespec);
    c11_wait of Real::new(c"cnd_wait"), Notified, ();
    c11_timedwait of Real::new(c"cnd_timedwait"), SomeTime, (until: *const timespec);
}

/// Functions that wake one waiter, or all.
macro_rules! wakers {
    ($($function:ident of $real:expr, $all:literal;)*) => {
        $(extern "C-unwind" fn $function(cond: *mut c_void, pc: u64) -> c_int {
            static REAL: Real = $real;
            uses(cond, pc);
            notifies(cond, $all, pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            unsafe { call_real!(REAL, (*mut c_void) -> c_int, cond) }
        })*
    };
}

wakers! {
    cond_signal of Real::versioned(c"pthread_cond_signal", COND_VERSION), false;
    cond_broadcast of Real::versioned(c"pthread_cond_broadcast", COND_VERSION), true;
    c11_signal of Real::new(c"cnd_signal"), false;
    c11_broadcast of Real::new(c"cnd_broadcast"), true;
}

weak_entries! {
    "pthread_cond_wait" => cond_wait, "rdx";
    "pthread_cond_timedwait" => cond_timedwait, "rcx";
    "pthread_cond_clockwait" => cond_clockwait, "r8";
    "pthread_cond_signal" => cond_signal, "rsi";
    "pthread_cond_broadcast" => cond_broadcast, "rsi";
    "cnd_wait" => c11_wait, "rdx";
    "cnd_timedwait" => c11_timedwait, "rcx";
    "cnd_signal" => c11_signal, "rsi";
    "cnd_broadcast" => c11_broadcast, "rsi";
}
