//! Refinement logging: what a concurrent structure does, in the order in which it does it, for a checker that runs its specification
//! beside it.
//!
//! A thread that is [attached](Recorder::attach) to a [`Recorder`] logs; others do not. Each entry takes a number when it happens,
//! so it must be written while what it tells of cannot be undone by others: a write under its lock, a commit before the lock is released.
//! Entries are kept by each thread and handed on in batches through a queue of bounded length. When it is full, threads wait: no entry is
//! lost. On the other side entries are put in order and checked, or written to a file.

mod choice;
mod entries;
mod harness;
mod linearized;
mod logged;
mod recorder;
mod shared;
mod thread;

pub use choice::Choice;
pub use foresee_refine::atomized::{Atomized, Sequential};
pub use foresee_refine::refine::{
    Judgement, Kind, Mode, RefineError, Replica, Unsupported, Violation, WrongWrite,
};
pub use foresee_refine::spec::{Outcome, Specification, Touched, Viewed, WrongCall};
pub use foresee_refine::{Value, linear, log, models, structures};
pub use harness::{Finding, Harness, Report, TestSettings};
pub use linearized::Linearized;
pub use logged::Logged;
pub use recorder::{Recorder, Recording, Role};
pub use thread::logged_call;

/// What the macros call.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod private {
    pub use super::thread::{Block, Call, MethodKind, call, commit, replay, write};
    use foresee_refine::Value;
    pub use foresee_refine::log::Arguments;
    pub use foresee_refine::smol_str::format_smolstr;

    pub fn value<T: Clone + Into<Value>>(it: &T) -> Value {
        it.clone().into()
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __refined {
    ($kind:ident $name:literal [$($arg:ident),*] [$($gives:tt)*] { $($body:tt)* }) => {{
        let __foresee_call = $crate::refine::private::call(
            $crate::refine::private::MethodKind::$kind,
            $name,
            || $crate::refine::private::Arguments::from_iter([$($crate::refine::private::value(&$arg)),*]),
        );
        let __foresee_result = (|| $($gives)* { $($body)* })();
        __foresee_call.returns(|| $crate::refine::private::value(&__foresee_result));
        __foresee_result
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __commit {
    () => {
        $crate::refine::private::commit()
    };
    ($condition:expr) => {
        if $condition {
            $crate::refine::private::commit()
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __commit_block {
    () => {
        let __foresee_block = $crate::refine::private::Block::begin();
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __log_entry {
    ($how:ident, [$($format:tt)*], $value:expr) => {
        $crate::refine::private::$how(
            || $crate::refine::private::format_smolstr!($($format)*),
            || ::core::convert::Into::into($value),
        )
    };
    ($how:ident, $target:expr, $value:expr) => {
        $crate::refine::private::$how(
            || ::core::convert::Into::into($target),
            || ::core::convert::Into::into($value),
        )
    };
}
