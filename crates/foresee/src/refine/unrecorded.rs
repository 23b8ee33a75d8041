//! Operations of a normal build: no words of a trace, only what is logged for a [`Recorder`](super::Recorder).

use foresee_refine::Value;

#[inline(always)]
pub(super) fn write(_target: &str, _value: impl FnOnce() -> Value) {}

#[inline(always)]
pub(super) fn internal_thread() {}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_call {
    ($operation:ident $name:literal [$($arg:ident),*]) => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_return {
    ($operation:ident $name:literal $result:ident) => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_commit {
    () => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_block {
    ($block:ident) => {};
}

/// Neither is evaluated unless somebody listens.
#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_entry {
    ($how:ident, $target:expr, $value:expr) => {
        $crate::refine::private::$how(|| $target, || $value)
    };
}
