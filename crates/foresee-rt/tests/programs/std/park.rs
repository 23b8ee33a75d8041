//! A thread is unparked before it parks and after. No token is lost, and none is there that nobody gave.

use std::thread;
use std::time::{Duration, Instant};

fn main() {
    for late in [Duration::ZERO, Duration::from_millis(5)] {
        for early in [Duration::ZERO, Duration::from_millis(5)] {
            let parked = thread::spawn(move || {
                thread::sleep(late);
                thread::park();
            });
            thread::sleep(early);
            parked.thread().unpark();
            parked.join().unwrap();
        }
    }
    thread::current().unpark();
    thread::park();
    let start = Instant::now();
    thread::park_timeout(Duration::from_millis(20));
    assert!(start.elapsed() >= Duration::from_millis(15));
    thread::current().unpark();
    thread::park();
}
