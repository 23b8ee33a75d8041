//! x is negative before it is positive, today.
//!
//! One thread does `x = -1; z = x + 3`, another `x = 1; y = x + z`. The rule: when x becomes positive, it was negative before. In
//! this run it was. As nothing reads one thread's x in the other, the two writes of x may as well change places, each with
//! the read that belongs to it: happens-before keeps their order, the weaker causality does not. (The example in the
//! figures of Sen, Roşu and Agha's *Detecting errors in multithreaded programs by generalized predictive analysis*.)

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static Z: AtomicI32 = AtomicI32::new(0);

fn negative() {
    X.store(-1, SeqCst);
    Z.store(X.load(SeqCst) + 3, SeqCst);
}

fn positive() {
    thread::sleep(Duration::from_millis(100));
    X.store(1, SeqCst);
    Y.store(X.load(SeqCst) + Z.load(SeqCst), SeqCst);
}

fn main() {
    let first = thread::Builder::new().name("first".into()).spawn(negative).unwrap();
    let second = thread::Builder::new().name("second".into()).spawn(positive).unwrap();
    first.join().unwrap();
    second.join().unwrap();
    println!("y {}, z {}", Y.load(SeqCst), Z.load(SeqCst));
}
