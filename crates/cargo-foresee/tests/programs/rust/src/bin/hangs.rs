//! Programs that hang: the first word says which.

use std::sync::{Condvar, Mutex, RwLock, mpsc};
use std::thread;
use std::time::Duration;

static MUTEX: Mutex<u32> = Mutex::new(0);
static CONDITION: Condvar = Condvar::new();
static LOCK: RwLock<u32> = RwLock::new(0);

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("again") => {
            let _first = MUTEX.lock();
            let _second = MUTEX.lock();
        }
        Some("upgraded") => {
            let _read = LOCK.read();
            let _written = LOCK.write();
        }
        Some("joined") => {
            let waiting = thread::spawn(|| _ = MUTEX.lock().map(|held| CONDITION.wait(held)));
            let _ = waiting.join();
        }
        Some("received") => {
            let (sender, receiver) = mpsc::channel::<u32>();
            let held = MUTEX.lock();
            thread::spawn(move || {
                let _held = MUTEX.lock();
                sender.send(1)
            });
            let _ = receiver.recv();
            drop(held);
        }
        Some("parked") => thread::park(),
        // These only look so.
        Some("by_turns") => {
            let main = thread::current();
            let other = thread::spawn(move || {
                loop {
                    thread::park();
                    main.unpark();
                }
            });
            loop {
                other.thread().unpark();
                thread::park();
            }
        }
        Some("sleeping") => {
            let (sender, receiver) = mpsc::channel::<u32>();
            thread::spawn(move || {
                thread::sleep(Duration::from_secs(100));
                sender.send(1)
            });
            let _ = receiver.recv();
        }
        _ => {}
    }
}
