//! The locks of the newest `parking_lot`.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use newest_parking_lot::{
    Condvar, FairMutex, Mutex, MutexGuard, ReentrantMutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard,
};

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("mutex", mutex),
    ("fair", fair),
    ("rwlock", rwlock),
    ("upgradable", upgradable),
    ("upgradable_alone", upgradable_alone),
    ("condvar", condvar),
    ("condvar_all", condvar_all),
    ("condvar_timed", condvar_timed),
    ("reentrant", reentrant),
];

fn many(count: usize, f: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for i in 0..count {
            let f = &f;
            scope.spawn(move || f(i));
        }
    });
}

fn mutex() {
    let (lock, value) = (Mutex::new(0_u64), Plain::new(0_u64));
    many(4, |i| {
        for _ in 0..10 {
            let held = match i {
                0 => Some(lock.lock()),
                1 => lock.try_lock(),
                _ => lock.try_lock_for(Duration::from_micros(20)),
            };
            if let Some(mut held) = held {
                *held += 1;
                value.set(value.get() + 1);
            }
        }
    });
    assert_eq!(lock.into_inner(), value.get());
}

fn fair() {
    let (lock, fair) = (Mutex::new(0_u64), FairMutex::new(0_u64));
    many(4, |_| {
        for _ in 0..5 {
            let mut held = lock.lock();
            *held += 1;
            MutexGuard::bump(&mut held);
            *held += 1;
            MutexGuard::unlock_fair(held);
            *fair.lock() += 1;
        }
    });
    assert_eq!((lock.into_inner(), fair.into_inner()), (40, 20));
}

fn rwlock() {
    let (lock, value) = (RwLock::new(0_u64), Plain::new(0_u64));
    many(5, |i| {
        for k in 0..10 {
            match (i + k) % 4 {
                0 => {
                    let mut held = lock.write();
                    *held += 1;
                    value.set(*held);
                    let held = RwLockWriteGuard::downgrade(held);
                    assert_eq!(*held, value.get());
                }
                1 => {
                    if let Some(held) = lock.try_read_for(Duration::from_micros(20)) {
                        assert_eq!(*held, value.get());
                    }
                }
                2 => {
                    if let Some(mut held) = lock.try_write() {
                        *held += 1;
                        value.set(*held);
                    }
                }
                _ => {
                    let held = lock.read();
                    assert_eq!(*held, value.get());
                }
            }
        }
    });
}

fn upgradable() {
    let (lock, value) = (RwLock::new(0_u64), Plain::new(0_u64));
    many(4, |i| {
        for _ in 0..6 {
            let held = lock.upgradable_read();
            let seen = *held;
            let mut written = match i {
                0 => RwLockUpgradableReadGuard::upgrade(held),
                1 => match RwLockUpgradableReadGuard::try_upgrade(held) {
                    Ok(written) => written,
                    Err(_) => continue,
                },
                2 => match RwLockUpgradableReadGuard::try_upgrade_for(held, Duration::from_micros(5)) {
                    Ok(written) => written,
                    Err(_) => continue,
                },
                _ => {
                    assert_eq!(*lock.read(), seen);
                    continue;
                }
            };
            *written = seen + 1;
            value.set(*written);
            let held = RwLockWriteGuard::downgrade_to_upgradable(written);
            assert_eq!((*held, value.get()), (seen + 1, seen + 1));
        }
    });
}

/// One at a time holds it so, whether it becomes a writer or not.
fn upgradable_alone() {
    let (lock, value) = (RwLock::new(()), Plain::new(0_u64));
    many(3, |_| {
        for _ in 0..5 {
            let _held = lock.upgradable_read();
            value.set(value.get() + 1);
        }
    });
    assert_eq!(value.get(), 15);
}

fn condvar() {
    let (state, changed, value) = (Mutex::new(0_u64), Condvar::new(), Plain::new(0_u64));
    thread::scope(|scope| {
        for i in 0..3 {
            let (state, changed, value) = (&state, &changed, &value);
            scope.spawn(move || {
                let mut turn = state.lock();
                while *turn != i {
                    changed.wait(&mut turn);
                }
                value.set(value.get() + 1);
                *turn += 1;
                changed.notify_all();
            });
        }
    });
    assert_eq!(value.get(), 3);
}

/// The one that notifies holds the mutex, so that those that wait are put in its queue.
fn condvar_all() {
    let (state, changed, value) = (Mutex::new(0_u64), Condvar::new(), Plain::new(0_u64));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut ready = state.lock();
                while *ready == 0 {
                    changed.wait(&mut ready);
                }
                value.set(value.get() + 1);
            });
        }
        thread::sleep(Duration::from_millis(5));
        let mut ready = state.lock();
        changed.notify_one();
        changed.notify_all();
        value.set(value.get() + 1);
        *ready = 1;
        changed.notify_all();
    });
    assert_eq!(value.get(), 5);
}

fn condvar_timed() {
    let (state, changed) = (Mutex::new(0_u64), Condvar::new());
    many(3, |_| {
        let mut held = state.lock();
        changed.wait_for(&mut held, Duration::from_micros(200));
        *held += 1;
        changed.notify_one();
    });
    assert_eq!(state.into_inner(), 3);
}

fn reentrant() {
    let (lock, value) = (ReentrantMutex::new(Cell::new(0_u64)), Plain::new(0_u64));
    many(4, |i| {
        for _ in 0..5 {
            let outer = lock.lock();
            let inner = if i % 2 == 0 { Some(lock.lock()) } else { lock.try_lock() };
            outer.set(outer.get() + 1);
            drop(outer);
            value.set(value.get() + 1);
            drop(inner);
        }
    });
    assert_eq!(value.get(), 20);
}
