//! Annotations of a normal build: checked by the compiler, and not there when the program runs.

/// Calls the lock in (or that is) this object by a name: before it is used first.
#[inline(always)]
pub fn name_lock<T: ?Sized>(_lock: &T, _name: &str) {}

/// What this thread has done so far happens before what follows the next [`happens_after`] of the same token in another
/// thread.
///
/// For synchronisation that is made by means foresee does not know, such as hardware or a foreign library: call it before the
/// other thread can notice. The token is any object that both have; only its address counts.
///
/// ```
/// let mailbox = [0_u8; 64];
/// foresee::happens_before(&mailbox);
/// // … ring the bell; and who has heard it:
/// foresee::happens_after(&mailbox);
/// ```
#[inline(always)]
pub fn happens_before<T>(_token: &T) {}

/// What other threads had done before their [`happens_before`] of the same token happens before what follows.
#[inline(always)]
pub fn happens_after<T>(_token: &T) {}

/// Nothing is needed behind the macros.
#[doc(hidden)]
pub mod private {}

#[doc(hidden)]
#[macro_export]
macro_rules! __event {
    ([$name:expr] [] $($value:expr,)*) => { $crate::__monitor_event!([$name] $($value,)*) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_event {
    ($name:expr $(, $arg:ident)*) => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __watch {
    ($name:expr, $place:expr) => {
        if false {
            let _: (&str, _) = ($name, &raw const $place);
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __local {
    ($name:expr, $value:expr) => {
        $crate::__monitor_local!($name, $crate::IntoLocal::into_local($value))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __block {
    ($name:expr) => {};
}
