//! The locks of `spin`.

use std::thread;

use spin::{Mutex, RwLock};

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("mutex", mutex),
    ("rwlock", rwlock),
    ("failed_attempts", failed_attempts),
    ("upgradeable", upgradeable),
    ("upgradeable_alone", upgradeable_alone),
    ("downgraded", downgraded),
    ("ticket", ticket),
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
    many(4, |_| {
        for _ in 0..10 {
            *lock.lock() += 1;
            while lock.try_lock().map(|_held| value.set(value.get() + 1)).is_none() {
                thread::yield_now();
            }
        }
    });
    assert_eq!((lock.into_inner(), value.get()), (40, 40));
}

fn rwlock() {
    let (lock, value) = (RwLock::new(0_u64), Plain::new(0_u64));
    many(4, |i| {
        for k in 0..10 {
            if (i + k) % 3 == 0 {
                let mut held = lock.write();
                *held += 1;
                value.set(*held);
            } else {
                let held = lock.read();
                assert_eq!(*held, value.get());
            }
        }
    });
}

/// An attempt to read counts itself in, sees the writer, and counts itself out.
fn failed_attempts() {
    let (lock, value) = (RwLock::new(0_u64), Plain::new(0_u64));
    let written = lock.write();
    many(2, |_| assert!(lock.try_read().is_none() && lock.try_upgradeable_read().is_none()));
    value.set(1);
    drop(written);
    many(4, |i| {
        for _ in 0..5 {
            if i % 2 == 0 {
                let mut held = lock.write();
                *held += 1;
                value.set(value.get() + 1);
                thread::yield_now();
            } else if let Some(held) = lock.try_read() {
                assert_eq!(*held + 1, value.get());
            }
        }
    });
}

fn upgradeable() {
    let (lock, value) = (RwLock::new(0_u64), Plain::new(0_u64));
    many(4, |i| {
        for k in 0..8 {
            let held = lock.upgradeable_read();
            let seen = *held;
            if (i + k) % 2 == 0 {
                match held.try_upgrade() {
                    Ok(mut written) => *written = seen + 1,
                    Err(held) => *held.upgrade() = seen + 1,
                }
                continue;
            }
            let held = held.downgrade();
            assert_eq!(*held, seen);
            assert_eq!(value.get(), 0);
        }
    });
    assert_eq!(*lock.read(), 16);
}

/// One at a time holds it so, whether it becomes a writer or not.
fn upgradeable_alone() {
    let (lock, value) = (RwLock::new(()), Plain::new(0_u64));
    many(3, |i| {
        for _ in 0..5 {
            let held = lock.upgradeable_read();
            value.set(value.get() + 1);
            if i == 0 {
                let written = held.upgrade();
                value.set(value.get() + 1);
                drop(written);
            }
        }
        let written = lock.write();
        value.set(value.get() + 1);
        drop(written);
    });
    assert_eq!(value.get(), 23);
}

fn downgraded() {
    let (lock, value) = (RwLock::new(0_u64), Plain::new(0_u64));
    many(4, |i| {
        for _ in 0..5 {
            let mut written = lock.write();
            *written += 1;
            value.set(*written);
            let seen = *written;
            if i % 2 == 0 {
                assert_eq!(*written.downgrade(), seen);
            } else {
                let held = written.downgrade_to_upgradeable();
                assert_eq!((*held, value.get()), (seen, seen));
            }
        }
    });
}

/// In no table: the atomics that it is.
fn ticket() {
    let lock = spin::mutex::TicketMutex::<_>::new(0_u64);
    many(3, |_| (0..5).for_each(|_| *lock.lock() += 1));
    assert_eq!(*lock.lock(), 15);
}
