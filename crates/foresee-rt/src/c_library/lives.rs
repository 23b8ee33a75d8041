//! Functions that initialise and destroy what threads synchronise by. What that means is in `recorder::objects`.

use libc::{
    c_int, c_uint, c_void, pthread_barrier_t, pthread_cond_t, pthread_mutex_t, pthread_rwlock_t,
    pthread_spinlock_t,
};

use super::conditions::COND_VERSION;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::objects::begins_or_ends;

/// Functions of an object of some type: `function of C name (arguments after the object) -> result, type`.
macro_rules! lives {
    ($($function:ident of $real:expr, ($($arg:ident: $ty:ty),*) -> $result:ty, $object:ty;)*) => {
        $(extern "C-unwind" fn $function(object: *mut c_void, $($arg: $ty,)* pc: u64) -> $result {
            static REAL: Real = $real;
            begins_or_ends(object, size_of::<$object>(), pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            unsafe { call_real!(REAL, (*mut c_void $(, $ty)*) -> $result, object $(, $arg)*) }
        })*
    };
}

lives! {
    mutex_init of Real::new(c"pthread_mutex_init"), (attributes: *const c_void) -> c_int, pthread_mutex_t;
    mutex_destroy of Real::new(c"pthread_mutex_destroy"), () -> c_int, pthread_mutex_t;
    rwlock_init of Real::new(c"pthread_rwlock_init"), (attributes: *const c_void) -> c_int, pthread_rwlock_t;
    rwlock_destroy of Real::new(c"pthread_rwlock_destroy"), () -> c_int, pthread_rwlock_t;
    spin_init of Real::new(c"pthread_spin_init"), (shared: c_int) -> c_int, pthread_spinlock_t;
    spin_destroy of Real::new(c"pthread_spin_destroy"), () -> c_int, pthread_spinlock_t;
    cond_init of Real::versioned(c"pthread_cond_init", COND_VERSION), (attributes: *const c_void) -> c_int, pthread_cond_t;
    cond_destroy of Real::versioned(c"pthread_cond_destroy", COND_VERSION), () -> c_int, pthread_cond_t;
    barrier_init of Real::new(c"pthread_barrier_init"), (attributes: *const c_void, count: c_uint) -> c_int, pthread_barrier_t;
    barrier_destroy of Real::new(c"pthread_barrier_destroy"), () -> c_int, pthread_barrier_t;
    c11_mutex_init of Real::new(c"mtx_init"), (kind: c_int) -> c_int, pthread_mutex_t;
    c11_mutex_destroy of Real::new(c"mtx_destroy"), () -> (), pthread_mutex_t;
    c11_cond_init of Real::new(c"cnd_init"), () -> c_int, pthread_cond_t;
    c11_cond_destroy of Real::new(c"cnd_destroy"), () -> (), pthread_cond_t;
}

// A program may have functions of its own by these names.
weak_entries! {
    "pthread_mutex_init" => mutex_init, "rdx";
    "pthread_mutex_destroy" => mutex_destroy, "rsi";
    "pthread_rwlock_init" => rwlock_init, "rdx";
    "pthread_rwlock_destroy" => rwlock_destroy, "rsi";
    "pthread_spin_init" => spin_init, "rdx";
    "pthread_spin_destroy" => spin_destroy, "rsi";
    "pthread_cond_init" => cond_init, "rdx";
    "pthread_cond_destroy" => cond_destroy, "rsi";
    "pthread_barrier_init" => barrier_init, "rcx";
    "pthread_barrier_destroy" => barrier_destroy, "rsi";
    "mtx_init" => c11_mutex_init, "rdx";
    "mtx_destroy" => c11_mutex_destroy, "rsi";
    "cnd_init" => c11_cond_init, "rsi";
    "cnd_destroy" => c11_cond_destroy, "rsi";
}
