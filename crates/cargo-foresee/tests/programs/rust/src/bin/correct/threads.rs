//! Threads: how they begin, end, are named and waited for; what they have of their own; the allocator they share.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::io::{Write as _, stdin, stdout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("scope", scope),
    ("nested_scopes", nested_scopes),
    ("scope_with_panic", scope_with_panic),
    ("joined", joined),
    ("is_finished", is_finished),
    ("builder", builder),
    ("panics", panics),
    ("detached", detached),
    ("locals_with_drop", locals_with_drop),
    ("allocations", allocations),
    ("printing", printing),
    ("environment", environment),
    ("many_short", many_short),
];

/// Counts what is allocated.
pub(crate) struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is done by the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn scope() {
    let mut words = vec![String::from("a"), String::from("b")];
    let mut count = 0;
    thread::scope(|scope| {
        let (first, second) = words.split_at_mut(1);
        scope.spawn(|| first[0].push('x'));
        scope.spawn(|| second[0].push('y'));
        scope.spawn(|| count += 1);
    });
    words.push(count.to_string());
    assert_eq!(words.concat(), "axby1");
}

fn nested_scopes() {
    let mut sums = [0_u64; 3];
    thread::scope(|outer| {
        for sum in &mut sums {
            outer.spawn(move || {
                let mut parts = [0; 2];
                thread::scope(|inner| {
                    for part in &mut parts {
                        inner.spawn(|| *part = 1);
                    }
                });
                *sum = parts.iter().sum();
            });
        }
        outer.spawn(|| outer.spawn(|| ()).join().unwrap());
    });
    assert_eq!(sums, [2; 3]);
}

fn scope_with_panic() {
    let mut count = 0;
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                count += 1;
                panic!("after that");
            });
        });
    }));
    assert!(result.is_err());
    assert_eq!(count, 1);
}

fn joined() {
    let value = Arc::new(Plain::new(0));
    for i in 1..5 {
        let theirs = Arc::clone(&value);
        let text = thread::spawn(move || {
            theirs.set(i);
            format!("{i}")
        });
        assert_eq!(text.join().unwrap(), value.get().to_string());
    }
}

/// A thread that is said to be finished may still be about to end.
fn is_finished() {
    let value = Arc::new(Plain::new(0));
    let theirs = Arc::clone(&value);
    let other = thread::spawn(move || theirs.set(1));
    while !other.is_finished() {
        thread::yield_now();
    }
    other.join().unwrap();
    assert_eq!(value.get(), 1);
}

fn builder() {
    let named = thread::Builder::new().name("a thread with a name".into()).stack_size(1 << 18);
    let named = named.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
    assert_eq!(named.join().unwrap().as_deref(), Some("a thread with a name"));
    let mut count = 0;
    thread::scope(|scope| {
        thread::Builder::new().name("scoped".into()).spawn_scoped(scope, || count += 1).unwrap();
    });
    assert_eq!(count, 1);
}

fn panics() {
    let value = Arc::new(Plain::new(0));
    let theirs = Arc::clone(&value);
    let panicked = thread::spawn(move || {
        theirs.set(1);
        std::panic::panic_any(String::from("why"));
    });
    assert_eq!(panicked.join().unwrap_err().downcast_ref::<String>().unwrap(), "why");
    assert_eq!(value.get(), 1);
}

fn detached() {
    let (done, value) = (Arc::new(AtomicBool::new(false)), Arc::new(Plain::new(0)));
    {
        let (done, value) = (Arc::clone(&done), Arc::clone(&value));
        thread::spawn(move || {
            value.set(1);
            done.store(true, Ordering::Release);
        });
    }
    while !done.load(Ordering::Acquire) {
        thread::yield_now();
    }
    assert_eq!(value.get(), 1);
}

static ENDED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

struct Own(Vec<u64>);

impl Drop for Own {
    fn drop(&mut self) {
        ENDED.lock().unwrap().append(&mut self.0);
    }
}

thread_local! {
    static OWN: RefCell<Own> = const { RefCell::new(Own(Vec::new())) };
    static LATER: Own = Own(vec![1]);
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn locals_with_drop() {
    let threads: Vec<_> = (0..4)
        .map(|i| {
            thread::spawn(move || {
                OWN.with_borrow_mut(|own| own.0.push(i));
                COUNT.set(COUNT.get() + i);
                LATER.with(|own| assert_eq!(own.0.len(), 1));
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(ENDED.lock().unwrap().len(), 8);
}

/// Memory goes from thread to thread, through the allocator too.
fn allocations() {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for _ in 0..3 {
        let theirs = std::mem::take(&mut all);
        all = thread::spawn(move || {
            drop(theirs);
            (0..16).map(|i| vec![1; 16 << (i % 4)]).collect()
        })
        .join()
        .unwrap();
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for i in 0..16 {
                    let mut grown = vec![0_u8; 8 + i];
                    grown.resize(64 + i, 1);
                    drop(grown);
                }
            });
        }
    });
    assert!(ALLOCATED.load(Ordering::Relaxed) > 0);
}

fn printing() {
    thread::scope(|scope| {
        for i in 0..4 {
            scope.spawn(move || {
                for _ in 0..3 {
                    println!("from {i}");
                    eprint!("");
                }
                let mut out = stdout().lock();
                writeln!(out, "locked {i}").unwrap();
                drop(out);
                let mut line = String::new();
                drop(stdin().lock());
                stdin().read_line(&mut line).unwrap();
            });
        }
    });
}

fn environment() {
    thread::scope(|scope| {
        for i in 0..4 {
            scope.spawn(move || {
                if i == 0 {
                    // SAFETY: nobody reads it but through the standard library.
                    unsafe { std::env::set_var("OF_THE_TEST", "1") };
                }
                let value = std::env::var("OF_THE_TEST");
                assert!(value.is_err() || value.unwrap() == "1");
                assert!(std::env::vars().count() > 0 && std::env::current_dir().is_ok());
            });
        }
    });
}

fn many_short() {
    let total = Arc::new(Mutex::new(0));
    for _ in 0..5 {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let total = Arc::clone(&total);
                thread::spawn(move || *total.lock().unwrap() += 1)
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    assert_eq!(*total.lock().unwrap(), 40);
}

/// Comes last, as it ends the process.
pub(crate) fn exit_while_threads_run() {
    let count = Arc::new(Mutex::new(0_u64));
    for _ in 0..3 {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            loop {
                *count.lock().unwrap() += 1;
                thread::sleep(Duration::from_micros(50));
            }
        });
    }
    while *count.lock().unwrap() < 5 {
        thread::yield_now();
    }
    std::process::exit(0);
}
