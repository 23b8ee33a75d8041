//! The smallest race there is: two threads increment a variable, and each prints it.
//!
//! The sum is 2 nearly always. Nothing orders the two increments, so one of them can be lost.

use std::thread;

static mut I: u32 = 0;

fn increment() {
    unsafe {
        I += 1;
        println!("{}", { I });
    }
}

fn main() {
    let first = thread::spawn(increment);
    let second = thread::spawn(increment);
    first.join().unwrap();
    second.join().unwrap();
}
