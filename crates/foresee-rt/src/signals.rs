//! How threads wake each other: condition variables, barriers, semaphores.
//!
//! A barrier is an atomic that every thread updates before it waits and reads after: all that was done before the barrier
//! by any thread is ordered before all that is done after it. A thread that is already at the barrier's next round
//! may add an edge that is not there; that hides races across two rounds, it never invents one. A semaphore is an atomic, too: a
//! post releases, a wait that succeeds acquires.

use foresee_format::{EXCLUSIVE, Tag};
use libc::{c_int, c_void, timespec};

use crate::atomics::{acquire_edge, both_edges, release_edge, take_edge};
use crate::buffer::stamped;
use crate::entry::entries;
use crate::locks::{released, requested, tried};
use crate::real::{Real, call_real};

/// Since this version condition variables have their present layout.
const COND_VERSION: &std::ffi::CStr = c"GLIBC_2.3.2";

/// The mutex is given up and the wait begins. Both are recorded while the mutex is still held, so a notification under
/// the mutex comes after them.
pub(crate) fn waits(cond: *mut c_void, mutex: *mut c_void, pc: u64) {
    released(mutex, EXCLUSIVE, pc);
    stamped(Tag::Wait, 0, [pc, cond as u64]);
}

/// The wait has returned, for whatever reason; the mutex is held again unless the arguments were wrong.
pub(crate) fn waited(result: c_int, mutex: *mut c_void, pc: u64) -> c_int {
    requested(mutex, EXCLUSIVE, pc);
    tried(0, mutex, EXCLUSIVE, pc);
    result
}

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
    // SAFETY: `waiting` passes this, and its frame is not gone yet.
    let (mutex, pc) = unsafe { *wait.cast::<(*mut c_void, u64)>() };
    waited(0, mutex, pc);
}

/// Waits by calling `real`, with or without a return.
fn waiting(cond: *mut c_void, mutex: *mut c_void, pc: u64, real: impl FnOnce() -> c_int) -> c_int {
    waits(cond, mutex, pc);
    let mut wait = (mutex, pc);
    let wait = (&raw mut wait).cast();
    let mut cleanup = Cleanup { routine: cancelled, argument: wait, kind: 0, outer: std::ptr::null_mut() };
    // SAFETY: `cleanup` and `wait` live until they are popped, or until the stack is gone.
    let result = unsafe {
        _pthread_cleanup_push(&raw mut cleanup, cancelled, wait);
        let result = real();
        _pthread_cleanup_pop(&raw mut cleanup, 0);
        result
    };
    waited(result, mutex, pc)
}

/// Functions that wait for a condition: `function of C name (how long)`. C11's differ in their names only.
macro_rules! waiters {
    ($($function:ident of $real:expr, ($($arg:ident: $ty:ty),*);)*) => {
        $(extern "C-unwind" fn $function(
            cond: *mut c_void,
            mutex: *mut c_void,
            $($arg: $ty,)*
            pc: u64,
        ) -> c_int {
            static REAL: Real = $real;
            // SAFETY: the arguments are the caller's own.
            waiting(cond, mutex, pc, || unsafe {
                call_real!(REAL, (*mut c_void, *mut c_void $(, $ty)*) -> c_int, cond, mutex $(, $arg)*)
            })
        })*
    };
}

waiters! {
    cond_wait of Real::versioned(c"pthread_cond_wait", COND_VERSION), ();
    cond_timedwait of Real::versioned(c"pthread_cond_timedwait", COND_VERSION), (until: *const timespec);
    cond_clockwait of Real::new(c"pthread_cond_clockwait"), (clock: c_int, until: *const timespec);
    c11_wait of Real::new(c"cnd_wait"), ();
    c11_timedwait of Real::new(c"cnd_timedwait"), (until: *const timespec);
}

/// Functions that wake one waiter, or all.
macro_rules! wakers {
    ($($function:ident of $real:expr, $all:literal;)*) => {
        $(extern "C-unwind" fn $function(cond: *mut c_void, pc: u64) -> c_int {
            static REAL: Real = $real;
            stamped(Tag::Notify, $all, [pc, cond as u64]);
            // SAFETY: the arguments are the caller's own.
            unsafe { call_real!(REAL, (*mut c_void) -> c_int, cond) }
        })*
    };
}

wakers! {
    cond_signal of Real::versioned(c"pthread_cond_signal", COND_VERSION), 0;
    cond_broadcast of Real::versioned(c"pthread_cond_broadcast", COND_VERSION), 1;
    c11_signal of Real::new(c"cnd_signal"), 0;
    c11_broadcast of Real::new(c"cnd_broadcast"), 1;
}

extern "C-unwind" fn barrier_wait(barrier: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_barrier_wait");
    both_edges(barrier as u64, pc);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe { call_real!(REAL, (*mut c_void) -> c_int, barrier) };
    acquire_edge(barrier as u64, pc);
    result
}

extern "C-unwind" fn semaphore_post(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_post");
    release_edge(semaphore as u64, pc);
    // SAFETY: the arguments are the caller's own.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }
}

fn took(result: c_int, semaphore: *mut c_void, pc: u64) -> c_int {
    if result == 0 {
        take_edge(semaphore as u64, pc);
    }
    result
}

extern "C-unwind" fn semaphore_wait(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_wait");
    // SAFETY: the arguments are the caller's own.
    took(unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }, semaphore, pc)
}

extern "C-unwind" fn semaphore_trywait(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_trywait");
    // SAFETY: the arguments are the caller's own.
    took(unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }, semaphore, pc)
}

extern "C-unwind" fn semaphore_timedwait(semaphore: *mut c_void, until: *const timespec, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_timedwait");
    // SAFETY: the arguments are the caller's own.
    let result = unsafe { call_real!(REAL, (*mut c_void, *const timespec) -> c_int, semaphore, until) };
    took(result, semaphore, pc)
}

extern "C-unwind" fn semaphore_clockwait(
    semaphore: *mut c_void,
    clock: c_int,
    until: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"sem_clockwait");
    // SAFETY: the arguments are the caller's own.
    let result =
        unsafe { call_real!(REAL, (*mut c_void, c_int, *const timespec) -> c_int, semaphore, clock, until) };
    took(result, semaphore, pc)
}

entries! {
    pthread_cond_wait => cond_wait, "rdx";
    pthread_cond_timedwait => cond_timedwait, "rcx";
    pthread_cond_clockwait => cond_clockwait, "r8";
    pthread_cond_signal => cond_signal, "rsi";
    pthread_cond_broadcast => cond_broadcast, "rsi";
    cnd_wait => c11_wait, "rdx";
    cnd_timedwait => c11_timedwait, "rcx";
    cnd_signal => c11_signal, "rsi";
    cnd_broadcast => c11_broadcast, "rsi";
    pthread_barrier_wait => barrier_wait, "rsi";
    sem_post => semaphore_post, "rsi";
    sem_wait => semaphore_wait, "rsi";
    sem_trywait => semaphore_trywait, "rsi";
    sem_timedwait => semaphore_timedwait, "rdx";
    sem_clockwait => semaphore_clockwait, "rcx";
}
