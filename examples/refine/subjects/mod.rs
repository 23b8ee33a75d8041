//! The subjects, and how they are tested.

mod blink_tree;
mod cache;
mod multiset_tree;
mod multiset_vector;
mod string_buffer;
mod vector;

use std::sync::{Mutex, MutexGuard, PoisonError};

use foresee::refine::{Harness, Report};

/// A structure that can be tested with and without its bug.
pub(crate) struct Subject {
    /// Its name.
    pub(crate) name: &'static str,
    /// What its bug is, for people.
    #[allow(dead_code, reason = "tests and benchmarks do not print it")]
    pub(crate) bug: &'static str,
    /// Tests it.
    pub(crate) test: fn(&Harness, bool) -> Result<Report, Error>,
}

/// Why a log cannot be checked.
pub(crate) type Error = Box<dyn std::error::Error>;

/// All of them.
pub(crate) const SUBJECTS: [Subject; 6] = [
    Subject {
        name: "multiset-vector",
        bug: "FindSlot looks at a slot without its lock",
        test: multiset_vector::test,
    },
    Subject {
        name: "multiset-tree",
        bug: "the parent is unlocked before the insertion",
        test: multiset_tree::test,
    },
    Subject { name: "vector", bug: "lastIndexOf uses a length that is out of date", test: vector::test },
    Subject {
        name: "string-buffer",
        bug: "append copies from an unprotected buffer",
        test: string_buffer::test,
    },
    Subject { name: "blink-tree", bug: "data nodes are duplicated", test: blink_tree::test },
    Subject { name: "cache", bug: "a dirty entry is written without the lock", test: cache::test },
];

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
