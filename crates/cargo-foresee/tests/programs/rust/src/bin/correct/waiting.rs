//! Waiting for others: `Condvar`, `Barrier`, `park`, and a tiny executor.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("queue", queue),
    ("wait_while", wait_while),
    ("wait_timeout", wait_timeout),
    ("notify_all", notify_all),
    ("bare_wait", bare_wait),
    ("barrier", barrier),
    ("reused_barrier", reused_barrier),
    ("park", park),
    ("unpark_before_park", unpark_before_park),
    ("park_timeout", park_timeout),
    ("park_of_scoped", park_of_scoped),
    ("executor", executor),
];

fn queue() {
    let shared = Arc::new((Mutex::new(VecDeque::new()), Condvar::new()));
    let takers: Vec<_> = (0..3)
        .map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let mut sum = 0;
                loop {
                    let mut items = shared.0.lock().unwrap();
                    while items.is_empty() {
                        items = shared.1.wait(items).unwrap();
                    }
                    let item: Box<u64> = items.pop_front().unwrap();
                    drop(items);
                    match *item {
                        0 => return sum,
                        other => sum += other,
                    }
                }
            })
        })
        .collect();
    for i in (1..=12).chain([0, 0, 0]) {
        shared.0.lock().unwrap().push_back(Box::new(i));
        shared.1.notify_one();
    }
    assert_eq!(takers.into_iter().map(|taker| taker.join().unwrap()).sum::<u64>(), 78);
}

fn wait_while() {
    let (state, changed, value) = (Mutex::new(0), Condvar::new(), Plain::new(0));
    thread::scope(|scope| {
        for turn in 0..3 {
            let (state, changed, value) = (&state, &changed, &value);
            scope.spawn(move || {
                let mut now = changed.wait_while(state.lock().unwrap(), |now| *now != turn).unwrap();
                *now += 1;
                value.set(value.get() + 1);
                changed.notify_all();
            });
        }
    });
    assert_eq!(value.get(), 3);
}

fn wait_timeout() {
    let (state, changed, value) = (Mutex::new(false), Condvar::new(), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut ready = state.lock().unwrap();
            while !*ready {
                ready = changed.wait_timeout(ready, Duration::from_micros(200)).unwrap().0;
            }
            assert_eq!(value.get(), 4);
        });
        scope.spawn(|| {
            let long = Duration::from_secs(60);
            let (_ready, result) =
                changed.wait_timeout_while(state.lock().unwrap(), long, |ready| !*ready).unwrap();
            assert!(!result.timed_out());
            assert_eq!(value.get(), 4);
        });
        thread::sleep(Duration::from_millis(1));
        value.set(4);
        *state.lock().unwrap() = true;
        changed.notify_all();
    });
}

fn notify_all() {
    let (state, changed) = (Mutex::new(None), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut message = state.lock().unwrap();
                while message.is_none() {
                    message = changed.wait(message).unwrap();
                }
                assert_eq!(message.as_ref().map(String::len), Some(5));
            });
        }
        let text = String::from("hello");
        *state.lock().unwrap() = Some(text);
        changed.notify_all();
    });
}

/// Without a condition to look at: what is notified under the lock after the wait began is all there is.
fn bare_wait() {
    let (state, changed, value) = (Mutex::new(()), Condvar::new(), Plain::new(0));
    thread::scope(|scope| {
        let held = state.lock().unwrap();
        scope.spawn(|| {
            let held = state.lock().unwrap();
            value.set(6);
            changed.notify_one();
            drop(held);
        });
        let held = changed.wait(held).unwrap();
        assert_eq!(value.get(), 6);
        drop(held);
    });
}

fn barrier() {
    let (barrier, values) = (Barrier::new(4), [const { Plain::new(0) }; 4]);
    thread::scope(|scope| {
        for i in 0..4 {
            let (barrier, values) = (&barrier, &values);
            scope.spawn(move || {
                values[i].set(i);
                barrier.wait();
                assert_eq!(values.iter().map(Plain::get).sum::<usize>(), 6);
            });
        }
    });
}

fn reused_barrier() {
    let (barrier, value) = (Barrier::new(3), Plain::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..5 {
                    if barrier.wait().is_leader() {
                        value.set(round);
                    }
                    barrier.wait();
                    assert_eq!(value.get(), round);
                }
            });
        }
    });
}

fn park() {
    let (turn, value) = (Arc::new(AtomicUsize::new(0)), Arc::new(Plain::new(0)));
    let waiter = {
        let (turn, value) = (Arc::clone(&turn), Arc::clone(&value));
        thread::spawn(move || {
            for round in 1..4 {
                while turn.load(Ordering::Acquire) < round {
                    thread::park();
                }
                assert!(value.get() >= round);
                turn.store(0, Ordering::Release);
            }
        })
    };
    for round in 1..4 {
        value.set(round);
        turn.store(round, Ordering::Release);
        waiter.thread().unpark();
        while turn.load(Ordering::Acquire) != 0 {
            thread::yield_now();
        }
    }
    waiter.join().unwrap();
}

fn unpark_before_park() {
    let value = Plain::new(0);
    let value = &value;
    thread::scope(|scope| {
        let first = thread::current();
        let second = scope.spawn(move || {
            value.set(1);
            first.unpark();
        });
        thread::sleep(Duration::from_millis(1));
        thread::park();
        assert_eq!(value.get(), 1);
        drop(second);
    });
}

fn park_timeout() {
    let (ready, value) = (Arc::new(AtomicBool::new(false)), Arc::new(Plain::new(0)));
    let waiter = {
        let (ready, value) = (Arc::clone(&ready), Arc::clone(&value));
        thread::spawn(move || {
            while !ready.load(Ordering::Acquire) {
                thread::park_timeout(Duration::from_micros(100));
            }
            assert_eq!(value.get(), 3);
        })
    };
    thread::sleep(Duration::from_millis(1));
    value.set(3);
    ready.store(true, Ordering::Release);
    waiter.thread().unpark();
    waiter.join().unwrap();
}

fn park_of_scoped() {
    let flags = [const { AtomicBool::new(false) }; 3];
    let value = Plain::new(0);
    thread::scope(|scope| {
        let threads: Vec<_> = flags
            .iter()
            .map(|flag| {
                let value = &value;
                scope.spawn(move || {
                    while !flag.load(Ordering::Acquire) {
                        thread::park();
                    }
                    assert_eq!(value.get(), 8);
                })
            })
            .collect();
        value.set(8);
        for (flag, thread) in flags.iter().zip(&threads) {
            flag.store(true, Ordering::Release);
            thread.thread().unpark();
        }
    });
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// One value from another thread.
#[derive(Default)]
struct Slot {
    value: Option<Box<u64>>,
    waker: Option<Waker>,
}

struct Receive(Arc<Mutex<Slot>>);

impl Future for Receive {
    type Output = Box<u64>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Box<u64>> {
        let mut slot = self.0.lock().unwrap();
        match slot.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn executor() {
    let slots: Vec<Arc<Mutex<Slot>>> = (0..4).map(|_| Arc::default()).collect();
    let senders: Vec<_> = slots
        .iter()
        .cloned()
        .zip(1..)
        .map(|(slot, i)| {
            thread::spawn(move || {
                let waker = {
                    let mut slot = slot.lock().unwrap();
                    slot.value = Some(Box::new(i));
                    slot.waker.take()
                };
                waker.into_iter().for_each(Waker::wake);
            })
        })
        .collect();
    let sum = block_on(async {
        let mut sum = 0;
        for slot in slots {
            sum += *Receive(slot).await;
        }
        sum
    });
    assert_eq!(sum, 10);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
}
