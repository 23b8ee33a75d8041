//! Programs that hang: the first word says which.

use std::sync::{Condvar, Mutex, RwLock};
use std::thread;

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
        _ => {}
    }
}
