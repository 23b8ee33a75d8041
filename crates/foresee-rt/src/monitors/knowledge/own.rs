//! What belongs to one thread at a time, without a lock.

use std::cell::UnsafeCell;

/// A thread's own value, alone in its cache lines, in a table that all threads know.
///
/// It is its thread's, which alone uses it from its first event to its last; before, it is that of the thread that makes it, and after, that of the one that has waited for
/// its end. Making a thread and waiting for its end are functions of the C library that synchronise, so nobody needs a lock to hand it over.
#[repr(align(128))]
pub(super) struct Own<T>(UnsafeCell<T>);

// SAFETY: `get` asks for what is said above: no two threads use a value at the same time.
unsafe impl<T: Send> Sync for Own<T> {}

impl<T> Own<T> {
    pub(super) const fn new(value: T) -> Own<T> {
        Own(UnsafeCell::new(value))
    }

    /// The value.
    ///
    /// # Safety
    /// The caller is the thread whose it is now, inside of the runtime, where no signal handler comes in between; and it does not have it already.
    #[expect(clippy::mut_from_ref, reason = "whose it is now is what the caller vouches for")]
    pub(super) unsafe fn get(&self) -> &mut T {
        // SAFETY: the caller vouches that nobody else has it.
        unsafe { &mut *self.0.get() }
    }
}
