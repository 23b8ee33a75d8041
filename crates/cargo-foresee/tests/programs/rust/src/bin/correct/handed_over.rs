//! Locks that one thread takes and another gives back.

use std::mem::forget;
use std::sync::{Arc, mpsc};
use std::thread;

use newest_parking_lot as parking_lot;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("spin_guard", spin_guard),
    ("spin_readers", spin_readers),
    ("sent_guard", sent_guard),
    ("arc_guard", arc_guard),
    ("forced", forced),
    ("no_inversion", no_inversion),
    ("leaked_and_used_again", leaked_and_used_again),
    ("contended", contended),
    ("contended_readers", contended_readers),
    ("std_guard", std_guard),
];

fn spin_guard() {
    let (lock, value) = (spin::Mutex::new(0_u64), Plain::new(0_u64));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let guard = lock.lock();
                value.set(value.get() + 1);
                let value = &value;
                scope.spawn(move || {
                    let mut guard = guard;
                    *guard += 1;
                    value.set(value.get() + 1);
                });
            });
            scope.spawn(|| {
                for _ in 0..3 {
                    *lock.lock() += 1;
                    let _held = lock.lock();
                    value.set(value.get() + 1);
                }
            });
        }
    });
    assert_eq!((*lock.lock(), value.get()), (12, 15));
}

fn spin_readers() {
    let (lock, value) = (spin::RwLock::new(0_u64), Plain::new(0_u64));
    thread::scope(|scope| {
        for _ in 0..3 {
            let guard = lock.read();
            let (first, second) = (&value, &value);
            scope.spawn(move || {
                let seen = (*guard, first.get());
                assert_eq!(seen.0, seen.1);
            });
            scope.spawn(|| {
                let mut written = lock.write();
                *written += 1;
                second.set(*written);
            });
        }
    });
    assert_eq!(value.get(), 3);
}

/// The one that has sent it goes on without it.
fn sent_guard() {
    static LOCK: parking_lot::Mutex<u64> = parking_lot::Mutex::new(0);
    static VALUE: Plain<u64> = Plain::new(0);
    let (to, from) = mpsc::channel::<parking_lot::MutexGuard<'static, u64>>();
    let other = thread::spawn(move || {
        for mut guard in from {
            *guard += 1;
            VALUE.set(VALUE.get() + 1);
        }
    });
    for _ in 0..5 {
        let guard = LOCK.lock();
        VALUE.set(VALUE.get() + 1);
        to.send(guard).unwrap();
    }
    drop(to);
    other.join().unwrap();
    assert_eq!((*LOCK.lock(), VALUE.get()), (5, 10));
}

fn arc_guard() {
    let lock = Arc::new(parking_lot::RwLock::new(0_u64));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let mut guard = lock.write_arc();
            thread::spawn(move || *guard += 1)
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*lock.read(), 4);
}

fn forced() {
    static LOCK: ::parking_lot::Mutex<()> = ::parking_lot::Mutex::new(());
    static SPIN: spin::Mutex<()> = spin::Mutex::new(());
    static VALUE: Plain<u64> = Plain::new(0);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            forget((LOCK.lock(), SPIN.lock()));
            VALUE.set(VALUE.get() + 1);
            thread::spawn(|| {
                VALUE.set(VALUE.get() + 1);
                // SAFETY: their guards are forgotten, and this thread is the only one that gives them back.
                unsafe {
                    SPIN.force_unlock();
                    LOCK.force_unlock();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let (_lock, _spin) = (LOCK.lock(), SPIN.lock());
    assert_eq!(VALUE.get(), 8);
}

/// Who has sent the first lock away does not hold it while it waits for the second.
fn no_inversion() {
    static FIRST: spin::Mutex<u64> = spin::Mutex::new(0);
    static SECOND: spin::Mutex<u64> = spin::Mutex::new(0);
    let guard = FIRST.lock();
    let other = thread::spawn(move || {
        let mut guard = guard;
        thread::sleep(std::time::Duration::from_millis(5));
        *guard += 1;
    });
    *SECOND.lock() += 1;
    other.join().unwrap();
    let last = thread::spawn(|| {
        let mut second = SECOND.lock();
        *second += *FIRST.lock();
    });
    last.join().unwrap();
    assert_eq!(*SECOND.lock(), 2);
}

/// A lock that is never given back, and another at the same place.
fn leaked_and_used_again() {
    for _ in 0..3 {
        let lock = Arc::new(spin::Mutex::new(Plain::new(0_u64)));
        thread::scope(|scope| {
            let lock = &lock;
            scope.spawn(move || forget(lock.lock()));
        });
        drop(lock);
        let lock = Arc::new(spin::Mutex::new(Plain::new(0_u64)));
        thread::scope(|scope| {
            for _ in 0..2 {
                let lock = &lock;
                scope.spawn(move || {
                    let held = lock.lock();
                    held.set(held.get() + 1);
                });
            }
        });
    }
}

/// Others wait for the lock, and for a condition with it, while it goes from thread to thread.
fn contended() {
    static LOCK: parking_lot::Mutex<u64> = parking_lot::Mutex::new(0);
    static CHANGED: parking_lot::Condvar = parking_lot::Condvar::new();
    static VALUE: Plain<u64> = Plain::new(0);
    let (to, from) = mpsc::channel::<parking_lot::MutexGuard<'static, u64>>();
    let drops = thread::spawn(move || {
        for mut guard in from {
            VALUE.set(VALUE.get() + 1);
            *guard += 1;
            CHANGED.notify_all();
            thread::yield_now();
        }
    });
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let to = to.clone();
            thread::spawn(move || {
                for k in 0..10 {
                    let mut guard = LOCK.lock();
                    VALUE.set(VALUE.get() + 1);
                    if (i + k) % 2 == 0 {
                        to.send(guard).unwrap();
                        continue;
                    }
                    while *guard < 2 {
                        CHANGED.wait_for(&mut guard, std::time::Duration::from_millis(1));
                    }
                    VALUE.set(VALUE.get() + 1);
                    parking_lot::MutexGuard::unlock_fair(guard);
                }
            })
        })
        .collect();
    drop(to);
    threads.into_iter().chain([drops]).for_each(|thread| thread.join().unwrap());
    assert_eq!((*LOCK.lock(), VALUE.get()), (20, 80));
}

fn contended_readers() {
    let (lock, value) = (parking_lot::RwLock::new(0_u64), Plain::new(0_u64));
    thread::scope(|scope| {
        for i in 0..4 {
            let (lock, value) = (&lock, &value);
            scope.spawn(move || {
                for k in 0..6 {
                    match (i + k) % 3 {
                        0 => {
                            let mut written = lock.write();
                            *written += 1;
                            value.set(*written);
                            thread::yield_now();
                        }
                        1 => {
                            let held = lock.read();
                            scope.spawn(move || assert_eq!(*held, value.get()));
                        }
                        _ => {
                            let held = lock.upgradable_read();
                            let mut written = parking_lot::RwLockUpgradableReadGuard::upgrade(held);
                            scope.spawn(move || {
                                *written += 1;
                                value.set(*written);
                            });
                        }
                    }
                }
            });
        }
    });
    assert_eq!(*lock.read(), value.get());
}

/// Whether a guard of the standard library may be sent is another question; its futex does not mind.
struct Sent(std::sync::MutexGuard<'static, u64>);

// SAFETY: the mutex is a futex, which does not know who has taken it.
unsafe impl Send for Sent {}

/// Who waits for it does so in code that is not instrumented.
fn std_guard() {
    static LOCK: std::sync::Mutex<u64> = std::sync::Mutex::new(0);
    static CHANGED: std::sync::Condvar = std::sync::Condvar::new();
    static VALUE: Plain<u64> = Plain::new(0);
    let threads: Vec<_> = (0..4)
        .map(|i| {
            thread::spawn(move || {
                for k in 0..6 {
                    let mut guard = LOCK.lock().unwrap();
                    VALUE.set(VALUE.get() + 1);
                    if (i + k) % 3 == 0 {
                        let moment = std::time::Duration::from_micros(50);
                        guard = CHANGED.wait_timeout(guard, moment).unwrap().0;
                    }
                    *guard += 1;
                    let sent = Sent(guard);
                    let last = thread::spawn(move || {
                        let Sent(guard) = { sent };
                        VALUE.set(VALUE.get() + 1);
                        CHANGED.notify_one();
                        drop(guard);
                    });
                    last.join().unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let held = LOCK.lock().unwrap();
    assert_eq!((*held, VALUE.get()), (24, 48));
}
