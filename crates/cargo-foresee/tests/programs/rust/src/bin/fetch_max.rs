//! Correct: data is published by `fetch_max(Release)`, which compilers do not instrument, so no trace shows what it orders.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Published(UnsafeCell<u64>);

// SAFETY: read only after `READY` says that the write is done.
unsafe impl Sync for Published {}

static DATA: Published = Published(UnsafeCell::new(0));
static READY: AtomicU32 = AtomicU32::new(0);

fn main() {
    let reader = thread::spawn(|| {
        while READY.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        // SAFETY: the writer has published it.
        unsafe { *DATA.0.get() }
    });
    // SAFETY: nobody reads before it is published.
    unsafe { *DATA.0.get() = 7 };
    READY.fetch_max(1, Ordering::Release);
    assert_eq!(reader.join().ok(), Some(7));
}
