//! Each round, the threads write to cells that others wrote to the round before.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

struct Cells([UnsafeCell<usize>; 4]);
unsafe impl Sync for Cells {}

fn main() {
    let shared = Arc::new((Barrier::new(4), Cells([0; 4].map(UnsafeCell::new)), AtomicUsize::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (barrier, cells, leaders) = &*shared;
                for round in 0..30 {
                    unsafe { *cells.0[(i + round) % 4].get() += 1 };
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let total: usize = shared.1.0.iter().map(|cell| unsafe { *cell.get() }).sum();
    assert_eq!((total, shared.2.load(Ordering::Relaxed)), (120, 30));
}
