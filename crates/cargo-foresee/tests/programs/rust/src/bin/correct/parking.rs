//! The locks of `parking_lot`.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{
    Condvar, FairMutex, Mutex, MutexGuard, Once, OnceState, ReentrantMutex, RwLock,
    RwLockUpgradableReadGuard, RwLockWriteGuard, const_mutex,
};

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("mutex", mutex),
    ("static_mutex", static_mutex),
    ("fair", fair),
    ("timed", timed),
    ("mapped", mapped),
    ("owned_guards", owned_guards),
    ("rwlock", rwlock),
    ("rwlock_timed", rwlock_timed),
    ("upgradable", upgradable),
    ("condvar", condvar),
    ("condvar_timed", condvar_timed),
    ("condvar_all", condvar_all),
    ("once", once),
    ("once_poisoned", once_poisoned),
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
    many(8, |_| {
        for _ in 0..20 {
            let mut held = lock.lock();
            *held += 1;
            value.set(value.get() + 1);
            if *held % 16 == 0 {
                thread::yield_now();
            }
        }
    });
    many(4, |_| {
        while lock.try_lock().map(|mut held| *held += 1).is_none() {
            thread::yield_now();
        }
    });
    assert_eq!((lock.into_inner(), value.get()), (164, 160));
}

fn static_mutex() {
    static WORDS: Mutex<Vec<String>> = const_mutex(Vec::new());
    many(4, |i| WORDS.lock().push(i.to_string()));
    assert_eq!(WORDS.lock().len(), 4);
}

/// Unlocking hands the lock over to who waits.
fn fair() {
    let (lock, fair) = (Mutex::new(0_u64), FairMutex::new(0_u64));
    many(4, |_| {
        for _ in 0..10 {
            let mut held = lock.lock();
            *held += 1;
            thread::yield_now();
            MutexGuard::unlock_fair(held);
            *fair.lock() += 1;
            let mut held = lock.lock();
            *held += 1;
            MutexGuard::bump(&mut held);
            *held += 1;
            MutexGuard::unlocked(&mut held, thread::yield_now);
            *held += 1;
        }
    });
    assert_eq!((lock.into_inner(), fair.into_inner()), (160, 40));
}

fn timed() {
    let lock = Mutex::new(0_u64);
    many(4, |i| {
        let mut done = 0;
        while done < 5 {
            let held = match i % 2 {
                0 => lock.try_lock_for(Duration::from_micros(20)),
                _ => lock.try_lock_until(Instant::now() + Duration::from_micros(20)),
            };
            if let Some(mut held) = held {
                *held += 1;
                done += 1;
                thread::sleep(Duration::from_micros(10));
            }
        }
    });
    assert_eq!(lock.into_inner(), 20);
}

fn mapped() {
    let lock = Mutex::new((0_u64, String::new()));
    many(4, |_| MutexGuard::map(lock.lock(), |both| &mut both.1).push('x'));
    assert_eq!(lock.lock().1, "xxxx");
}

fn owned_guards() {
    let lock = Arc::new(Mutex::new(0_u64));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || *lock.lock_arc() += 1)
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*lock.lock(), 4);
}

fn rwlock() {
    let lock = RwLock::new(vec![0_u64; 4]);
    many(6, |i| {
        for k in 0..10 {
            match (i + k) % 4 {
                0 => lock.write().iter_mut().for_each(|value| *value += 1),
                1 => {
                    let written = lock.write();
                    let read = RwLockWriteGuard::downgrade(written);
                    assert_eq!(read[0], read[3]);
                }
                2 => assert_eq!(lock.read_recursive()[0], lock.read_recursive()[1]),
                _ => {
                    let read = lock.read();
                    assert_eq!(read[0], read[2]);
                }
            }
        }
    });
    many(3, |_| {
        if let Some(mut written) = lock.try_write() {
            written[0] += 1;
            RwLockWriteGuard::unlock_fair(written);
        } else if let Some(read) = lock.try_read() {
            assert!(read.len() == 4);
        }
    });
}

fn rwlock_timed() {
    let lock = RwLock::new(0_u64);
    many(4, |i| {
        let mut done = 0;
        while done < 5 {
            if i % 2 == 0 {
                if let Some(mut written) = lock.try_write_for(Duration::from_micros(20)) {
                    *written += 1;
                    done += 1;
                    thread::sleep(Duration::from_micros(10));
                }
            } else if let Some(read) = lock.try_read_until(Instant::now() + Duration::from_micros(20)) {
                assert!(*read <= 10);
                done += 1;
            }
        }
    });
    assert_eq!(lock.into_inner(), 10);
}

fn upgradable() {
    let lock = RwLock::new(0_u64);
    many(4, |i| {
        for _ in 0..5 {
            if i == 0 {
                assert!(*lock.read() <= 15);
                continue;
            }
            let read = lock.upgradable_read();
            let seen = *read;
            let mut written = RwLockUpgradableReadGuard::upgrade(read);
            assert_eq!(*written, seen);
            *written += 1;
            let read = RwLockWriteGuard::downgrade_to_upgradable(written);
            assert_eq!(*RwLockUpgradableReadGuard::downgrade(read), seen + 1);
        }
    });
    assert_eq!(*lock.read(), 15);
}

fn condvar() {
    let (items, filled) = (Mutex::new(Vec::<Box<u64>>::new()), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let mut items = items.lock();
                    while items.is_empty() {
                        filled.wait(&mut items);
                    }
                    assert!(*items.pop().unwrap() < 12);
                }
            });
        }
        for i in 0..12 {
            items.lock().push(Box::new(i));
            filled.notify_one();
        }
    });
}

fn condvar_timed() {
    let (state, changed, value) = (Mutex::new(false), Condvar::new(), Plain::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut ready = state.lock();
                while !*ready {
                    changed.wait_for(&mut ready, Duration::from_micros(200));
                }
                assert_eq!(value.get(), 4);
            });
        }
        thread::sleep(Duration::from_millis(1));
        value.set(4);
        *state.lock() = true;
        changed.notify_all();
    });
}

fn condvar_all() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    many(4, |i| {
        let mut turn = turn.lock();
        changed.wait_while(&mut turn, |turn| *turn != i);
        *turn += 1;
        changed.notify_all();
    });
    assert_eq!(turn.into_inner(), 4);
}

fn once() {
    static ONCE: Once = Once::new();
    static VALUE: Plain<u64> = Plain::new(0);
    many(4, |_| {
        ONCE.call_once(|| VALUE.set(9));
        assert_eq!(VALUE.get(), 9);
    });
    assert_eq!(ONCE.state(), OnceState::Done);
}

fn once_poisoned() {
    let (once, value) = (Once::new(), Plain::new(0));
    let first = thread::scope(|scope| {
        let panics = || {
            once.call_once(|| {
                value.set(1);
                panic!("no");
            })
        };
        scope.spawn(panics).join()
    });
    assert!(first.is_err());
    many(3, |_| {
        once.call_once_force(|state| {
            assert!(state.poisoned());
            value.set(value.get() + 1);
        });
        assert_eq!(value.get(), 2);
    });
}

fn reentrant() {
    let (lock, value) = (ReentrantMutex::new(()), Plain::new(0));
    many(4, |_| {
        for _ in 0..5 {
            let _outer = lock.lock();
            let _inner = lock.lock();
            let _tried = lock.try_lock().unwrap();
            value.set(value.get() + 1);
        }
    });
    assert_eq!(value.get(), 20);
}
