//! The standard library's locks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, RwLock, RwLockWriteGuard, TryLockError};
use std::thread;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("contended_mutex", contended_mutex),
    ("many_mutexes", many_mutexes),
    ("try_lock", try_lock),
    ("poisoned", poisoned),
    ("caught_panics", caught_panics),
    ("into_inner", into_inner),
    ("rwlock", rwlock),
    ("rwlock_tried", rwlock_tried),
    ("rwlock_downgrade", rwlock_downgrade),
    ("rwlock_starved_writer", rwlock_starved_writer),
    ("rwlock_read_again", rwlock_read_again),
    ("one_order", one_order),
    ("gate", gate),
    ("moved_guarded_data", moved_guarded_data),
    ("nested_in_heap", nested_in_heap),
    ("standard_streams", standard_streams),
    ("printed_meanwhile", printed_meanwhile),
];

fn many(count: usize, f: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for i in 0..count {
            let f = &f;
            scope.spawn(move || f(i));
        }
    });
}

fn contended_mutex() {
    let (lock, value) = (Mutex::new(0_u64), Plain::new(0_u64));
    many(8, |_| {
        for _ in 0..25 {
            let mut held = lock.lock().unwrap();
            *held += 1;
            value.set(value.get() + 1);
            if *held % 16 == 0 {
                thread::yield_now();
            }
        }
    });
    assert_eq!((lock.into_inner().unwrap(), value.get()), (200, 200));
}

fn many_mutexes() {
    let locks: Vec<Mutex<u64>> = (0..8).map(Mutex::new).collect();
    many(4, |i| {
        for k in 0..24 {
            *locks[(i + k) % 8].lock().unwrap() += 1;
        }
    });
    assert_eq!(locks.iter().map(|lock| *lock.lock().unwrap()).sum::<u64>(), 28 + 96);
}

fn try_lock() {
    let lock = Mutex::new(vec![0]);
    many(4, |i| {
        let mut done = 0;
        while done < 5 {
            match lock.try_lock() {
                Ok(mut held) => {
                    held.push(i);
                    done += 1;
                }
                Err(TryLockError::WouldBlock) => thread::yield_now(),
                Err(TryLockError::Poisoned(_)) => unreachable!(),
            }
        }
    });
    assert_eq!(lock.lock().unwrap().len(), 21);
}

fn poisoned() {
    let (lock, rw) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
    let panics = {
        let (lock, rw) = (Arc::clone(&lock), Arc::clone(&rw));
        thread::spawn(move || {
            let mut held = lock.lock().unwrap();
            let mut written = rw.write().unwrap();
            *held = 1;
            *written = 1;
            panic!("with both held");
        })
    };
    let goes_on = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || match lock.lock() {
            Ok(mut held) => *held += 2,
            Err(poisoned) => *poisoned.into_inner() += 2,
        })
    };
    assert!(panics.join().is_err());
    goes_on.join().unwrap();
    assert!(lock.is_poisoned() && rw.is_poisoned());
    lock.clear_poison();
    assert!(*lock.lock().unwrap() > 0);
    assert_eq!(*rw.read().unwrap_err().into_inner(), 1);
}

fn caught_panics() {
    let lock = Mutex::new(0_u64);
    many(4, |i| {
        for _ in 0..4 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let mut held = lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                *held += 1;
                assert!(i % 2 == 0, "while it is held");
            }));
            assert_eq!(caught.is_err(), i % 2 == 1);
        }
    });
    assert_eq!(lock.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()), 16);
}

fn into_inner() {
    let mut lock = Mutex::new(String::new());
    many(3, |_| lock.lock().unwrap().push('x'));
    lock.get_mut().unwrap().push('y');
    assert_eq!(lock.into_inner().unwrap(), "xxxy");
}

fn rwlock() {
    let lock = RwLock::new(vec![0_u64; 8]);
    many(6, |i| {
        for k in 0..10 {
            if (i + k) % 3 == 0 {
                lock.write().unwrap().iter_mut().for_each(|value| *value += 1);
            } else {
                let all = lock.read().unwrap();
                assert!(all.iter().all(|value| *value == all[0]));
            }
        }
    });
    assert_eq!(lock.into_inner().unwrap()[0], 20);
}

fn rwlock_tried() {
    let lock = RwLock::new(0_u64);
    many(4, |i| {
        let mut done = 0;
        while done < 6 {
            if (i + done) % 2 == 0 {
                if let Ok(mut value) = lock.try_write() {
                    *value += 1;
                    done += 1;
                }
            } else if let Ok(value) = lock.try_read() {
                assert!(*value <= 12);
                done += 1;
            }
            thread::yield_now();
        }
    });
    assert_eq!(lock.into_inner().unwrap(), 12);
}

fn rwlock_downgrade() {
    let (lock, value) = (RwLock::new(0_u64), Plain::new(0_u64));
    many(4, |_| {
        for _ in 0..5 {
            let mut written = lock.write().unwrap();
            *written += 1;
            value.set(*written);
            let read = RwLockWriteGuard::downgrade(written);
            assert_eq!(*read, value.get());
        }
    });
    assert_eq!(value.get(), 20);
}

fn rwlock_starved_writer() {
    let lock = RwLock::new(Box::new(0_u64));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while **lock.read().unwrap() < 3 {
                    thread::yield_now();
                }
            });
        }
        for _ in 0..3 {
            let mut value = lock.write().unwrap();
            *value = Box::new(**value + 1);
        }
    });
}

/// Who reads again while a writer waits would wait for ever; here nobody writes meanwhile, or it is done in a way that does not wait.
fn rwlock_read_again() {
    let (lock, gate) = (RwLock::new(0_u64), Mutex::new(()));
    *lock.write().unwrap() += 1;
    many(3, |i| {
        let gate = gate.lock().unwrap();
        let first = lock.read().unwrap();
        assert_eq!(*first, *lock.read().unwrap());
        drop(first);
        if i == 0 {
            *lock.write().unwrap() += 0;
        }
        drop(gate);
    });
    let recursive = parking_lot::RwLock::new(0_u64);
    many(3, |i| {
        if i == 0 {
            *recursive.write() += 1;
        } else {
            let first = recursive.read();
            assert_eq!(*first, *recursive.read_recursive());
            assert!(recursive.try_read().is_none_or(|again| *again == *first));
        }
    });
    *lock.write().unwrap() += 1;
}

/// Two locks, always in the same order.
fn one_order() {
    let (first, second) = (Mutex::new(0), Mutex::new(0));
    many(4, |_| {
        for _ in 0..5 {
            let mut a = first.lock().unwrap();
            let mut b = second.lock().unwrap();
            *a += 1;
            *b += 1;
        }
    });
    assert_eq!(*first.lock().unwrap() + *second.lock().unwrap(), 40);
}

/// Two locks in both orders, which a third one makes harmless.
fn gate() {
    let (gate, first, second) = (Mutex::new(()), Mutex::new(0), Mutex::new(0));
    many(4, |i| {
        let _open = gate.lock().unwrap();
        let (one, other) = if i % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let mut a = one.lock().unwrap();
        *other.lock().unwrap() += 1;
        *a += 1;
    });
}

/// The value leaves the lock and goes on alone.
fn moved_guarded_data() {
    let lock = Mutex::new(Vec::<Box<u64>>::new());
    many(4, |i| {
        lock.lock().unwrap().push(Box::new(i as u64));
        let mine = lock.lock().unwrap().pop();
        if let Some(mut mine) = mine {
            *mine += 1;
        }
    });
}

/// Locks that come and go, often at the same address.
fn nested_in_heap() {
    let slot: Mutex<Option<Box<Mutex<u64>>>> = Mutex::new(None);
    many(4, |_| {
        for _ in 0..5 {
            let taken = slot.lock().unwrap().take();
            let lock = taken.unwrap_or_else(|| Box::new(Mutex::new(0)));
            *lock.lock().unwrap() += 1;
            let old = slot.lock().unwrap().replace(lock);
            drop(old);
        }
    });
}

fn standard_streams() {
    let values = [const { Plain::new(0_u64) }; 3];
    many(3, |_| {
        for _ in 0..5 {
            let input = std::io::stdin().lock();
            values[0].set(values[0].get() + 1);
            drop(input);
            let (outer, inner) = (std::io::stdout().lock(), std::io::stdout().lock());
            values[1].set(values[1].get() + 1);
            drop(outer);
            values[1].set(values[1].get() + 1);
            drop(inner);
            let _errors = std::io::stderr().lock();
            values[2].set(values[2].get() + 1);
        }
    });
    assert_eq!(values.map(|value| value.get()), [15, 30, 15]);
}

/// The library takes the lock, too, whether this thread has it or not.
fn printed_meanwhile() {
    let value = Plain::new(0_u64);
    many(3, |_| {
        for _ in 0..3 {
            print!("");
            let held = std::io::stdout().lock();
            print!("");
            value.set(value.get() + 1);
            drop(held);
            print!("");
        }
    });
    assert_eq!(value.get(), 9);
}
