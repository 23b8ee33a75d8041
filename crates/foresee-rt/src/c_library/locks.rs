//! Mutexes, reader-writer locks, spin locks. (Those of streams are in `streams`.)
//!
//! A try-lock acquires without a request. Every call uses the lock, which has to be there (`recorder::objects`). C11's mutexes are the same locks by other names, and report success by the same 0.

use foresee_format::{AS_HELD, EXCLUSIVE, SHARED};
use libc::{c_int, c_void, timespec};

use super::channels::{SharingField, gives_to_processes, takes_from_processes};
use super::given;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::locks::{released, requested, tried};
use crate::recorder::objects::uses;

/// A mutex has the bit among those of its kind, a reader-writer lock a field of its own.
pub(super) const MUTEX: Option<SharingField> = Some(SharingField { offset: 16, mask: 128 });
const RWLOCK: Option<SharingField> = Some(SharingField { offset: 28, mask: u32::MAX });
/// A lock that does not know, or is never shared between processes.
const UNKNOWN: Option<SharingField> = None;

/// Records the result of an attempt to lock, and what came through other processes that have the lock.
fn got(result: c_int, lock: *mut c_void, mode: u8, sharing: Option<SharingField>, pc: u64) -> c_int {
    tried(result, lock, mode, pc);
    if let (0, Some(field)) = (result, sharing) {
        takes_from_processes(lock, field, pc);
    }
    result
}

/// Functions that take a lock and nothing else: `function of "C name", mode, who shares it, may block`.
macro_rules! lockers {
    ($($function:ident of $name:literal, $mode:expr, $sharing:expr, $blocks:literal;)*) => {
        $(extern "C-unwind" fn $function(lock: *mut c_void, pc: u64) -> c_int {
            static REAL: Real = Real::new($name);
            uses(lock, pc);
            if $blocks {
                requested(lock, $mode, pc);
            }
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!(REAL, (*mut c_void) -> c_int, lock) };
            got(result, lock, $mode, $sharing, pc)
        })*
    };
}

lockers! {
    mutex_lock of c"pthread_mutex_lock", EXCLUSIVE, MUTEX, true;
    mutex_trylock of c"pthread_mutex_trylock", EXCLUSIVE, MUTEX, false;
    rwlock_rdlock of c"pthread_rwlock_rdlock", SHARED, RWLOCK, true;
    rwlock_tryrdlock of c"pthread_rwlock_tryrdlock", SHARED, RWLOCK, false;
    rwlock_wrlock of c"pthread_rwlock_wrlock", EXCLUSIVE, RWLOCK, true;
    rwlock_trywrlock of c"pthread_rwlock_trywrlock", EXCLUSIVE, RWLOCK, false;
    spin_lock of c"pthread_spin_lock", EXCLUSIVE, UNKNOWN, true;
    spin_trylock of c"pthread_spin_trylock", EXCLUSIVE, UNKNOWN, false;
    c11_lock of c"mtx_lock", EXCLUSIVE, UNKNOWN, true;
    c11_trylock of c"mtx_trylock", EXCLUSIVE, UNKNOWN, false;
}

/// Functions that wait for a lock until some time: `function of "C name", mode, who shares it`.
macro_rules! timed_lockers {
    ($($function:ident of $name:literal, $mode:expr, $sharing:expr;)*) => {
        $(extern "C-unwind" fn $function(lock: *mut c_void, until: *const timespec, pc: u64) -> c_int {
            static REAL: Real = Real::new($name);
            uses(lock, pc);
            given::reads(until, pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!(REAL, (*mut c_void, *const timespec) -> c_int, lock, until) };
            got(result, lock, $mode, $sharing, pc)
        })*
    };
}

timed_lockers! {
    mutex_timedlock of c"pthread_mutex_timedlock", EXCLUSIVE, MUTEX;
    c11_timedlock of c"mtx_timedlock", EXCLUSIVE, UNKNOWN;
    rwlock_timedrdlock of c"pthread_rwlock_timedrdlock", SHARED, RWLOCK;
    rwlock_timedwrlock of c"pthread_rwlock_timedwrlock", EXCLUSIVE, RWLOCK;
}

/// The same by a given clock.
macro_rules! clock_lockers {
    ($($function:ident of $name:literal, $mode:expr, $sharing:expr;)*) => {
        $(extern "C-unwind" fn $function(
            lock: *mut c_void,
            clock: c_int,
            until: *const timespec,
            pc: u64,
        ) -> c_int {
            static REAL: Real = Real::new($name);
            uses(lock, pc);
            given::reads(until, pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe {
                call_real!(REAL, (*mut c_void, c_int, *const timespec) -> c_int, lock, clock, until)
            };
            got(result, lock, $mode, $sharing, pc)
        })*
    };
}

clock_lockers! {
    mutex_clocklock of c"pthread_mutex_clocklock", EXCLUSIVE, MUTEX;
    rwlock_clockrdlock of c"pthread_rwlock_clockrdlock", SHARED, RWLOCK;
    rwlock_clockwrlock of c"pthread_rwlock_clockwrlock", EXCLUSIVE, RWLOCK;
}

macro_rules! unlockers {
    ($($function:ident of $name:literal, $mode:expr, $sharing:expr;)*) => {
        $(extern "C-unwind" fn $function(lock: *mut c_void, pc: u64) -> c_int {
            static REAL: Real = Real::new($name);
            uses(lock, pc);
            if let Some(field) = $sharing {
                gives_to_processes(lock, field, pc);
            }
            released(lock, $mode, pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            unsafe { call_real!(REAL, (*mut c_void) -> c_int, lock) }
        })*
    };
}

unlockers! {
    mutex_unlock of c"pthread_mutex_unlock", EXCLUSIVE, MUTEX;
    rwlock_unlock of c"pthread_rwlock_unlock", AS_HELD, RWLOCK;
    spin_unlock of c"pthread_spin_unlock", EXCLUSIVE, UNKNOWN;
    c11_unlock of c"mtx_unlock", EXCLUSIVE, UNKNOWN;
}

weak_entries! {
    "pthread_mutex_lock" => mutex_lock, "rsi";
    "pthread_mutex_trylock" => mutex_trylock, "rsi";
    "pthread_mutex_timedlock" => mutex_timedlock, "rdx";
    "pthread_mutex_clocklock" => mutex_clocklock, "rcx";
    "pthread_mutex_unlock" => mutex_unlock, "rsi";
    "pthread_rwlock_rdlock" => rwlock_rdlock, "rsi";
    "pthread_rwlock_tryrdlock" => rwlock_tryrdlock, "rsi";
    "pthread_rwlock_timedrdlock" => rwlock_timedrdlock, "rdx";
    "pthread_rwlock_clockrdlock" => rwlock_clockrdlock, "rcx";
    "pthread_rwlock_wrlock" => rwlock_wrlock, "rsi";
    "pthread_rwlock_trywrlock" => rwlock_trywrlock, "rsi";
    "pthread_rwlock_timedwrlock" => rwlock_timedwrlock, "rdx";
    "pthread_rwlock_clockwrlock" => rwlock_clockwrlock, "rcx";
    "pthread_rwlock_unlock" => rwlock_unlock, "rsi";
    "pthread_spin_lock" => spin_lock, "rsi";
    "pthread_spin_trylock" => spin_trylock, "rsi";
    "pthread_spin_unlock" => spin_unlock, "rsi";
    "mtx_lock" => c11_lock, "rsi";
    "mtx_trylock" => c11_trylock, "rsi";
    "mtx_timedlock" => c11_timedlock, "rdx";
    "mtx_unlock" => c11_unlock, "rsi";
}
