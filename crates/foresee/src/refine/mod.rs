//! Refinement logging: what a concurrent structure does, in the order in which it does it, for a checker that runs its specification
//! beside it.
//!
//! A thread that is [attached](Recorder::attach) to a [`Recorder`] logs; others do not. Each entry takes a number when it happens,
//! so it must be written while what it tells of cannot be undone by others: a write under its lock, a commit before the lock is released.
//! Entries wait in a buffer of bounded length for each thread. A thread whose buffer is full waits: no entry is lost. One thread empties the buffers, puts
//! entries in order, and checks them or writes them to a file.
//!
//! In a program that foresee records, operations, commits and writes are words of its trace as well, with or without a recorder (`recorded.rs`).

mod choice;
mod entries;
mod harness;
mod linearized;
mod logged;
mod progress;
mod recorder;
mod report;
mod shared;
mod thread;

/// Operations as words of a trace.
#[cfg(all(foresee, target_arch = "x86_64", target_os = "linux"))]
#[path = "recorded.rs"]
mod words;

/// There is no trace.
#[cfg(not(all(foresee, target_arch = "x86_64", target_os = "linux")))]
#[path = "unrecorded.rs"]
mod words;

pub use choice::Choice;
pub use foresee_refine::atomized::{Atomized, Sequential};
pub use foresee_refine::refine::{
    BrokenBlock, Judgement, Kind, Mode, RefineError, Replica, Unsupported, Violation, WrongWrite,
};
pub use foresee_refine::spec::{Outcome, Specification, Touched, Viewed, WrongCall};
pub use foresee_refine::{Value, linear, log, models, structures};
pub use harness::{Harness, TestSettings};
pub use linearized::Linearized;
pub use logged::Logged;
pub use recorder::{Recorder, Recording, Role};
pub use report::{Finding, Report};
pub use thread::logged_call;

/// This thread belongs to the structure (compression, eviction): its work must leave the contents as they are. For recorded programs; one that is
/// [attached](Recorder::attach) has a [`Role`].
pub fn internal_thread() {
    words::internal_thread();
}

/// What the macros call.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod private {
    pub use super::thread::{Block, Call, MethodKind, call, commit, replay, value, write};
    #[cfg(all(foresee, target_arch = "x86_64", target_os = "linux"))]
    pub use super::words::{CommitBlock, Operation, argument};
    pub use foresee_refine::SmolStr;
    pub use foresee_refine::log::Arguments;
    pub use foresee_refine::smol_str::format_smolstr;
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
        $crate::__recorded_call!(__foresee_operation $name [$($arg),*]);
        let __foresee_result = (|| $($gives)* { $($body)* })();
        $crate::__recorded_return!(__foresee_operation $name __foresee_result);
        __foresee_call.returns(|| $crate::refine::private::value(&__foresee_result));
        __foresee_result
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __commit {
    () => {{
        $crate::__recorded_commit!();
        $crate::refine::private::commit()
    }};
    ($condition:expr) => {
        if $condition {
            $crate::__commit!()
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __commit_block {
    () => {
        let __foresee_block = $crate::refine::private::Block::begin();
        $crate::__recorded_block!(__foresee_recorded_block);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __log_entry {
    ($how:ident, [$($format:tt)*], $value:expr) => {
        $crate::__recorded_entry!(
            $how,
            $crate::refine::private::format_smolstr!($($format)*),
            ::core::convert::Into::into($value)
        )
    };
    ($how:ident, $target:expr, $value:expr) => {
        $crate::__recorded_entry!(
            $how,
            ::core::convert::Into::into($target),
            ::core::convert::Into::into($value)
        )
    };
}
