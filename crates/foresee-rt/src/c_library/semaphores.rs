//! Barriers and semaphores.
//!
//! A barrier is an atomic that every thread updates before it waits and reads after: all that was done before the barrier
//! by any thread is ordered before all that is done after it. A thread that is already at the barrier's next round
//! may add an edge that is not there; that hides races across two rounds, it never invents one.
//!
//! What is done to a semaphore is recorded as such: a post before, a wait that succeeds after it. Whoever reads the trace knows whether it is used as a lock.

use foresee_format::SemaphoreStep::{self, Begins, Failed, Lowered, Raised, Requested, Unknown};
use foresee_format::Tag;
use libc::{c_int, c_uint, c_void, sem_t, timespec};

use super::channels::{SharingField, gives_to_processes, takes_from_processes};
use super::given;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, both_edges};
use crate::recorder::locks::failed;
use crate::recorder::objects::{begins_or_ends, uses};
use crate::recorder::thread::{plain, stamped};

fn errno() -> c_int {
    // SAFETY: the C library's own place for it, which each thread has.
    unsafe { *libc::__errno_location() }
}

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

extern "C-unwind" fn semaphore_init(semaphore: *mut c_void, shared: c_int, value: c_uint, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_init");
    begins_or_ends(semaphore, size_of::<sem_t>(), pc);
    does(if shared == 0 { Begins } else { Unknown }, value.into(), semaphore, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void, c_int, c_uint) -> c_int, semaphore, shared, value) }
}

extern "C-unwind" fn semaphore_destroy(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_destroy");
    begins_or_ends(semaphore, size_of::<sem_t>(), pc);
    does(Unknown, 0, semaphore, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }
}

extern "C-unwind" fn semaphore_post(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_post");
    uses(semaphore, pc);
    does(Raised, 0, semaphore, pc);
    gives_to_processes(semaphore, SEMAPHORE_SHARING, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, semaphore) }
}

/// Records what is done to a semaphore, which orders threads.
fn does(step: SemaphoreStep, value: u64, semaphore: *mut c_void, pc: u64) {
    stamped(Tag::Semaphore, step as u8, [pc, semaphore as u64, value]);
}

fn took(result: c_int, semaphore: *mut c_void, pc: u64) -> c_int {
    if result == 0 {
        does(Lowered, 0, semaphore, pc);
        takes_from_processes(semaphore, SEMAPHORE_SHARING, pc);
    } else if matches!(errno(), libc::EAGAIN | libc::ETIMEDOUT) {
        let semaphore = semaphore as u64;
        failed(semaphore, |again| stamped(Tag::Semaphore, Failed as u8 | again, [pc, semaphore, 0]));
    }
    result
}

extern "C-unwind" fn semaphore_wait(semaphore: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sem_wait");
    uses(semaphore, pc);
    plain(Tag::Semaphore, Requested as u8, [pc, semaphore as u64, 0]);
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
    "sem_init" => semaphore_init, "rcx";
    "sem_destroy" => semaphore_destroy, "rsi";
    "sem_post" => semaphore_post, "rsi";
    "sem_wait" => semaphore_wait, "rsi";
    "sem_trywait" => semaphore_trywait, "rsi";
    "sem_timedwait" => semaphore_timedwait, "rdx";
    "sem_clockwait" => semaphore_clockwait, "rcx";
}
