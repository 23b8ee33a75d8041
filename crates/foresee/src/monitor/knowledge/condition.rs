//! A condition that threads wait for with a [`Lock`](super::Lock), and that carries what its notifiers know.

use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use foresee_mttl::{Accessed, Waiters};

use super::lock::LockGuard;
use super::me::{IsViolated, Vector, act};
use super::violation::handle;
use super::world::world;

/// A condition variable. For properties about what threads know, waiting gives the lock up and takes it again, and whoever has waited knows what was known at the notifies
/// meanwhile.
///
/// ```
/// use foresee::{Condition, Lock};
///
/// static IS_READY: Lock<bool> = Lock::new(false);
/// static CHANGED: Condition = Condition::new();
///
/// let other = foresee::spawn(|| {
///     *IS_READY.lock() = true;
///     CHANGED.notify_all();
/// });
/// let mut is_ready = IS_READY.lock();
/// while !*is_ready {
///     is_ready = CHANGED.wait(is_ready);
/// }
/// # drop(is_ready);
/// # other.join().unwrap();
/// ```
#[derive(Debug, Default)]
pub struct Condition {
    inner: Condvar,
    waiting: Mutex<Waiting>,
}

/// Who waits, each under a number of its own.
#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    waiters: Waiters<Vector>,
}

impl Condition {
    /// Nobody waits for it.
    pub const fn new() -> Condition {
        Condition { inner: Condvar::new(), waiting: Mutex::new(Waiting { next: 0, waiters: Waiters::new() }) }
    }

    /// Gives the lock up until somebody notifies, and takes it again. It may return without that, too.
    #[track_caller]
    pub fn wait<'l, T>(&self, mut guard: LockGuard<'l, T>) -> LockGuard<'l, T> {
        let Some(mut held) = guard.take() else { return guard };
        let location = Location::caller();
        let Some(world) = world() else {
            guard.put_back(self.inner.wait(held).unwrap_or_else(PoisonError::into_inner));
            return guard;
        };
        handle(held.is_written(), location);
        // The lock is still held: a notify under it is later, and finds this.
        let number = self.enlist();
        let mut held = self.inner.wait(held).unwrap_or_else(PoisonError::into_inner);
        let notified = self.waiting().waiters.leave(number);
        let vectors = held.vectors();
        let violated = act(world, |me, program| {
            notified.iter().for_each(|known| me.monitor.learn(known, 0, 0));
            me.write(program, vectors, Accessed::default(), None);
        });
        guard.put_back(held);
        handle(violated, location);
        guard
    }

    /// Wakes one who waits.
    #[track_caller]
    pub fn notify_one(&self) {
        let violated = self.notifies();
        self.inner.notify_one();
        handle(violated, Location::caller());
    }

    /// Wakes all who wait.
    #[track_caller]
    pub fn notify_all(&self) {
        let violated = self.notifies();
        self.inner.notify_all();
        handle(violated, Location::caller());
    }

    fn notifies(&self) -> IsViolated {
        let Some(world) = world() else { return IsViolated::default() };
        act(world, |me, program| {
            me.internal(program);
            self.waiting().waiters.notify(me.monitor.knowledge());
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enlist(&self) -> u64 {
        let mut waiting = self.waiting();
        waiting.next += 1;
        let number = waiting.next;
        waiting.waiters.enlist(number);
        number
    }
}
