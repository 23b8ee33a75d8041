//! As `branches.c`: what nothing depends on (`FREE_…`), and what something does (`BOUND_…`). The flags are atomic: a mutex of Rust's
//! has branches of its own.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

macro_rules! case {
    ($name:ident, $it:ident => $body:expr) => {{
        static mut $name: u32 = 0;
        static FLAG: AtomicU32 = AtomicU32::new(0);
        // Written to, so somebody may read it.
        std::hint::black_box(&raw const $name);
        // Threads count themselves as they end, which orders those that are started later.
        let first = || unsafe {
            sleep(Duration::from_millis(100));
            $name = 1;
            FLAG.store(1, Ordering::SeqCst);
        };
        let last = || unsafe {
            sleep(Duration::from_millis(300));
            let $it = FLAG.load(Ordering::SeqCst);
            $body;
        };
        (Box::new(first) as Box<dyn Fn() + Sync>, Box::new(last) as Box<dyn Fn() + Sync>)
    }};
}

static mut SINK: u32 = 0;
static mut ELSEWHERE: u32 = 0;

fn main() {
    let cases = [
        case!(FREE_PLAIN, _it => FREE_PLAIN = 2),
        case!(FREE_VALUE, it => { SINK = it; FREE_VALUE = 2 }),
        case!(BOUND_TEST, it => if it == 1 { BOUND_TEST = 2 }),
        case!(BOUND_CHOICE, it => *(if it == 1 { &raw mut BOUND_CHOICE } else { &raw mut ELSEWHERE }) = 2),
        case!(BOUND_OFFSET, it => *(&raw mut BOUND_OFFSET).add(it as usize - 1) = 2),
        case!(BOUND_CALL, it => { let calls: [fn(); 2] = [|| {}, || BOUND_CALL = 2]; calls[it as usize]() }),
        case!(BOUND_PANIC, it => { assert!(it == 1); BOUND_PANIC = 2 }),
    ];
    scope(|scope| {
        for (first, last) in &cases {
            scope.spawn(first);
            scope.spawn(last);
        }
    });
}
