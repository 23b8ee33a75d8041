//! Operations of a recorded build: words of the trace, so that `foresee refine TRACE` can look at this run and at others.
//!
//! As all annotations of recorded builds, the macros call the recorder from the user's code (`recorded.rs` of the crate). What is logged for a
//! [`Recorder`](super::Recorder) is logged as well: neither knows of the other.

use std::cell::Cell;

use foresee_refine::Value;
use foresee_refine::recorded_words::{LOG_INTERNAL, LOG_PANIC, LOG_WRITE};

use crate::how::private::{Text, arg_int, arg_str, commit_end, event};

std::thread_local! {
    /// How many operations of this thread are under way, each called by the one before.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// An operation under way. Only the outermost is a word of the trace.
#[must_use]
pub struct Operation {
    is_outermost: bool,
    /// Whether the trace has its call, and not its end.
    is_open: bool,
}

impl Operation {
    /// It has begun.
    pub fn begun() -> Operation {
        Operation { is_outermost: DEPTH.replace(DEPTH.get() + 1) == 0, is_open: false }
    }

    /// Whether no other one of this thread was under way.
    pub fn is_outermost(&self) -> bool {
        self.is_outermost
    }

    /// Its call is in the trace.
    pub fn is_called(&mut self) {
        self.is_open = true;
    }

    /// Its return is.
    pub fn has_returned(mut self) {
        self.is_open = false;
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
        if self.is_open {
            event(Text::new(LOG_PANIC));
        }
    }
}

/// A commit block that has begun in this thread, and ends with this value.
#[must_use]
pub struct CommitBlock(());

impl CommitBlock {
    #[inline(always)]
    /// It has begun.
    pub fn begun() -> CommitBlock {
        CommitBlock(())
    }
}

impl Drop for CommitBlock {
    #[inline(always)]
    fn drop(&mut self) {
        commit_end();
    }
}

/// Hands an argument of the word that follows to the recorder.
pub fn argument(value: &Value) {
    match value {
        Value::Int(number) => arg_int(*number),
        other => arg_str(Text::new(&other.to_word())),
    }
}

/// A write of a [`Logged`](super::Logged) variable.
#[inline]
pub(super) fn write(target: &str, value: impl FnOnce() -> Value) {
    arg_str(Text::new(target));
    argument(&value());
    event(Text::new(LOG_WRITE));
}

/// This thread is one of the structure's own.
pub(super) fn internal_thread() {
    event(Text::new(LOG_INTERNAL));
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_call {
    ($operation:ident $name:literal [$($arg:ident),*]) => {
        let mut $operation = $crate::refine::private::Operation::begun();
        if $operation.is_outermost() {
            $($crate::refine::private::argument(&$crate::refine::private::value(&$arg));)*
            $crate::private::call($crate::private::Text::new($name));
            $operation.is_called();
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_return {
    ($operation:ident $name:literal $result:ident) => {
        if $operation.is_outermost() {
            $crate::refine::private::argument(&$crate::refine::private::value(&$result));
            $crate::private::returned($crate::private::Text::new($name));
        }
        $operation.has_returned();
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_commit {
    () => {
        $crate::private::commit()
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_block {
    ($block:ident) => {
        $crate::private::commit_begin();
        let $block = $crate::refine::private::CommitBlock::begun();
    };
}

/// The entry is made once, for the trace and for whoever else listens.
#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_entry {
    ($how:ident, $target:expr, $value:expr) => {{
        let target: $crate::refine::private::SmolStr = $target;
        let value: $crate::refine::Value = $value;
        $crate::private::arg_str($crate::private::Text::new(&target));
        $crate::refine::private::argument(&value);
        $crate::private::event($crate::private::Text::new(::core::concat!("log_", ::core::stringify!($how))));
        $crate::refine::private::$how(|| target, || value)
    }};
}
