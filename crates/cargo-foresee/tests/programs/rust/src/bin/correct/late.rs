//! Orders that the trace shows late, where a load of an atomic is the first that a thread does after them: keys of pages must not be older than the order.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::Duration;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("mutex", mutex),
    ("written", written),
    ("read", read),
    ("once", once),
    ("once_lock", once_lock),
    ("lazy_lock", lazy_lock),
];

/// Two threads do it again and again, one of them always waiting.
fn in_turn(work: impl Fn(&AtomicU64) + Sync) {
    let zero = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..10).for_each(|_| work(&zero)));
        }
    });
}

fn change(number: &mut u64, zero: &AtomicU64) {
    *number += 1 + zero.load(Relaxed);
    thread::sleep(Duration::from_micros(300));
    *number += 1;
}

fn mutex() {
    let number = Mutex::new(0);
    in_turn(|zero| {
        let mut guard = number.lock().unwrap();
        zero.load(Relaxed);
        change(&mut guard, zero);
    });
    assert_eq!(*number.lock().unwrap(), 40);
}

fn written() {
    let number = RwLock::new(0);
    in_turn(|zero| {
        let mut guard = number.write().unwrap();
        zero.load(Relaxed);
        change(&mut guard, zero);
    });
    assert_eq!(*number.read().unwrap(), 40);
}

fn read() {
    let (lock, number) = (RwLock::new(()), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 1..=10 {
                let _guard = lock.write().unwrap();
                number.set(i);
                thread::sleep(Duration::from_micros(300));
            }
        });
        for _ in 0..10 {
            let _guard = lock.read().unwrap();
            assert!(number.get() <= 10);
        }
    });
}

/// Time in which a thread does nothing that is recorded.
#[inline(always)]
fn pass() {
    // SAFETY: every processor that foresee records on has the instruction.
    let now = || unsafe { core::arch::x86_64::_rdtsc() };
    let begun = now();
    while now().wrapping_sub(begun) < 30_000_000 {}
}

/// One thread finds done what another has done meanwhile.
fn meanwhile(make: impl Fn(), find: impl FnOnce() -> u64 + Send) {
    thread::scope(|scope| {
        let finder = scope.spawn(|| {
            pass();
            find()
        });
        thread::sleep(Duration::from_millis(2));
        make();
        assert_eq!(finder.join().unwrap(), 5);
    });
}

fn once() {
    let (once, number) = (Once::new(), Plain::new(0));
    let make = || once.call_once(|| number.set(5));
    meanwhile(make, || {
        make();
        number.get()
    });
}

fn once_lock() {
    let lock = OnceLock::new();
    let make = || *lock.get_or_init(|| Box::new([5; 4])).last().unwrap();
    meanwhile(|| _ = make(), || lock.get().map_or_else(make, |made| made[2]));
}

fn lazy_lock() {
    let lock = LazyLock::new(|| vec![1, 5, 3]);
    meanwhile(|| assert_eq!(lock[0], 1), || lock[1]);
}
