//! The beginning and the end of mutexes, condition variables and barriers.

use libc::{
    c_int, c_uint, c_void, pthread_barrier_t, pthread_cond_t, pthread_mutex_t, pthread_rwlock_t,
    pthread_spinlock_t,
};

use super::conditions::COND_VERSION;
use crate::entry_points::entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::sync_objects::changes;

/// Functions that initialise or destroy an object: `function of C name, type (other arguments)`.
macro_rules! changers {
    ($($function:ident of $real:expr, $object:ty, ($($arg:ident: $ty:ty),*);)*) => {
        $(extern "C-unwind" fn $function(object: *mut c_void, $($arg: $ty,)* pc: u64) -> c_int {
            static REAL: Real = $real;
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!(REAL, (*mut c_void $(, $ty)*) -> c_int, object $(, $arg)*) };
            if result == 0 {
                changes(object, size_of::<$object>(), pc);
            }
            result
        })*
    };
}

changers! {
    mutex_init of Real::new(c"pthread_mutex_init"), pthread_mutex_t, (attributes: *const c_void);
    mutex_destroy of Real::new(c"pthread_mutex_destroy"), pthread_mutex_t, ();
    rwlock_init of Real::new(c"pthread_rwlock_init"), pthread_rwlock_t, (attributes: *const c_void);
    rwlock_destroy of Real::new(c"pthread_rwlock_destroy"), pthread_rwlock_t, ();
    spin_init of Real::new(c"pthread_spin_init"), pthread_spinlock_t, (sharing: c_int);
    spin_destroy of Real::new(c"pthread_spin_destroy"), pthread_spinlock_t, ();
    cond_init of Real::versioned(c"pthread_cond_init", COND_VERSION), pthread_cond_t, (attributes: *const c_void);
    cond_destroy of Real::versioned(c"pthread_cond_destroy", COND_VERSION), pthread_cond_t, ();
    barrier_init of Real::new(c"pthread_barrier_init"), pthread_barrier_t, (attributes: *const c_void, count: c_uint);
    barrier_destroy of Real::new(c"pthread_barrier_destroy"), pthread_barrier_t, ();
}

entries! {
    pthread_mutex_init => mutex_init, "rdx";
    pthread_mutex_destroy => mutex_destroy, "rsi";
    pthread_rwlock_init => rwlock_init, "rdx";
    pthread_rwlock_destroy => rwlock_destroy, "rsi";
    pthread_spin_init => spin_init, "rdx";
    pthread_spin_destroy => spin_destroy, "rsi";
    pthread_cond_init => cond_init, "rdx";
    pthread_cond_destroy => cond_destroy, "rsi";
    pthread_barrier_init => barrier_init, "rcx";
    pthread_barrier_destroy => barrier_destroy, "rsi";
}
