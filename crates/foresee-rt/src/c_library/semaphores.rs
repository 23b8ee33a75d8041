//! Barriers and semaphores.
//!
//! A barrier is an atomic that every thread updates before it waits and reads after: all that was done before the barrier
//! by any thread is ordered before all that is done after it. A thread that is already at the barrier's next round
//! may add an edge that is not there; that hides races across two rounds, it never invents one. A semaphore is an atomic, too: a
//! post releases, a wait that succeeds acquires. One that fails has seen that it was 0: it reads the atomic, and orders nothing.

use libc::{c_int, c_void, timespec};

use super::channels::{SharingField, gives_to_processes, takes_from_processes};
use super::given;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, both_edges, look_at, release_edge, take_edge};
use crate::recorder::locks::failed;
use crate::recorder::objects::uses;

const SEMAPHORE_SHARING: SharingField = SharingField { offset: 8, mask: u32::MAX };

extern "C-unwind" fn barrier_wait(barrier: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_barrier_wait");
    uses(barrier, pc);
    both_edges(barrier as u64, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*mut c_void) -> c_int, barrier) };
    acquire_edge(barrier as u64, pc);
    result
}

extern "C-unwind" fn semaphore_post(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_post");
    uses(semaphore, pc);
    release_edge(semaphore as u64, pc);
    gives_to_processes(semaphore, SEMAPHORE_SHARING, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }
}

fn took(result: c_int, semaphore: *mut c_void, pc: u64) -> c_int {
    if result == 0 {
        take_edge(semaphore as u64, pc);
        takes_from_processes(semaphore, SEMAPHORE_SHARING, pc);
    } else {
        failed(semaphore as u64, |_| look_at(semaphore as u64, pc));
    }
    result
}

extern "C-unwind" fn semaphore_wait(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_wait");
    uses(semaphore, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    took(unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }, semaphore, pc)
}

extern "C-unwind" fn semaphore_trywait(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_trywait");
    uses(semaphore, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    took(unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }, semaphore, pc)
}

extern "C-unwind" fn semaphore_timedwait(semaphore: *mut c_void, until: *const timespec, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_timedwait");
    uses(semaphore, pc);
    given::reads(until, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
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
    uses(semaphore, pc);
    given::reads(until, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result =
        unsafe { call_real!(REAL, (*mut c_void, c_int, *const timespec) -> c_int, semaphore, clock, until) };
    took(result, semaphore, pc)
}

weak_entries! {
    "pthread_barrier_wait" => barrier_wait, "rsi";
    "sem_post" => semaphore_post, "rsi";
    "sem_wait" => semaphore_wait, "rsi";
    "sem_trywait" => semaphore_trywait, "rsi";
    "sem_timedwait" => semaphore_timedwait, "rdx";
    "sem_clockwait" => semaphore_clockwait, "rcx";
}
