//! What is made once, and what is shared by counting: `Once`, `OnceLock`, `LazyLock`, `Arc`, `Weak`.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once, OnceLock, Weak};
use std::thread;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("lazy_lock", lazy_lock),
    ("local_lazy_lock", local_lazy_lock),
    ("once_lock", once_lock),
    ("once_lock_set", once_lock_set),
    ("once_lock_wait", once_lock_wait),
    ("once", once),
    ("once_is_completed", once_is_completed),
    ("once_wait", once_wait),
    ("poisoned_once", poisoned_once),
    ("poisoned_lazy_lock", poisoned_lazy_lock),
    ("arc_drop_chain", arc_drop_chain),
    ("weak", weak),
    ("get_mut", get_mut),
    ("try_unwrap", try_unwrap),
    ("make_mut", make_mut),
    ("boxed_closure", boxed_closure),
];

/// Runs `f` in some threads at once.
fn many(f: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for i in 0..4 {
            let f = &f;
            scope.spawn(move || f(i));
        }
    });
}

fn lazy_lock() {
    static TABLE: LazyLock<Vec<String>> = LazyLock::new(|| (0..4).map(|i| i.to_string()).collect());
    many(|i| assert_eq!(TABLE[i], i.to_string()));
}

fn local_lazy_lock() {
    let boxed: LazyLock<Box<[u64]>> = LazyLock::new(|| vec![7; 16].into_boxed_slice());
    many(|i| assert_eq!(boxed[i], 7));
}

fn once_lock() {
    let cell: OnceLock<String> = OnceLock::new();
    many(|_| assert_eq!(cell.get_or_init(|| "made".repeat(3)).len(), 12));
    assert_eq!(cell.into_inner().unwrap(), "mademademade");
}

fn once_lock_set() {
    let cell: OnceLock<Box<usize>> = OnceLock::new();
    many(|i| match cell.set(Box::new(i)) {
        Ok(()) => {}
        Err(_) => assert!(**cell.get().unwrap() < 4),
    });
}

fn once_lock_wait() {
    let cell: OnceLock<Box<u8>> = OnceLock::new();
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(**cell.wait(), 3));
        scope.spawn(|| cell.set(Box::new(3)).unwrap());
    });
}

fn once() {
    static ONCE: Once = Once::new();
    static VALUE: Plain<u64> = Plain::new(0);
    many(|_| {
        ONCE.call_once(|| VALUE.set(9));
        assert_eq!(VALUE.get(), 9);
    });
}

fn once_is_completed() {
    let (once, value) = (Once::new(), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| once.call_once(|| value.set(5)));
        scope.spawn(|| {
            while !once.is_completed() {
                thread::yield_now();
            }
            assert_eq!(value.get(), 5);
        });
    });
}

fn once_wait() {
    let (once, value) = (Once::new(), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            once.wait();
            assert_eq!(value.get(), 5);
        });
        scope.spawn(|| once.call_once(|| value.set(5)));
    });
}

/// Who goes on after an initialisation that panicked sees what it did. The flag orders nothing.
fn poisoned_once() {
    let (once, value, begun) = (Once::new(), Plain::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            once.call_once(|| {
                begun.store(true, Ordering::Relaxed);
                value.set(1);
                panic!("no");
            });
        });
        let second = || {
            while !begun.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            once.call_once_force(|state| {
                assert!(state.is_poisoned());
                value.set(value.get() + 1);
            });
            assert_eq!(value.get(), 2);
        };
        let second = [scope.spawn(second), scope.spawn(second)];
        assert!(first.join().is_err());
        second.into_iter().for_each(|second| second.join().unwrap());
    });
}

fn poisoned_lazy_lock() {
    let lazy: LazyLock<u8> = LazyLock::new(|| panic!("never"));
    many(|_| assert!(catch_unwind(std::panic::AssertUnwindSafe(|| *lazy)).is_err()));
}

struct Node {
    value: Plain<u64>,
    _next: Option<Arc<Node>>,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.value.set(self.value.get() + 1);
    }
}

fn arc_drop_chain() {
    let mut chain = None;
    for _ in 0..8 {
        chain = Some(Arc::new(Node { value: Plain::new(0), _next: chain }));
    }
    let chain = chain.unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let mine = Arc::clone(&chain);
            thread::spawn(move || assert_eq!(mine.value.get(), 0))
        })
        .collect();
    drop(chain);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn weak() {
    let strong = Arc::new(vec![1, 2, 3]);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let weak: Weak<Vec<i32>> = Arc::downgrade(&strong);
            thread::spawn(move || assert!(weak.upgrade().is_none_or(|there| there.len() == 3)))
        })
        .collect();
    drop(strong);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Being the only one left is enough to write.
fn get_mut() {
    let mut shared = Arc::new(vec![0_u64; 4]);
    let mine = Arc::clone(&shared);
    let reader = thread::spawn(move || assert_eq!(mine[1], 0));
    loop {
        if let Some(all) = Arc::get_mut(&mut shared) {
            all[1] = 5;
            break;
        }
        thread::yield_now();
    }
    reader.join().unwrap();
}

fn try_unwrap() {
    let mut shared = Arc::new(String::from("whole"));
    let mine = Arc::clone(&shared);
    let reader = thread::spawn(move || assert_eq!(mine.len(), 5));
    let mut whole = loop {
        match Arc::try_unwrap(shared) {
            Ok(whole) => break whole,
            Err(still) => shared = still,
        }
        thread::yield_now();
    };
    whole.push('!');
    reader.join().unwrap();
    let both = [Arc::new(vec![1]), Arc::new(vec![2])];
    let others = both.clone();
    let other = thread::spawn(move || others.map(Arc::into_inner));
    let mine = both.map(Arc::into_inner);
    let theirs = other.join().unwrap();
    for (mine, theirs) in mine.iter().zip(&theirs) {
        assert!(mine.is_some() != theirs.is_some());
    }
}

fn make_mut() {
    let shared = Arc::new(vec![0_u64; 4]);
    many(|i| {
        let mut mine = Arc::clone(&shared);
        Arc::make_mut(&mut mine)[i] = 1;
        assert_eq!(mine.iter().sum::<u64>(), 1);
    });
    assert_eq!(shared.iter().sum::<u64>(), 0);
}

fn boxed_closure() {
    let mut count = Box::new(0_u64);
    let job: Box<dyn FnOnce() -> Box<u64> + Send> = Box::new(move || {
        *count += 1;
        count
    });
    let count = thread::spawn(job).join().unwrap();
    let shown: Box<dyn std::fmt::Display + Send> = count;
    assert_eq!(thread::spawn(move || shown.to_string()).join().unwrap(), "1");
}
