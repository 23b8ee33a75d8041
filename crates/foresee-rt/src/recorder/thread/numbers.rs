//! The numbers of threads, in the order in which they are made.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

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

/// Whether there is, or was, more than one thread: what the first one did before is ordered before all that others do.
pub(crate) fn are_many() -> bool {
    NEXT.load(Relaxed) > 1
}

/// Forgets all threads.
pub(super) fn start_over() {
    NEXT.store(0, SeqCst);
}
