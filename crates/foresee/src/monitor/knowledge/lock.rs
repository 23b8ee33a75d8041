//! A lock that carries what threads know.
//!
//! **Waiting.** With the lock go the cache lines of all that was accessed under it, and their vectors. If threads take it again and again, handing it over each time takes longer than what they do with it; and once somebody sleeps, a
//! lock of the standard library has everybody else sleep at once, so that most of the time goes to the kernel. So whoever waits looks rarely, which lets the other one go on for some rounds, and
//! looks for about as long as sleeping and being woken would take. Only then he sleeps, as long as it takes: waiting costs at most about twice what sleeping at once does.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use foresee_mttl::Accessed;

use super::me::{IsViolated, Vectors, act};
use super::violation::handle;
use super::world::world;

/// So often somebody who waits looks whether the lock is free before he sleeps.
const LOOKS: u32 = 10;

/// So many hints that it spins, of some 5 to 40 ns, a processor does between two looks.
const PAUSES: u32 = 100;

/// A mutex around a value; for properties about what threads know, a variable that is written when it is locked and unlocked.
///
/// A thread that panics while it holds the lock leaves it usable.
///
/// ```
/// static COUNT: foresee::Lock<u32> = foresee::Lock::new(0);
/// *COUNT.lock() += 1;
/// assert_eq!(*COUNT.lock(), 1);
/// ```
pub struct Lock<T> {
    inner: Mutex<Locked<T>>,
}

pub(super) struct Locked<T> {
    value: T,
    /// Nothing until it is locked where that is monitored.
    vectors: Option<Box<Vectors>>,
}

/// The lock is held as long as this is there.
pub struct LockGuard<'l, T> {
    /// There until it is dropped.
    guard: Option<MutexGuard<'l, Locked<T>>>,
    /// Used in place of the value that is always there.
    location: &'static Location<'static>,
}

impl<T> Lock<T> {
    /// Nobody holds it.
    pub const fn new(value: T) -> Lock<T> {
        Lock { inner: Mutex::new(Locked { value, vectors: None }) }
    }

    /// Waits until nobody else holds it.
    #[track_caller]
    pub fn lock(&self) -> LockGuard<'_, T> {
        let mut guard = self.taken().unwrap_or_else(|| self.wait());
        let violated = guard.is_written();
        let location = Location::caller();
        let guard = LockGuard { guard: Some(guard), location };
        handle(violated, location);
        guard
    }

    /// Takes it, if nobody holds it.
    #[inline]
    fn taken(&self) -> Option<MutexGuard<'_, Locked<T>>> {
        match self.inner.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Looks now and then whether it is free, and sleeps if it is not for long.
    #[cold]
    #[inline(never)]
    fn wait(&self) -> MutexGuard<'_, Locked<T>> {
        let looked = (0..LOOKS).find_map(|_| {
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
            self.taken()
        });
        looked.unwrap_or_else(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Locked<T> {
    /// The lock is taken or given back, by who holds it.
    #[inline(always)]
    pub(super) fn is_written(&mut self) -> IsViolated {
        let Some(world) = world() else { return IsViolated::default() };
        let vectors = self.vectors();
        act(world, |me, program| me.write(program, vectors, Accessed::default(), None))
    }

    pub(super) fn vectors(&mut self) -> &mut Vectors {
        self.vectors.get_or_insert_default()
    }
}

impl<'l, T> LockGuard<'l, T> {
    /// What is held, for a condition that gives it up for a time.
    pub(super) fn take(&mut self) -> Option<MutexGuard<'l, Locked<T>>> {
        self.guard.take()
    }

    pub(super) fn put_back(&mut self, held: MutexGuard<'l, Locked<T>>) {
        self.guard = Some(held);
    }
}

impl<T> Drop for LockGuard<'_, T> {
    fn drop(&mut self) {
        let violated = self.guard.as_mut().map(|guard| guard.is_written());
        self.guard = None;
        violated.into_iter().for_each(|violated| handle(violated, self.location));
    }
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.guard {
            Some(guard) => &guard.value,
            None => unreachable!("the guard is there until it is dropped"),
        }
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.guard {
            Some(guard) => &mut guard.value,
            None => unreachable!("the guard is there until it is dropped"),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inner.try_lock() {
            Ok(locked) => f.debug_struct("Lock").field("value", &locked.value).finish(),
            Err(_) => f.write_str("Lock { <locked> }"),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for LockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
