//! `AtomicBlock` in Rust: a transfer in two halves, and a sum that sees one of them; with `kept`, both under one lock.
use std::sync::Mutex;
use std::thread::{scope, sleep};
use std::time::Duration;

static CHECKING: Mutex<i64> = Mutex::new(100);
static SAVING: Mutex<i64> = Mutex::new(100);
static BANK: Mutex<()> = Mutex::new(());

fn transfer(is_kept: bool) {
    let guard = is_kept.then(|| BANK.lock().unwrap());
    foresee::local!(atomic = true);
    *CHECKING.lock().unwrap() -= 30;
    sleep(Duration::from_millis(200));
    *SAVING.lock().unwrap() += 30;
    foresee::local!(atomic = false);
    drop(guard);
}

fn sum(is_kept: bool) -> i64 {
    sleep(Duration::from_millis(100));
    let guard = is_kept.then(|| BANK.lock().unwrap());
    foresee::local!(atomic = true);
    let checking = *CHECKING.lock().unwrap();
    let sum = checking + *SAVING.lock().unwrap();
    foresee::local!(atomic = false);
    drop(guard);
    sum
}

fn main() {
    let is_kept = std::env::args().nth(1).as_deref() == Some("kept");
    scope(|threads| {
        threads.spawn(|| transfer(is_kept));
        let sum = threads.spawn(|| sum(is_kept)).join().unwrap();
        assert_eq!(sum, if is_kept { 200 } else { 170 });
    });
}
