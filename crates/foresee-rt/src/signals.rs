//! How threads wake each other: condition variables, barriers, semaphores.
//!
//! A barrier is an atomic that every thread updates before it waits and reads after: all that was done before the barrier
//! by any thread is ordered before all that is done after it. A thread that is already at the barrier's next round
//! may add an edge that is not there; that hides races across two rounds, it never invents one. A semaphore is an atomic, too: a
//! post releases, a wait that succeeds acquires.

use libc::{c_int, c_void, timespec};

use crate::atomics::{acquire_edge, both_edges, release_edge, take_edge};
use crate::buffer::stamped;
use crate::entry::entries;
use crate::format::{EXCLUSIVE, Tag};
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

extern "C-unwind" fn cond_wait(cond: *mut c_void, mutex: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::versioned(c"pthread_cond_wait", COND_VERSION);
    waits(cond, mutex, pc);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe { call_real!(REAL, (*mut c_void, *mut c_void) -> c_int, cond, mutex) };
    waited(result, mutex, pc)
}

extern "C-unwind" fn cond_timedwait(
    cond: *mut c_void,
    mutex: *mut c_void,
    until: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::versioned(c"pthread_cond_timedwait", COND_VERSION);
    waits(cond, mutex, pc);
    // SAFETY: the arguments are the caller's own.
    let result =
        unsafe { call_real!(REAL, (*mut c_void, *mut c_void, *const timespec) -> c_int, cond, mutex, until) };
    waited(result, mutex, pc)
}

extern "C-unwind" fn cond_clockwait(
    cond: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    until: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_cond_clockwait");
    waits(cond, mutex, pc);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe {
        call_real!(REAL, (*mut c_void, *mut c_void, c_int, *const timespec) -> c_int, cond, mutex, clock, until)
    };
    waited(result, mutex, pc)
}

extern "C-unwind" fn cond_signal(cond: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::versioned(c"pthread_cond_signal", COND_VERSION);
    stamped(Tag::Notify, 0, [pc, cond as u64]);
    // SAFETY: the arguments are the caller's own.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, cond) }
}

extern "C-unwind" fn cond_broadcast(cond: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::versioned(c"pthread_cond_broadcast", COND_VERSION);
    stamped(Tag::Notify, 1, [pc, cond as u64]);
    // SAFETY: the arguments are the caller's own.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, cond) }
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
    pthread_barrier_wait => barrier_wait, "rsi";
    sem_post => semaphore_post, "rsi";
    sem_wait => semaphore_wait, "rsi";
    sem_trywait => semaphore_trywait, "rsi";
    sem_timedwait => semaphore_timedwait, "rdx";
    sem_clockwait => semaphore_clockwait, "rcx";
}
