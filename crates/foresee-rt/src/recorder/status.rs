//! Whether events are recorded. It is one number, as every access asks for it.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

static STATUS: AtomicU8 = AtomicU8::new(OFF);
/// Nothing is recorded.
const OFF: u8 = 0;
/// Every event is recorded just as it comes.
const ALL_ALIKE: u8 = 1;
/// Some events are recorded in another way: accesses of watched variables, or of code that is left out.
const SOME_SPECIAL: u8 = 2;
/// For the moment, no event is recorded at once: a thread has to record something else before.
const NONE_AT_ONCE: u8 = 3;
/// How many threads have to.
static THREADS_BEHIND: AtomicU32 = AtomicU32::new(0);

/// Whether events are recorded.
#[inline(always)]
pub(crate) fn recording() -> bool {
    STATUS.load(Relaxed) != OFF
}

/// Whether events are recorded, and all of them just as they come.
#[inline(always)]
pub(crate) fn recording_all_alike() -> bool {
    STATUS.load(Relaxed) == ALL_ALIKE
}

/// Events are recorded from now on.
pub(crate) fn turn_on(some_are_special: bool) {
    STATUS.store(if some_are_special { SOME_SPECIAL } else { ALL_ALIKE }, SeqCst);
}

/// From now on, some events are recorded in another way.
pub(crate) fn some_are_special() {
    for all_alike in [ALL_ALIKE, NONE_AT_ONCE] {
        let _ = STATUS.compare_exchange(all_alike, SOME_SPECIAL, SeqCst, SeqCst);
    }
}

/// Nothing is recorded from now on; whether something was before.
pub(crate) fn turn_off() -> bool {
    STATUS.swap(OFF, SeqCst) != OFF
}

/// A thread has to record something before its next event, which therefore must not be recorded at once.
pub(crate) fn begin_to_wait_for_thread() {
    THREADS_BEHIND.fetch_add(1, SeqCst);
    let _ = STATUS.compare_exchange(ALL_ALIKE, NONE_AT_ONCE, SeqCst, SeqCst);
}

/// A thread has recorded what it had to.
pub(crate) fn end_waiting_for_thread() {
    if THREADS_BEHIND.fetch_sub(1, SeqCst) == 1 {
        let _ = STATUS.compare_exchange(NONE_AT_ONCE, ALL_ALIKE, SeqCst, SeqCst);
        if THREADS_BEHIND.load(SeqCst) > 0 {
            let _ = STATUS.compare_exchange(ALL_ALIKE, NONE_AT_ONCE, SeqCst, SeqCst);
        }
    }
}
