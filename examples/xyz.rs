//! Three variables, two threads, three runs, and one of them is wrong.
//!
//! At first x is -1, y and z are 0. One thread does `x++; y = x + 1` (with x as it left it), the other `z = x + 1; x++`. The rule: if x is positive, then y
//! was 0 at some time and y > z has never been true since. The run that happens here keeps it; of the runs that the same
//! events allow, one does not. (The second example of Sen, Roşu and Agha's paper on multithreaded vector clocks.)

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static X: AtomicI32 = AtomicI32::new(-1);
static Y: AtomicI32 = AtomicI32::new(0);
static Z: AtomicI32 = AtomicI32::new(0);

fn first() {
    let x = X.load(SeqCst) + 1;
    X.store(x, SeqCst);
    thread::sleep(Duration::from_millis(200));
    Y.store(x + 1, SeqCst);
}

fn second() {
    thread::sleep(Duration::from_millis(50));
    Z.store(X.load(SeqCst) + 1, SeqCst);
    thread::sleep(Duration::from_millis(50));
    X.store(X.load(SeqCst) + 1, SeqCst);
}

fn main() {
    let first = thread::Builder::new().name("first".into()).spawn(first).unwrap();
    let second = thread::Builder::new().name("second".into()).spawn(second).unwrap();
    first.join().unwrap();
    second.join().unwrap();
    println!("x {}, y {}, z {}", X.load(SeqCst), Y.load(SeqCst), Z.load(SeqCst));
}
