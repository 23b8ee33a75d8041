//! A deadlock that is there to be predicted, in a program with an atomic in assembly, as crates have it, which does not run.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static FIRST: Mutex<u64> = Mutex::new(0);
static SECOND: Mutex<u64> = Mutex::new(0);

#[inline(never)]
fn fence(word: &mut u64) {
    // SAFETY: it changes a word that is the caller's.
    unsafe { std::arch::asm!("lock not qword ptr [{0}]", in(reg) word) };
}

fn main() {
    let mut words = std::env::args().count() as u64;
    if words > 5 {
        fence(&mut words);
    }
    let one = thread::spawn(|| {
        let _first = FIRST.lock();
        let _second = SECOND.lock();
    });
    let other = thread::spawn(|| {
        thread::sleep(Duration::from_millis(50));
        let _second = SECOND.lock();
        let _first = FIRST.lock();
    });
    one.join().unwrap();
    other.join().unwrap();
}
