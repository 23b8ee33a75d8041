//! Cancelled threads: whoever cancels a thread gives, and the thread gets once it acts on that, before its cleanup handlers run, and
//! before the destructors of its thread-specific data.
//!
//! A thread acts in a *cancellation point*, a function that may wait. The C library then unwinds its calls, the innermost first, which is
//! ours if we stand in front of that function (`real_functions::Unwound`); `sleep` and the like have entry points for nothing else. A
//! thread that may be cancelled anywhere (`PTHREAD_CANCEL_ASYNCHRONOUS`) is unwound from code of the program: its destructors
//! get, its handlers do not.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use libc::{c_int, pthread_t};

use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real, on_unwinding};
use crate::recorder::edges::{acquire_edge, release_edge};

/// Whether any thread was cancelled.
static ANY: AtomicBool = AtomicBool::new(false);

/// Objects of threads as those that are cancelled, where no program has memory.
const OF_CANCELLED: u64 = 1 << 57;

extern "C-unwind" fn cancel(thread: pthread_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_cancel");
    ANY.store(true, SeqCst);
    on_unwinding(acts);
    release_edge(OF_CANCELLED | thread, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (pthread_t) -> c_int, thread) }
}

/// This thread ends, or unwinds its calls, maybe because it was cancelled.
pub(super) fn acts() {
    if ANY.load(SeqCst) {
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::pthread_self() };
        acquire_edge(OF_CANCELLED | thread, acts as *const () as u64);
    }
}

// A program may have a function of its own by this name.
weak_entries! {
    "pthread_cancel" => cancel, "rsi";
}
