//! The counter that orders threads. The crate's documentation has the argument for it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Counts what synchronises. Whatever else is in its cache lines would be taken from all threads whenever one counts; processors
/// fetch them in pairs.
#[repr(align(128))]
struct Counter(AtomicU64);

static COUNTER: Counter = Counter(AtomicU64::new(0));

/// Takes a place in the order of what synchronises.
#[inline(always)]
pub(crate) fn stamp() -> u64 {
    COUNTER.0.fetch_add(1, SeqCst)
}

/// The key of what has this stamp.
#[inline(always)]
pub(crate) const fn stamped_key(stamp: u64) -> u64 {
    2 * stamp + 1
}

/// The key of what this thread does now, if it does not synchronise.
#[inline(always)]
pub(crate) fn plain_key() -> u64 {
    2 * COUNTER.0.load(Relaxed)
}

/// The same for what may be done in the place of another thread: the counter as all threads see it.
pub(crate) fn now() -> u64 {
    2 * COUNTER.0.load(SeqCst)
}
