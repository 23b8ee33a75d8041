//! The formulas of a thread that have ceased to hold, until something is done about it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

thread_local! {
    /// As bits.
    static NEWS: AtomicU64 = const { AtomicU64::new(0) };
}

/// A formula of this thread has ceased to hold.
pub(super) fn note(formula: u32) {
    NEWS.with(|news| news.fetch_or(1 << formula, Relaxed));
}

/// Nothing has ceased to hold.
pub(super) fn forget() {
    NEWS.with(|news| news.store(0, Relaxed));
}

/// Whether there is any.
#[inline]
pub(super) fn is_any() -> bool {
    NEWS.with(|news| news.load(Relaxed)) != 0
}

/// Takes one of them.
pub(super) fn take() -> Option<u32> {
    let news = NEWS.with(|news| news.load(Relaxed));
    let formula = (news != 0).then(|| news.trailing_zeros())?;
    NEWS.with(|news| news.fetch_and(!(1 << formula), Relaxed));
    Some(formula)
}
