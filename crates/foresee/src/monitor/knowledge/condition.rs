//! A condition that threads wait for with a [`Lock`](super::Lock), and that carries what its notifiers know.

use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::{Condvar, Mutex, PoisonError};

use foresee_mttl::Accessed;

use super::lock::LockGuard;
use super::me::{Vector, Violated, act};
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

/// Who waits, and what was known at the notifies since.
#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    waiters: Vec<(u64, Option<Vector>)>,
}

impl Condition {
    /// Nobody waits for it.
    pub const fn new() -> Condition {
        Condition { inner: Condvar::new(), waiting: Mutex::new(Waiting { next: 0, waiters: Vec::new() }) }
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
        let notified = self.leave(number);
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

    /// Which of those who wait will be woken is not known: it is for all of them.
    fn notifies(&self) -> Violated {
        let Some(world) = world() else { return Violated::new() };
        act(world, |me, program| {
            me.internal(program);
            let known = me.monitor.knowledge();
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            for (_, notified) in &mut waiting.waiters {
                match notified {
                    Some(before) => {
                        before.learn(known, |_, _| ());
                    }
                    None => *notified = Some(known.clone()),
                }
            }
        })
    }

    fn enlist(&self) -> u64 {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.next += 1;
        let number = waiting.next;
        waiting.waiters.push((number, None));
        number
    }

    fn leave(&self, number: u64) -> Option<Vector> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let at = waiting.waiters.iter().position(|(waiter, _)| *waiter == number)?;
        waiting.waiters.swap_remove(at).1
    }
}
