//! The subjects, and how they are tested.

mod blink_tree;
mod cache;
mod multiset_tree;
mod multiset_vector;
mod scan_fs;
mod string_buffer;
mod vector;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use blink_tree::BlinkTree;
pub(crate) use cache::Cache;
use foresee::refine::{Choice, Harness, RefineError, Replica, Report, Viewed};
pub(crate) use multiset_tree::MultisetTree;
pub(crate) use multiset_vector::MultisetVector;
pub(crate) use scan_fs::ScanFs;
pub(crate) use string_buffer::StringBuffers;
pub(crate) use vector::Vector;

/// A structure that can be driven at random and checked. Its bug is a parameter of its type, so that both versions are in one program.
pub(crate) trait Subject: Sync + Sized {
    type Spec: Viewed + Clone + Send + 'static;
    type Replica: Replica + Default + Send + 'static;
    const SPEC: Self::Spec;
    /// What a thread of its own does again and again.
    const INTERNAL: Option<fn(&Self)> = None;

    fn new(harness: &Harness) -> Self;

    /// Calls some method.
    fn operate(&self, choice: &mut Choice);
}

/// A subject with and without its bug.
#[allow(dead_code, reason = "the example, the tests and the benchmark each use a part")]
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    /// What its bug is, for people.
    pub(crate) bug: &'static str,
    pub(crate) test: fn(&Harness, bool) -> Result<Report, RefineError>,
}

/// Calls a macro with every subject: its type, its name, what its bug is.
macro_rules! for_each_subject {
    ($with:ident) => {
        $with! {
            MultisetVector, "multiset-vector", "FindSlot looks at a slot without its lock";
            MultisetTree, "multiset-tree", "the parent is unlocked before the insertion";
            Vector, "vector", "lastIndexOf uses a length that is out of date";
            StringBuffers, "string-buffer", "append copies from an unprotected buffer";
            BlinkTree, "blink-tree", "data nodes are duplicated";
            Cache, "cache", "a dirty entry is written without the lock";
            ScanFs, "scan-fs", "a dirty buffer is overwritten without the lock";
        }
    };
}
#[allow(unused_imports, reason = "only the benchmark has tables of its own")]
pub(crate) use for_each_subject;

macro_rules! pairs {
    ($($type:ident, $name:literal, $bug:literal;)*) => {
        &[$(Pair {
            name: $name,
            bug: $bug,
            test: |harness, bug| match bug {
                true => test::<$type<true>>(harness),
                false => test::<$type<false>>(harness),
            },
        }),*]
    };
}

/// All of them.
#[allow(dead_code, reason = "the benchmark has a table of its own")]
pub(crate) const SUBJECTS: &[Pair] = for_each_subject!(pairs);

fn test<T: Subject>(harness: &Harness) -> Result<Report, RefineError> {
    harness.run_with::<T::Spec, T::Replica, T>(T::SPEC, || T::new(harness), T::operate, T::INTERNAL)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
