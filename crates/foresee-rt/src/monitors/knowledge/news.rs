//! The formulas of a thread that have ceased to hold, until something is done about it.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::monitors::doing::Doing;

thread_local! {
    /// As bits.
    static NEWS: AtomicU64 = const { AtomicU64::new(0) };
    /// Where the last of them did, and in which thread.
    static PLACE: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// A formula of this thread has ceased to hold, at this place of the program.
pub(super) fn note(formula: u32, doing: Doing) {
    PLACE.set((doing.pc, doing.thread));
    NEWS.with(|news| news.fetch_or(1 << formula, Relaxed));
}

/// Where the last one did.
pub(super) fn place() -> u64 {
    PLACE.get().0
}

/// In which thread.
pub(super) fn thread() -> u32 {
    PLACE.get().1
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
