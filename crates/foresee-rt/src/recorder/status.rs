//! Whether events are recorded. It is one number, as every access asks for it.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed, Ordering::SeqCst};

static STATUS: AtomicU8 = AtomicU8::new(OFF);
/// Nothing is recorded.
const OFF: u8 = 0;
/// Every event is recorded just as it comes.
const ALL_ALIKE: u8 = 1;
/// Some events are recorded in another way: accesses of watched variables, or of code that is left out.
const SOME_SPECIAL: u8 = 2;

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
    let _ = STATUS.compare_exchange(ALL_ALIKE, SOME_SPECIAL, SeqCst, SeqCst);
}

/// Nothing is recorded from now on; whether something was before.
pub(crate) fn turn_off() -> bool {
    STATUS.swap(OFF, SeqCst) != OFF
}
