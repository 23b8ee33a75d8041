//! `ExclusiveSections` in Rust: the paper's `critical()`, with `Z` and `Y` in between. With `kept` under a lock; with `apart` each thread counts for itself, and nobody knows of anybody.
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::thread::{scope, sleep};
use std::time::Duration;

/// Both have begun: a scope that starts a thread after another has ended tells it so.
static BOTH: Barrier = Barrier::new(2);
static LOCK: Mutex<()> = Mutex::new(());
static X: AtomicI32 = AtomicI32::new(0);
static X_OF_SECOND: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static Z: AtomicI32 = AtomicI32::new(0);

fn critical(is_kept: bool, count: &AtomicI32) {
    let guard = is_kept.then(|| LOCK.lock().unwrap());
    foresee::local!(critical = true);
    count.store(count.load(Relaxed) + 1, Relaxed);
    foresee::local!(critical = false);
    drop(guard);
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    let (is_kept, is_apart) = (how == "kept", how == "apart");
    scope(|threads| {
        threads.spawn(|| {
            BOTH.wait();
            critical(is_kept, &X);
            Z.store(9, Relaxed);
            Y.store(Z.load(Relaxed) + 2, Relaxed);
        });
        threads.spawn(|| {
            BOTH.wait();
            sleep(Duration::from_millis(100));
            critical(is_kept, if is_apart { &X_OF_SECOND } else { &X });
        });
    });
    assert_eq!(X.load(Relaxed) + X_OF_SECOND.load(Relaxed), 2);
}
