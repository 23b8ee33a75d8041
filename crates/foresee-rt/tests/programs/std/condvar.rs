//! A thread waits for what another does, and in vain.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let other = Arc::clone(&shared);
    let waits = thread::spawn(move || {
        let (number, changed) = &*other;
        let mut number = number.lock().unwrap();
        while *number < 2 {
            number = changed.wait(number).unwrap();
        }
        *number = 7;
    });
    for _ in 0..2 {
        thread::sleep(Duration::from_millis(10));
        *shared.0.lock().unwrap() += 1;
        shared.1.notify_one();
    }
    waits.join().unwrap();
    shared.1.notify_all();
    let number = shared.0.lock().unwrap();
    let (number, result) = shared.1.wait_timeout(number, Duration::from_millis(2)).unwrap();
    assert!(result.timed_out() && *number == 7);
}
