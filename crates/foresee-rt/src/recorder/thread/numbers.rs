//! The numbers of threads, in the order in which they are made.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use foresee_format::{MAX_THREADS, Stop};

use crate::recorder::{order, trace_file};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A number for a thread that is about to exist; `None` if there are too many, which ends the recording.
pub(crate) fn new_thread() -> Option<u32> {
    let thread = NEXT.fetch_add(1, SeqCst);
    if u64::from(thread) < MAX_THREADS {
        return Some(thread);
    }
    trace_file::stop(order::now(), Stop::Threads);
    None
}

/// Forgets all threads.
pub(super) fn start_over() {
    NEXT.store(0, SeqCst);
}
