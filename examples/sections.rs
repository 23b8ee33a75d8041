//! A race that two critical sections hide, in this run.
//!
//! One thread does `z = 1; lock; x = 0; unlock`, another `lock; y = 10; unlock; z = 0`. In this run the first one's section comes
//! first, so the lock orders its write of z before the other's: happens-before, and with it ThreadSanitizer, sees no race. But the
//! sections have nothing to do with each other, and may as well change places; then nothing orders the writes of z. (The
//! example of Chen and Roşu's work on predictive analysis.)

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static mut Z: i32 = 0;
static LOCK: Mutex<()> = Mutex::new(());
static mut X: i32 = 1;
static mut Y: i32 = 0;

fn first() {
    unsafe { Z = 1 };
    let _guard = LOCK.lock().unwrap();
    unsafe { X = 0 };
}

fn second() {
    thread::sleep(Duration::from_millis(100));
    {
        let _guard = LOCK.lock().unwrap();
        unsafe { Y = 10 };
    }
    unsafe { Z = 0 };
}

fn main() {
    let first = thread::Builder::new().name("first".into()).spawn(first).unwrap();
    let second = thread::Builder::new().name("second".into()).spawn(second).unwrap();
    first.join().unwrap();
    second.join().unwrap();
    println!("x {}, y {}, z {}", unsafe { X }, unsafe { Y }, unsafe { Z });
}
