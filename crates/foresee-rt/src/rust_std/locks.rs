//! Locks that are taken already: `Mutex` and `RwLock`.
//!
//! Taking a lock is compiled into the user's crate, and so is giving it back. But who finds it taken waits in the library, and has the lock when that
//! returns: whoever reads the trace knows by what the thread does next. Where keys are times, that has to be later than the lock was given back
//! (`recorder::thread::freshness`). Monitors in the process are told of the change of the lock's word, which is the first of it.

use libc::c_void;

use super::unseen_atomics::Width;
use crate::entry_points::entries;
use crate::real_functions::std_functions;
use crate::recorder::atomics::tell_monitors_of_update;
use crate::recorder::thread::expire;

std_functions! {
    foresee_real_mutex_lock_contended(lock: *mut c_void);
    foresee_real_rwlock_read_contended(lock: *mut c_void);
    foresee_real_rwlock_write_contended(lock: *mut c_void);
}

/// The thread has the lock, for which it has waited.
fn taken(lock: *mut c_void, pc: u64) {
    expire();
    tell_monitors_of_update(lock as u64, Width::U32 as u8, pc);
}

extern "C-unwind" fn lock_contended(lock: *mut c_void, pc: u64) {
    // SAFETY: calls the library's function with its caller's own argument, and its signature.
    unsafe { foresee_real_mutex_lock_contended(lock) };
    taken(lock, pc);
}

extern "C-unwind" fn read_contended(lock: *mut c_void, pc: u64) {
    // SAFETY: calls the library's function with its caller's own argument, and its signature.
    unsafe { foresee_real_rwlock_read_contended(lock) };
    taken(lock, pc);
}

extern "C-unwind" fn write_contended(lock: *mut c_void, pc: u64) {
    // SAFETY: calls the library's function with its caller's own argument, and its signature.
    unsafe { foresee_real_rwlock_write_contended(lock) };
    taken(lock, pc);
}

entries! {
    foresee_std_mutex_lock_contended => lock_contended, "rsi";
    foresee_std_rwlock_read_contended => read_contended, "rsi";
    foresee_std_rwlock_write_contended => write_contended, "rsi";
}
