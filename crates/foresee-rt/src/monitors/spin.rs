//! A lock for the time of a few steps. Threads that wait for it spin: they are inside of the runtime, where nothing sleeps.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::spinning::spin_until;

/// A value for one thread at a time. Alone in its cache line.
#[repr(align(64))]
pub(in crate::monitors) struct Spin<T> {
    is_held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: whoever holds the lock is alone with the value, which may go from thread to thread.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T: Default> Default for Spin<T> {
    fn default() -> Self {
        Spin::new(T::default())
    }
}

impl<T> Spin<T> {
    pub(in crate::monitors) const fn new(value: T) -> Spin<T> {
        Spin { is_held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until nobody else holds it.
    #[inline]
    pub(in crate::monitors) fn lock(&self) -> Held<'_, T> {
        if self.is_held.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            spin_until(|| self.is_held.compare_exchange_weak(false, true, Acquire, Relaxed).is_ok());
        }
        Held(self)
    }
}

/// The lock is held as long as this is there.
pub(in crate::monitors) struct Held<'s, T>(&'s Spin<T>);

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held, by this alone.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`; and this is borrowed by nobody else.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.0.is_held.store(false, Release);
    }
}
