//! `Condvar` and `Barrier`.
//!
//! A condition variable is the address of its futex word, a mutex too: the reader knows locks of the library by the first
//! atomic that locking touches, and that is this word. A barrier is recorded as those of C are.

use libc::c_void;

use super::parts::{is_part, within};
use crate::entry_points::entries;
use crate::real_functions::std_functions;
use crate::recorder::edges::{acquire_edge, both_edges};
use crate::recorder::locks::{Until, notifies, wait_begins, wait_ended};

std_functions! {
    foresee_real_condvar_wait(cond: *mut c_void, mutex: *mut c_void);
    foresee_real_condvar_wait_timeout(cond: *mut c_void, mutex: *mut c_void, seconds: u64, nanos: u32) -> bool;
    foresee_real_notify_one(cond: *mut c_void);
    foresee_real_notify_all(cond: *mut c_void);
    foresee_real_barrier_wait(barrier: *mut c_void) -> bool;
}

extern "C-unwind" fn condvar_wait(cond: *mut c_void, mutex: *mut c_void, pc: u64) {
    if is_part() {
        // SAFETY: calls the library's function with its caller's own arguments, and its signature.
        return unsafe { foresee_real_condvar_wait(cond, mutex) };
    }
    wait_begins(cond, mutex, Until::Notified, pc);
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    unsafe { foresee_real_condvar_wait(cond, mutex) };
    wait_ended(mutex, pc);
}

extern "C-unwind" fn condvar_wait_timeout(
    cond: *mut c_void,
    mutex: *mut c_void,
    seconds: u64,
    nanos: u32,
    pc: u64,
) -> bool {
    if is_part() {
        // SAFETY: calls the library's function with its caller's own arguments, and its signature.
        return unsafe { foresee_real_condvar_wait_timeout(cond, mutex, seconds, nanos) };
    }
    wait_begins(cond, mutex, Until::SomeTime, pc);
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    let notified = unsafe { foresee_real_condvar_wait_timeout(cond, mutex, seconds, nanos) };
    wait_ended(mutex, pc);
    notified
}

extern "C-unwind" fn notify_one(cond: *mut c_void, pc: u64) {
    if !is_part() {
        notifies(cond, false, pc);
    }
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    unsafe { foresee_real_notify_one(cond) }
}

extern "C-unwind" fn notify_all(cond: *mut c_void, pc: u64) {
    if !is_part() {
        notifies(cond, true, pc);
    }
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    unsafe { foresee_real_notify_all(cond) }
}

extern "C-unwind" fn barrier_wait(barrier: *mut c_void, pc: u64) -> bool {
    both_edges(barrier as u64, pc);
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    let (leads, _) = within(|| unsafe { foresee_real_barrier_wait(barrier) });
    acquire_edge(barrier as u64, pc);
    leads
}

entries! {
    foresee_std_condvar_wait => condvar_wait, "rdx";
    foresee_std_condvar_wait_timeout => condvar_wait_timeout, "r8";
    foresee_std_notify_one => notify_one, "rsi";
    foresee_std_notify_all => notify_all, "rsi";
    foresee_std_barrier_wait => barrier_wait, "rsi";
}
