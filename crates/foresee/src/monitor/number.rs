//! The numbers of the monitors that run.

use std::sync::atomic::{AtomicU32, Ordering};

/// The position of a monitor among those that run, in the order of their first events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u32);

impl Number {
    /// A number that no other monitor has.
    pub(super) fn next() -> Number {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Number(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The same, but never 0.
    #[inline]
    pub(super) fn counted_from_one(self) -> u32 {
        self.0 + 1
    }

    /// A bit for the monitor; when there are more than 64, some share one.
    #[inline]
    pub(super) fn bit(self) -> u64 {
        1 << (self.0 % 64)
    }
}
