//! A bank whose morning goes well.
//!
//! Two tellers transfer money between two accounts, in opposite directions, one after the other. Each transfer locks both accounts: the
//! one it takes from, then the one it gives to. And each notes what it moves in a total, with the first account locked. Run
//! it as often as you like: it prints the right sums and ends. `cargo foresee run --example bank` sees what the next morning
//! may bring: both tellers at work at the same time, each waiting for the account that the other has locked; and two
//! transfers noted at the same time, each under the lock of another account, one of them lost.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static CHECKING: Mutex<i64> = Mutex::new(100);
static SAVINGS: Mutex<i64> = Mutex::new(100);

/// What was moved today. There is always some account locked when it is written: just not always the same.
static mut MOVED: i64 = 0;

fn transfer(from: &Mutex<i64>, to: &Mutex<i64>, amount: i64) {
    let mut source = from.lock().unwrap();
    unsafe {
        MOVED += amount;
    }
    let mut target = to.lock().unwrap();
    *source -= amount;
    *target += amount;
}

fn main() {
    let ann = thread::Builder::new().name("ann".into());
    let ann = ann.spawn(|| transfer(&CHECKING, &SAVINGS, 30)).unwrap();
    let bob = thread::Builder::new().name("bob".into());
    let bob = bob
        .spawn(|| {
            // Bob has his coffee first: that is all that keeps him out of Ann's way.
            thread::sleep(Duration::from_millis(100));
            transfer(&SAVINGS, &CHECKING, 20);
        })
        .unwrap();
    ann.join().unwrap();
    bob.join().unwrap();
    println!("checking {}, savings {}", CHECKING.lock().unwrap(), SAVINGS.lock().unwrap());
    println!("moved {}", unsafe { MOVED });
}
