//! event-listener: a mutex made of a flag and an event, and all listeners woken at once.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use event_listener::{Event, Listener};

struct Guarded {
    taken: AtomicBool,
    released: Event,
    value: UnsafeCell<Vec<usize>>,
}

// Safety: `value` is only touched by the thread that set `taken`.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn with(&self, work: impl FnOnce(&mut Vec<usize>)) {
        loop {
            if !self.taken.swap(true, Ordering::Acquire) {
                break;
            }
            let listener = self.released.listen();
            if !self.taken.swap(true, Ordering::Acquire) {
                break;
            }
            listener.wait_timeout(Duration::from_millis(100));
        }
        work(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        self.released.notify(1);
    }
}

fn main() {
    let guarded =
        Guarded { taken: AtomicBool::new(false), released: Event::new(), value: UnsafeCell::default() };
    thread::scope(|scope| {
        for task in 0..4 {
            let guarded = &guarded;
            scope.spawn(move || (0..50).for_each(|_| guarded.with(|list| list.push(task))));
        }
    });
    assert_eq!(guarded.value.into_inner().len(), 200);

    let (start, ready) = (Event::new(), AtomicUsize::new(0));
    let (open, mut list) = (AtomicBool::new(false), Vec::new());
    let shared = std::sync::RwLock::new(&mut list);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let listener = start.listen();
                ready.fetch_add(1, Ordering::SeqCst);
                if !open.load(Ordering::SeqCst) {
                    listener.wait();
                }
                shared.write().unwrap().push(1);
            });
        }
        while ready.load(Ordering::SeqCst) < 4 {
            thread::yield_now();
        }
        open.store(true, Ordering::SeqCst);
        start.notify(usize::MAX);
    });
    assert_eq!(list.len(), 4);
    println!("done");
}
