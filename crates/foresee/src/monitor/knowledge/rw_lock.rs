//! A lock that several may hold to read, and that carries what threads know.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::{Mutex, PoisonError, RwLockReadGuard, RwLockWriteGuard};

use foresee_mttl::Accessed;

use super::me::{IsViolated, Vectors, act};
use super::violation::handle;
use super::world::world;

/// A lock around a value, for many readers or one writer. For properties about what threads know, a variable: writers write it when they take it and give it
/// back, readers read it. So readers know of the writers before them, and not of each other.
///
/// A thread that panics while it holds the lock leaves it usable.
///
/// ```
/// static COUNT: foresee::RwLock<u32> = foresee::RwLock::new(0);
/// *COUNT.write() += 1;
/// assert_eq!(*COUNT.read(), 1);
/// ```
pub struct RwLock<T> {
    inner: std::sync::RwLock<T>,
    /// Nothing until it is locked where that is monitored. Readers change it, too, for the time of a step.
    vectors: Mutex<Option<Box<Vectors>>>,
}

/// The lock is held to read as long as this is there.
pub struct ReadGuard<'l, T> {
    /// There until it is dropped.
    guard: Option<RwLockReadGuard<'l, T>>,
    lock: &'l RwLock<T>,
    location: &'static Location<'static>,
}

/// The lock is held to write as long as this is there.
pub struct WriteGuard<'l, T> {
    /// There until it is dropped.
    guard: Option<RwLockWriteGuard<'l, T>>,
    lock: &'l RwLock<T>,
    location: &'static Location<'static>,
}

#[derive(Clone, Copy)]
enum Held {
    Shared,
    Alone,
}

impl<T> RwLock<T> {
    /// Nobody holds it.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { inner: std::sync::RwLock::new(value), vectors: Mutex::new(None) }
    }

    /// Waits until nobody writes.
    #[track_caller]
    pub fn read(&self) -> ReadGuard<'_, T> {
        let guard = Some(self.inner.read().unwrap_or_else(PoisonError::into_inner));
        let location = Location::caller();
        let violated = self.is_used(Held::Shared);
        let guard = ReadGuard { guard, lock: self, location };
        handle(violated, location);
        guard
    }

    /// Waits until nobody else holds it.
    #[track_caller]
    pub fn write(&self) -> WriteGuard<'_, T> {
        let guard = Some(self.inner.write().unwrap_or_else(PoisonError::into_inner));
        let location = Location::caller();
        let violated = self.is_used(Held::Alone);
        let guard = WriteGuard { guard, lock: self, location };
        handle(violated, location);
        guard
    }

    /// The lock is taken or given back, by who holds it.
    fn is_used(&self, held: Held) -> IsViolated {
        let Some(world) = world() else { return IsViolated::default() };
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let vectors = vectors.get_or_insert_default();
        act(world, |me, program| match held {
            Held::Shared => me.read(program, vectors, Accessed::default()),
            Held::Alone => me.write(program, vectors, Accessed::default(), None),
        })
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    fn drop(&mut self) {
        let violated = self.lock.is_used(Held::Shared);
        self.guard = None;
        handle(violated, self.location);
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    fn drop(&mut self) {
        let violated = self.lock.is_used(Held::Alone);
        self.guard = None;
        handle(violated, self.location);
    }
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.guard {
            Some(guard) => guard,
            None => unreachable!("the guard is there until it is dropped"),
        }
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.guard {
            Some(guard) => guard,
            None => unreachable!("the guard is there until it is dropped"),
        }
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.guard {
            Some(guard) => guard,
            None => unreachable!("the guard is there until it is dropped"),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
