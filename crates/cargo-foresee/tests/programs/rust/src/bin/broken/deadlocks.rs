//! Deadlocks. Of those that are to be predicted none happens: time keeps the threads apart.

use std::sync::{Barrier, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use crate::Program;

pub(crate) const ALL: &[Program] = &[
    ("inversion", inversion),
    ("parking_lot_inversion", parking_lot_inversion),
    ("rwlock_inversion", rwlock_inversion),
    ("read_write_inversion", read_write_inversion),
    ("parking_lot_rwlock_inversion", parking_lot_rwlock_inversion),
    ("newest_inversion", newest_inversion),
    ("reentrant_inversion", reentrant_inversion),
    ("upgradable_inversion", upgradable_inversion),
    ("spin_inversion", spin_inversion),
    ("read_again", read_again),
    ("parking_lot_read_again", parking_lot_read_again),
    ("three", three),
    ("mixed", mixed),
    ("hangs", hangs),
    ("parking_lot_hangs", parking_lot_hangs),
    ("rwlock_hangs", rwlock_hangs),
];

/// One after the other, from when all are there: nothing but time keeps them apart.
fn by_turns<const N: usize>(threads: [fn(); N]) {
    let all = Barrier::new(N);
    thread::scope(|scope| {
        for (turn, thread) in (0..).zip(threads) {
            let all = &all;
            scope.spawn(move || {
                all.wait();
                thread::sleep(Duration::from_millis(40 * turn));
                thread();
            });
        }
    });
}

fn inversion() {
    static FIRST: Mutex<u64> = Mutex::new(0);
    static SECOND: Mutex<u64> = Mutex::new(0);
    by_turns([
        || {
            let mut a = FIRST.lock().unwrap();
            *a += *SECOND.lock().unwrap(); // inversion
        },
        || {
            let mut b = SECOND.lock().unwrap();
            *b += *FIRST.lock().unwrap(); // inversion
        },
    ]);
}

fn parking_lot_inversion() {
    use parking_lot::Mutex;
    static FIRST: Mutex<u64> = Mutex::new(0);
    static SECOND: Mutex<u64> = Mutex::new(0);
    by_turns([
        || {
            let mut a = FIRST.lock();
            *a += *SECOND.lock(); // parking_lot_inversion
        },
        || {
            let mut b = SECOND.lock();
            *b += *FIRST.lock(); // parking_lot_inversion
        },
    ]);
}

fn rwlock_inversion() {
    static FIRST: RwLock<u64> = RwLock::new(0);
    static SECOND: RwLock<u64> = RwLock::new(0);
    by_turns([
        || {
            let mut a = FIRST.write().unwrap();
            *a += *SECOND.read().unwrap(); // rwlock_inversion
        },
        || {
            let mut b = SECOND.write().unwrap();
            *b += *FIRST.read().unwrap(); // rwlock_inversion
        },
    ]);
}

fn read_write_inversion() {
    static FIRST: RwLock<u64> = RwLock::new(0);
    static SECOND: Mutex<u64> = Mutex::new(0);
    by_turns([
        || {
            let _a = FIRST.read().unwrap();
            *SECOND.lock().unwrap() = 1; // read_write_inversion
        },
        || {
            let _b = SECOND.lock().unwrap();
            *FIRST.write().unwrap() = 1; // read_write_inversion
        },
    ]);
}

fn parking_lot_rwlock_inversion() {
    use parking_lot::RwLock;
    static FIRST: RwLock<u64> = RwLock::new(0);
    static SECOND: RwLock<u64> = RwLock::new(0);
    by_turns([
        || {
            let _a = FIRST.read();
            *SECOND.write() = 1; // parking_lot_rwlock_inversion
        },
        || {
            let _b = SECOND.read();
            *FIRST.write() = 1; // parking_lot_rwlock_inversion
        },
    ]);
}

fn newest_inversion() {
    use newest_parking_lot::Mutex;
    static FIRST: Mutex<u64> = Mutex::new(0);
    static SECOND: Mutex<u64> = Mutex::new(0);
    by_turns([
        || {
            let mut a = FIRST.lock();
            *a += *SECOND.lock(); // newest_inversion
        },
        || {
            let mut b = SECOND.lock();
            *b += *FIRST.lock(); // newest_inversion
        },
    ]);
}

fn reentrant_inversion() {
    use newest_parking_lot::ReentrantMutex;
    static FIRST: ReentrantMutex<u64> = ReentrantMutex::new(1);
    static SECOND: ReentrantMutex<u64> = ReentrantMutex::new(2);
    by_turns([
        || {
            let (a, again) = (FIRST.lock(), FIRST.lock());
            assert!(*a + *again + *SECOND.lock() > 1); // reentrant_inversion
        },
        || {
            let b = SECOND.lock();
            assert!(*b + *FIRST.lock() > 1); // reentrant_inversion
        },
    ]);
}

fn upgradable_inversion() {
    use newest_parking_lot::RwLock;
    static FIRST: RwLock<u64> = RwLock::new(1);
    static SECOND: RwLock<u64> = RwLock::new(2);
    by_turns([
        || {
            let a = FIRST.upgradable_read();
            assert!(*a + *SECOND.upgradable_read() > 1); // upgradable_inversion
        },
        || {
            let b = SECOND.upgradable_read();
            assert!(*b + *FIRST.upgradable_read() > 1); // upgradable_inversion
        },
    ]);
}

fn spin_inversion() {
    use spin::Mutex;
    static FIRST: Mutex<u64> = Mutex::new(0);
    static SECOND: Mutex<u64> = Mutex::new(0);
    by_turns([
        || {
            let mut a = FIRST.lock();
            *a += *SECOND.lock(); // spin_inversion
        },
        || {
            let mut b = SECOND.lock();
            *b += *FIRST.lock(); // spin_inversion
        },
    ]);
}

/// A writer that waits for the first reading lets nobody in, not even who reads again.
fn read_again() {
    static LOCK: RwLock<u64> = RwLock::new(0);
    by_turns([
        || *LOCK.write().unwrap() += 1, // read_again
        || {
            let _first = LOCK.read().unwrap();
            assert!(*LOCK.read().unwrap() <= 1); // read_again
        },
    ]);
}

fn parking_lot_read_again() {
    use parking_lot::RwLock;
    static LOCK: RwLock<u64> = RwLock::new(0);
    by_turns([
        || {
            let first = LOCK.read();
            assert!(*first <= *LOCK.read()); // parking_lot_read_again
        },
        || *LOCK.write() = 1, // parking_lot_read_again
    ]);
}

fn three() {
    static LOCKS: [Mutex<u64>; 3] = [const { Mutex::new(0) }; 3];
    #[inline(never)]
    fn both(from: usize, to: usize) {
        let mut a = LOCKS[from].lock().unwrap();
        *a += *LOCKS[to].lock().unwrap(); // three
    }
    by_turns([|| both(0, 1), || both(1, 2), || both(2, 0)]);
}

fn mixed() {
    static FIRST: Mutex<u64> = Mutex::new(0);
    static SECOND: parking_lot::Mutex<u64> = parking_lot::Mutex::new(0);
    by_turns([
        || {
            let mut a = FIRST.lock().unwrap();
            *a += *SECOND.lock(); // mixed
        },
        || {
            let mut b = SECOND.lock();
            *b += *FIRST.lock().unwrap(); // mixed
        },
    ]);
}

fn hangs() {
    let (first, second, both) = (Mutex::new(0), Mutex::new(0), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut a = first.lock().unwrap();
            both.wait();
            *a += *second.lock().unwrap(); // hangs
        });
        let mut b = second.lock().unwrap();
        both.wait();
        *b += *first.lock().unwrap(); // hangs
    });
}

fn parking_lot_hangs() {
    use parking_lot::Mutex;
    let (first, second, both) = (Mutex::new(0), Mutex::new(0), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut a = first.lock();
            both.wait();
            *a += *second.lock(); // parking_lot_hangs
        });
        let mut b = second.lock();
        both.wait();
        *b += *first.lock(); // parking_lot_hangs
    });
}

fn rwlock_hangs() {
    let (first, second, both) = (RwLock::new(0), RwLock::new(0), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let a = first.read().unwrap();
            both.wait();
            *second.write().unwrap() += *a; // rwlock_hangs
        });
        let b = second.read().unwrap();
        both.wait();
        *first.write().unwrap() += *b; // rwlock_hangs
    });
}
