//! Atomics that order what is around them.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, compiler_fence, fence};
use std::thread;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("publication", publication),
    ("fences", fences),
    ("one_fence", one_fence),
    ("release_sequence", release_sequence),
    ("seq_cst", seq_cst),
    ("seqlock", seqlock),
    ("spin_lock", spin_lock),
    ("ticket_lock", ticket_lock),
    ("peterson", peterson),
    ("stack", stack),
    ("relaxed_counters", relaxed_counters),
    ("updates", updates),
];

fn together(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(first);
        scope.spawn(second);
    });
}

fn spin_until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

fn publication() {
    let (ready, value) = (AtomicBool::new(false), Plain::new(0));
    together(
        || {
            value.set(1);
            ready.store(true, Release);
        },
        || {
            spin_until(|| ready.load(Acquire));
            assert_eq!(value.get(), 1);
        },
    );
    let place = AtomicPtr::new(std::ptr::null_mut());
    together(
        || place.store(Box::into_raw(Box::new([7_u64; 4])), Release),
        || {
            spin_until(|| !place.load(Acquire).is_null());
            assert_eq!(unsafe { *place.load(Relaxed) }, [7; 4]);
        },
    );
    drop(unsafe { Box::from_raw(place.into_inner()) });
}

fn fences() {
    let (ready, value) = (AtomicBool::new(false), Plain::new(0));
    together(
        || {
            value.set(1);
            fence(Release);
            ready.store(true, Relaxed);
        },
        || {
            spin_until(|| ready.load(Relaxed));
            fence(Acquire);
            assert_eq!(value.get(), 1);
            compiler_fence(SeqCst);
        },
    );
}

fn one_fence() {
    let (ready, value) = (AtomicUsize::new(0), Plain::new(0));
    together(
        || {
            value.set(1);
            ready.store(1, Release);
        },
        || {
            spin_until(|| ready.load(Relaxed) == 1);
            fence(Acquire);
            assert_eq!(value.get(), 1);
        },
    );
    together(
        || {
            value.set(2);
            fence(AcqRel);
            ready.fetch_add(1, Relaxed);
        },
        || {
            spin_until(|| ready.load(Acquire) == 2);
            assert_eq!(value.get(), 2);
        },
    );
}

/// Updates by others do not break the chain from the store to who loads.
fn release_sequence() {
    let (count, value) = (AtomicUsize::new(0), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            count.store(1, Release);
        });
        scope.spawn(|| {
            spin_until(|| count.load(Relaxed) == 1);
            count.fetch_add(1, Relaxed);
        });
        scope.spawn(|| {
            spin_until(|| count.load(Acquire) == 2);
            assert_eq!(value.get(), 1);
        });
    });
}

/// At most one of the two goes in.
fn seq_cst() {
    let (mine, yours, value) = (AtomicBool::new(false), AtomicBool::new(false), Plain::new(0));
    together(
        || {
            mine.store(true, SeqCst);
            if !yours.load(SeqCst) {
                value.set(1);
            }
        },
        || {
            yours.store(true, SeqCst);
            if !mine.load(SeqCst) {
                value.set(2);
            }
        },
    );
}

fn seqlock() {
    let (version, data) = (AtomicU64::new(0), [const { AtomicU64::new(0) }; 2]);
    together(
        || {
            for i in 1..6 {
                version.fetch_add(1, Relaxed);
                fence(Release);
                data.iter().for_each(|word| word.store(i, Relaxed));
                version.fetch_add(1, Release);
            }
        },
        || {
            let mut last = 0;
            while last < 5 {
                let before = version.load(Acquire);
                let words = [data[0].load(Relaxed), data[1].load(Relaxed)];
                fence(Acquire);
                if before % 2 == 0 && version.load(Relaxed) == before {
                    assert_eq!(words[0], words[1]);
                    last = words[0];
                }
                thread::yield_now();
            }
        },
    );
}

fn spin_lock() {
    let (locked, value) = (AtomicBool::new(false), Plain::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    spin_until(|| locked.compare_exchange_weak(false, true, Acquire, Relaxed).is_ok());
                    value.set(value.get() + 1);
                    locked.store(false, Release);
                }
            });
        }
    });
    assert_eq!(value.get(), 20);
}

fn ticket_lock() {
    let (next, serving, value) = (AtomicUsize::new(0), AtomicUsize::new(0), Plain::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let ticket = next.fetch_add(1, Relaxed);
                    spin_until(|| serving.load(Acquire) == ticket);
                    value.set(value.get() + 1);
                    serving.store(ticket + 1, Release);
                }
            });
        }
    });
    assert_eq!(value.get(), 12);
}

fn peterson() {
    let (wants, turn, value) = ([const { AtomicBool::new(false) }; 2], AtomicUsize::new(0), Plain::new(0));
    let enter = |me: usize| {
        for _ in 0..5 {
            wants[me].store(true, SeqCst);
            turn.store(1 - me, SeqCst);
            spin_until(|| !wants[1 - me].load(SeqCst) || turn.load(SeqCst) == me);
            value.set(value.get() + 1);
            wants[me].store(false, SeqCst);
        }
    };
    together(|| enter(0), || enter(1));
    assert_eq!(value.get(), 10);
}

struct Node {
    value: u64,
    next: *mut Node,
}

/// A stack without locks; what is popped is freed at the end only.
fn stack() {
    let top: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());
    thread::scope(|scope| {
        for i in 0..4 {
            let top = &top;
            scope.spawn(move || {
                for k in 0..4 {
                    let node = Box::into_raw(Box::new(Node { value: i + k, next: std::ptr::null_mut() }));
                    let mut seen = top.load(Relaxed);
                    loop {
                        unsafe { (*node).next = seen };
                        match top.compare_exchange_weak(seen, node, Release, Relaxed) {
                            Ok(_) => break,
                            Err(now) => seen = now,
                        }
                    }
                }
            });
        }
        scope.spawn(|| {
            let mut node = top.load(Acquire);
            while !node.is_null() {
                assert!(unsafe { (*node).value } < 8);
                node = unsafe { (*node).next };
            }
        });
    });
    let mut node = top.into_inner();
    while !node.is_null() {
        node = unsafe { Box::from_raw(node) }.next;
    }
}

fn relaxed_counters() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(|| {
                for _ in 0..20 {
                    COUNT.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(COUNT.load(Relaxed), 80);
}

fn updates() {
    let (state, value) = (AtomicU8::new(0), Plain::new(0));
    together(
        || {
            value.set(1);
            state.fetch_or(1, AcqRel);
        },
        || {
            spin_until(|| {
                state.fetch_update(AcqRel, Acquire, |now| (now & 1 == 1).then_some(now | 2)).is_ok()
            });
            assert_eq!(value.get(), 1);
        },
    );
    together(
        || {
            value.set(2);
            state.swap(9, Release);
        },
        || {
            spin_until(|| state.fetch_add(0, Acquire) == 9);
            assert_eq!(value.get(), 2);
        },
    );
}
