//! Locks built directly upon the parking lot, as `parking_lot` builds its own.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, ParkResult, UnparkResult, UnparkToken};

const FREE: u8 = 0;
const HELD: u8 = 1;
const HELD_AND_WAITED_FOR: u8 = 2;

struct Guarded {
    state: AtomicU8,
    value: UnsafeCell<Vec<usize>>,
}

unsafe impl Sync for Guarded {}

impl Guarded {
    fn key(&self) -> usize {
        std::ptr::from_ref(&self.state).addr()
    }

    fn with<R>(&self, work: impl FnOnce(&mut Vec<usize>) -> R) -> R {
        if self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while self.state.swap(HELD_AND_WAITED_FOR, Ordering::Acquire) != FREE {
                let still = || self.state.load(Ordering::Relaxed) == HELD_AND_WAITED_FOR;
                unsafe {
                    parking_lot_core::park(self.key(), still, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, None);
                }
            }
        }
        let result = work(unsafe { &mut *self.value.get() });
        if self.state.swap(FREE, Ordering::Release) == HELD_AND_WAITED_FOR {
            unsafe { parking_lot_core::unpark_one(self.key(), |_| DEFAULT_UNPARK_TOKEN) };
        }
        result
    }
}

#[test]
fn a_mutex() {
    let guarded =
        Arc::new(Guarded { state: AtomicU8::new(FREE), value: UnsafeCell::new(Vec::new()) });
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let guarded = Arc::clone(&guarded);
            thread::spawn(move || {
                for step in 0..50 {
                    guarded.with(|list| list.push(number * step));
                    thread::yield_now();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(guarded.with(|list| list.len()), 200);
}

/// What is handed over is a plain write, ordered by the parking lot alone.
#[test]
fn a_token_hands_over() {
    struct Handed(UnsafeCell<usize>);
    unsafe impl Sync for Handed {}
    let handed = Arc::new(Handed(UnsafeCell::new(0)));
    let key = std::ptr::from_ref(&*handed).addr();
    let sleeper = {
        let handed = Arc::clone(&handed);
        thread::spawn(move || {
            let result = unsafe {
                parking_lot_core::park(key, || true, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, None)
            };
            assert_eq!(result, ParkResult::Unparked(UnparkToken(7)));
            unsafe { *handed.0.get() }
        })
    };
    unsafe { *handed.0.get() = 5 };
    loop {
        let UnparkResult { unparked_threads, .. } =
            unsafe { parking_lot_core::unpark_one(key, |_| UnparkToken(7)) };
        if unparked_threads == 1 {
            break;
        }
        thread::yield_now();
    }
    assert_eq!(sleeper.join().unwrap(), 5);
}

#[test]
fn all_are_woken_or_time_out() {
    let gate = Arc::new(AtomicUsize::new(0));
    let key = std::ptr::from_ref(&*gate).addr();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let gate = Arc::clone(&gate);
            thread::spawn(move || {
                while gate.load(Ordering::Acquire) == 0 {
                    let until = Instant::now() + Duration::from_millis(20);
                    let closed = || gate.load(Ordering::Acquire) == 0;
                    unsafe {
                        parking_lot_core::park(key, closed, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, Some(until));
                    }
                }
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(50));
    gate.store(1, Ordering::Release);
    unsafe { parking_lot_core::unpark_all(key, DEFAULT_UNPARK_TOKEN) };
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
