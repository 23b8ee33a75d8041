//! Data races.

use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, fence};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock};
use std::thread;
use std::time::Duration;

use crate::Program;

pub(crate) const ALL: &[Program] = &[
    ("static_mut", static_mut),
    ("predicted", predicted),
    ("beside_formatting", beside_formatting),
    ("beside_copies", beside_copies),
    ("relaxed_publication", relaxed_publication),
    ("missing_fence", missing_fence),
    ("double_checked", double_checked),
    ("unsound_send", unsound_send),
    ("unsound_sync", unsound_sync),
    ("reallocated", reallocated),
    ("used_after_free", used_after_free),
    ("two_locks", two_locks),
    ("written_under_read_lock", written_under_read_lock),
    ("after_wait", after_wait),
    ("no_barrier", no_barrier),
    ("beside_once", beside_once),
    ("other_joined", other_joined),
    ("parking_lot", parking_lot_race),
    ("only_release_store", only_release_store),
    ("after_newest_wait", after_newest_wait),
    ("after_hand_over", after_hand_over),
    ("after_failed_try", after_failed_try),
    ("beside_hand_over", beside_hand_over),
    ("beside_stdin", beside_stdin),
];

/// Long enough for the other thread to have done all it does.
fn later() {
    thread::sleep(Duration::from_millis(50));
}

/// Both in threads of their own, from when both are there.
fn together(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    let both = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            both.wait();
            first();
        });
        scope.spawn(|| {
            both.wait();
            second();
        });
    });
}

/// Shared whatever is in it.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: none, that is what is wrong with these programs.
unsafe impl<T> Sync for Shared<T> {}
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    const fn new(value: T) -> Self {
        Shared(UnsafeCell::new(value))
    }

    #[inline(always)]
    fn at(&self) -> *mut T {
        self.0.get()
    }
}

fn static_mut() {
    static mut COUNTER: u32 = 0;
    let other = thread::spawn(|| unsafe {
        COUNTER += 1; // static_mut
    });
    unsafe {
        COUNTER += 1; // static_mut
    }
    other.join().unwrap();
}

/// Ordered by the lock in the run that is seen; the other way round the read is free to come first.
fn predicted() {
    static VALUE: Shared<u64> = Shared::new(0);
    static LOCK: Mutex<u64> = Mutex::new(0);
    together(
        || {
            unsafe { *VALUE.at() = 1 }; // predicted
            *LOCK.lock().unwrap() = 1;
        },
        || {
            later();
            *LOCK.lock().unwrap() = 2;
            assert!(unsafe { *VALUE.at() } < 2); // predicted
        },
    );
}

/// The same where the sections do what the library has code for, on what is each thread's own.
fn beside_formatting() {
    static VALUE: Shared<u64> = Shared::new(0);
    static LOCK: Mutex<()> = Mutex::new(());
    let describe = |number: u64, names: &mut Vec<String>| {
        let _guard = LOCK.lock().unwrap();
        names.push(format!("{number} {:?} {:>8.2}", names.last(), number as f64));
        names.push(number.to_string());
        eprintln!("{names:?}");
    };
    together(
        || {
            unsafe { *VALUE.at() = 1 }; // beside_formatting
            describe(1, &mut Vec::new());
        },
        || {
            later();
            describe(2, &mut Vec::new());
            assert!(unsafe { *VALUE.at() } < 2); // beside_formatting
        },
    );
}

fn beside_copies() {
    static VALUE: Shared<u64> = Shared::new(0);
    static LOCK: Mutex<()> = Mutex::new(());
    let work = |text: &str| {
        let _guard = LOCK.lock().unwrap();
        let names: Vec<String> = text.split(", ").map(str::to_uppercase).collect();
        let again = names.clone();
        let found = again.iter().filter(|name| name.contains("SECOND ONE OF")).count();
        assert!(found == 1 && std::str::from_utf8(again[0].as_bytes()).is_ok());
    };
    together(
        || {
            unsafe { *VALUE.at() = 1 }; // beside_copies
            work("the first, the second one of all");
        },
        || {
            later();
            work("another, and the second one of the others");
            assert!(unsafe { *VALUE.at() } < 2); // beside_copies
        },
    );
}

fn relaxed_publication() {
    static PLACE: AtomicPtr<u64> = AtomicPtr::new(null_mut());
    let other = thread::spawn(|| {
        let boxed = Box::new(7); // relaxed_publication
        PLACE.store(Box::into_raw(boxed), Relaxed);
    });
    while PLACE.load(Acquire).is_null() {
        thread::yield_now();
    }
    let seen = unsafe { *PLACE.load(Relaxed) }; // relaxed_publication
    assert!(seen < 8);
    other.join().unwrap();
}

fn missing_fence() {
    static READY: AtomicBool = AtomicBool::new(false);
    static VALUE: Shared<u64> = Shared::new(0);
    let other = thread::spawn(|| {
        unsafe { *VALUE.at() = 1 }; // missing_fence
        fence(Release);
        READY.store(true, Relaxed);
    });
    while !READY.load(Relaxed) {
        thread::yield_now();
    }
    let seen = unsafe { *VALUE.at() }; // missing_fence
    fence(Acquire);
    assert!(seen < 2);
    other.join().unwrap();
}

/// The flag is checked without the lock, and is no atomic.
fn double_checked() {
    static MADE: Shared<bool> = Shared::new(false);
    static LOCK: Mutex<()> = Mutex::new(());
    fn get() {
        let made = unsafe { *MADE.at() }; // double_checked
        if !made {
            let _held = LOCK.lock().unwrap();
            if !unsafe { *MADE.at() } {
                unsafe { *MADE.at() = true }; // double_checked
            }
        }
    }
    let other = thread::spawn(get);
    later();
    get();
    other.join().unwrap();
}

struct Handle(*mut u64);

// SAFETY: none.
unsafe impl Send for Handle {}

fn unsound_send() {
    let mut value = Box::new(0_u64);
    let handle = Handle(&raw mut *value);
    let other = thread::spawn(move || {
        let handle = handle;
        unsafe { *handle.0 += 1 }; // unsound_send
    });
    *value += 1; // unsound_send
    other.join().unwrap();
}

/// A cell whose borrows are counted without atomics.
struct Counted {
    borrows: Cell<isize>,
}

// SAFETY: none.
unsafe impl Sync for Counted {}

impl Counted {
    #[inline(never)]
    fn borrow(&self) {
        self.borrows.replace(self.borrows.get() + 1); // unsound_sync
    }
}

fn unsound_sync() {
    let counted = Counted { borrows: Cell::new(0) };
    together(|| counted.borrow(), || counted.borrow());
}

/// A pointer into a vector that grows.
fn reallocated() {
    let mut all: Vec<u64> = Vec::with_capacity(4);
    all.extend([1, 2, 3, 4]);
    let first = Handle(all.as_mut_ptr());
    let other = thread::spawn(move || {
        let first = first;
        unsafe { first.0.read_volatile() } // reallocated
    });
    later();
    all.push(5); // reallocated
    assert!(other.join().unwrap() < 9);
}

fn used_after_free() {
    let boxed = Box::into_raw(Box::new([0_u64; 4]));
    let handle = Handle(boxed.cast());
    let other = thread::spawn(move || {
        let handle = handle;
        unsafe { *handle.0.add(1) = 1 }; // used_after_free
    });
    later();
    drop(unsafe { Box::from_raw(boxed) }); // used_after_free
    other.join().unwrap();
}

/// Each holds a lock, but not the same.
fn two_locks() {
    let (first, second, value) = (Mutex::new(()), Mutex::new(()), Shared::new(0));
    together(
        || {
            let _held = first.lock().unwrap();
            unsafe { *value.at() += 1 }; // two_locks
        },
        || {
            let _held = second.lock().unwrap();
            unsafe { *value.at() += 1 }; // two_locks
        },
    );
}

fn written_under_read_lock() {
    let (lock, value) = (RwLock::new(()), Shared::new(0));
    let write = || {
        let _held = lock.read().unwrap();
        unsafe { *value.at() += 1 }; // written_under_read_lock
    };
    together(write, write);
}

/// Written after the lock was given back, read after the wait.
fn after_wait() {
    let (state, changed, value) = (Mutex::new(false), Condvar::new(), Shared::new(0));
    thread::scope(|scope| {
        let _kept = scope.spawn(|| {
            *state.lock().unwrap() = true;
            changed.notify_one();
            unsafe { *value.at() = 1 }; // after_wait
        });
        let ready = changed.wait_while(state.lock().unwrap(), |ready| !*ready).unwrap();
        drop(ready);
        assert!(unsafe { *value.at() } < 2); // after_wait
    });
}

fn no_barrier() {
    let (barrier, value) = (Barrier::new(2), Shared::new(0));
    thread::scope(|scope| {
        let _kept = scope.spawn(|| {
            barrier.wait();
            unsafe { *value.at() = 1 }; // no_barrier
        });
        barrier.wait();
        assert!(unsafe { *value.at() } < 2); // no_barrier
    });
}

/// Made within the `Once`, read without having asked it.
fn beside_once() {
    let (once, value) = (Once::new(), Shared::new(0));
    thread::scope(|scope| {
        let _kept = scope.spawn(|| once.call_once(|| unsafe { *value.at() = 1 })); // beside_once
        later();
        assert!(unsafe { *value.at() } < 2); // beside_once
    });
}

/// Joins one thread, and reads what the other wrote.
fn other_joined() {
    let value = Arc::new(Shared::new(0));
    let theirs = Arc::clone(&value);
    let writes = thread::spawn(move || unsafe { *theirs.at() = 1 }); // other_joined
    thread::spawn(|| ()).join().unwrap();
    assert!(unsafe { *value.at() } < 2); // other_joined
    writes.join().unwrap();
}

fn parking_lot_race() {
    let (lock, value) = (parking_lot::Mutex::new(0), Shared::new(0));
    together(
        || {
            unsafe { *value.at() = 1 }; // parking_lot
            *lock.lock() = 1;
        },
        || {
            later();
            *lock.lock() = 2;
            unsafe { *value.at() = 2 }; // parking_lot
        },
    );
}

/// The store releases, the load does not acquire.
fn only_release_store() {
    static READY: AtomicBool = AtomicBool::new(false);
    static VALUE: Shared<u64> = Shared::new(0);
    let other = thread::spawn(|| {
        unsafe { *VALUE.at() = 1 }; // only_release_store
        READY.store(true, Release);
    });
    while !READY.load(Relaxed) {
        thread::yield_now();
    }
    assert!(unsafe { *VALUE.at() } < 2); // only_release_store
    other.join().unwrap();
}

/// The newest one's condition variable: written after the lock was given back, read after the wait.
fn after_newest_wait() {
    use newest_parking_lot::{Condvar, Mutex};
    let (state, changed, value) = (Mutex::new(false), Condvar::new(), Shared::new(0));
    thread::scope(|scope| {
        let _kept = scope.spawn(|| {
            later();
            *state.lock() = true;
            changed.notify_one();
            unsafe { *value.at() = 1 }; // after_newest_wait
        });
        let mut ready = state.lock();
        while !*ready {
            changed.wait(&mut ready);
        }
        drop(ready);
        assert!(unsafe { *value.at() } < 2); // after_newest_wait
    });
}

/// The lock is given back by another thread, and who took it goes on as if it had it.
fn after_hand_over() {
    let (lock, value) = (spin::Mutex::new(0), Shared::new(0));
    thread::scope(|scope| {
        let guard = lock.lock();
        let theirs = &value;
        let _kept = scope.spawn(move || {
            let _guard = guard;
            unsafe { *theirs.at() += 1 }; // after_hand_over
        });
        unsafe { *value.at() += 1 }; // after_hand_over
    });
}

/// What it could not get, it uses all the same.
fn after_failed_try() {
    let (lock, value) = (spin::RwLock::new(()), Shared::new(0));
    together(
        || {
            let _held = lock.write();
            later();
            unsafe { *value.at() = 1 }; // after_failed_try
        },
        || {
            thread::sleep(Duration::from_millis(10));
            let held = lock.try_read();
            assert!(unsafe { *value.at() } < 2); // after_failed_try
            drop(held);
        },
    );
}

/// A race that no lock is part of, beside one that is handed over.
fn beside_hand_over() {
    static VALUE: Shared<u64> = Shared::new(0);
    static LOCK: Mutex<u64> = Mutex::new(0);
    let lock = spin::Mutex::new(0);
    thread::scope(|scope| {
        let guard = lock.lock();
        scope.spawn(move || drop(guard));
    });
    together(
        || {
            unsafe { *VALUE.at() = 1 }; // beside_hand_over
            *LOCK.lock().unwrap() = 1;
        },
        || {
            later();
            *LOCK.lock().unwrap() = 2;
            assert!(unsafe { *VALUE.at() } < 2); // beside_hand_over
        },
    );
}

/// One holds the lock of the input, the other does not.
fn beside_stdin() {
    let value = Shared::new(0);
    together(
        || {
            let _held = std::io::stdin().lock();
            unsafe { *value.at() = 1 }; // beside_stdin
        },
        || {
            later();
            assert!(unsafe { *value.at() } < 2); // beside_stdin
        },
    );
}
