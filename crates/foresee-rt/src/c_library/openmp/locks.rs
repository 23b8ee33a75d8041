//! Locks of the program's (`omp_set_lock`), and critical sections of both libraries.
//!
//! A critical section's lock is the variable that the compiler makes for its name; libgomp has one of its own for sections without a
//! name, and one for updates that are too large to be atomic.

use foresee_format::EXCLUSIVE;
use libc::{c_int, c_void};

use super::teams::Object;
use super::{LIBGOMP, LIBOMP};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::locks::{released, requested, tried};

type Lock = *mut c_void;

/// libgomp's own locks.
static UNNAMED: Object = Object::new();
static ATOMIC: Object = Object::new();

fn lock_of(object: &Object) -> Lock {
    object.id() as Lock
}

/// Takes a lock by `real`, which waits for it.
fn takes(lock: Lock, pc: u64, real: impl FnOnce()) {
    requested(lock, EXCLUSIVE, pc);
    real();
    tried(0, lock, EXCLUSIVE, pc);
}

fn gives_back(lock: Lock, pc: u64, real: impl FnOnce()) {
    released(lock, EXCLUSIVE, pc);
    real();
}

/// Functions that take a lock, and those that give it back: `function of library's "C name", (its arguments), lock`.
macro_rules! critical {
    ($($how:ident: $function:ident of $library:ident $name:literal, ($($arg:ident: $ty:ty),*), $lock:expr;)*) => {
        $(extern "C-unwind" fn $function($($arg: $ty,)* pc: u64) {
            static REAL: Real = Real::of_library($name, $library);
            // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
            $how($lock, pc, || unsafe { call_real!(REAL, ($($ty),*) -> (), $($arg),*) });
        })*
    };
}

critical! {
    takes: set_lock of LIBGOMP c"omp_set_lock", (lock: Lock), lock;
    takes: set_nest_lock of LIBGOMP c"omp_set_nest_lock", (lock: Lock), lock;
    gives_back: unset_lock of LIBGOMP c"omp_unset_lock", (lock: Lock), lock;
    gives_back: unset_nest_lock of LIBGOMP c"omp_unset_nest_lock", (lock: Lock), lock;
    takes: gomp_critical of LIBGOMP c"GOMP_critical_start", (), lock_of(&UNNAMED);
    gives_back: gomp_end_critical of LIBGOMP c"GOMP_critical_end", (), lock_of(&UNNAMED);
    takes: gomp_named of LIBGOMP c"GOMP_critical_name_start", (lock: Lock), lock;
    gives_back: gomp_end_named of LIBGOMP c"GOMP_critical_name_end", (lock: Lock), lock;
    takes: gomp_atomic of LIBGOMP c"GOMP_atomic_start", (), lock_of(&ATOMIC);
    gives_back: gomp_end_atomic of LIBGOMP c"GOMP_atomic_end", (), lock_of(&ATOMIC);
    takes: kmpc_critical of LIBOMP c"__kmpc_critical", (place: *const c_void, thread: c_int, lock: Lock), lock;
    takes: kmpc_critical_with_hint of LIBOMP c"__kmpc_critical_with_hint",
        (place: *const c_void, thread: c_int, lock: Lock, hint: u32), lock;
    gives_back: kmpc_end_critical of LIBOMP c"__kmpc_end_critical",
        (place: *const c_void, thread: c_int, lock: Lock), lock;
}

/// Functions that try to take a lock, and return 0 if they could not.
macro_rules! tests {
    ($($function:ident of $name:literal;)*) => {
        $(extern "C-unwind" fn $function(lock: Lock, pc: u64) -> c_int {
            static REAL: Real = Real::of_library($name, LIBGOMP);
            // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
            let taken = unsafe { call_real!(REAL, (Lock) -> c_int, lock) };
            if taken != 0 {
                tried(0, lock, EXCLUSIVE, pc);
            }
            taken
        })*
    };
}

tests! {
    test_lock of c"omp_test_lock";
    test_nest_lock of c"omp_test_nest_lock";
}

weak_entries! {
    "omp_set_lock" => set_lock, "rsi";
    "omp_set_nest_lock" => set_nest_lock, "rsi";
    "omp_unset_lock" => unset_lock, "rsi";
    "omp_unset_nest_lock" => unset_nest_lock, "rsi";
    "omp_test_lock" => test_lock, "rsi";
    "omp_test_nest_lock" => test_nest_lock, "rsi";
    "GOMP_critical_start" => gomp_critical, "rdi";
    "GOMP_critical_end" => gomp_end_critical, "rdi";
    "GOMP_critical_name_start" => gomp_named, "rsi";
    "GOMP_critical_name_end" => gomp_end_named, "rsi";
    "GOMP_atomic_start" => gomp_atomic, "rdi";
    "GOMP_atomic_end" => gomp_end_atomic, "rdi";
    "__kmpc_critical" => kmpc_critical, "rcx";
    "__kmpc_critical_with_hint" => kmpc_critical_with_hint, "r8";
    "__kmpc_end_critical" => kmpc_end_critical, "rcx";
}
