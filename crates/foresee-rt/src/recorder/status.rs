//! Whether events are recorded. It is one number, as every access asks for it.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed, Ordering::SeqCst};

static STATUS: AtomicU8 = AtomicU8::new(OFF);
/// Nothing is recorded.
const OFF: u8 = 0;
/// Every event is recorded just as it comes.
const ALL_ALIKE: u8 = 1;
/// Some events are recorded in another way: accesses of watched variables, or of code that is left out.
const SOME_SPECIAL: u8 = 2;
/// As `ALL_ALIKE`, but for reads, which are recorded with what they see.
const READS_SPECIAL: u8 = ALL_ALIKE | 4;

/// Whether events are recorded.
#[inline(always)]
pub(crate) fn recording() -> bool {
    STATUS.load(Relaxed) != OFF
}

/// Whether events are recorded, and all of them but reads just as they come.
#[inline(always)]
pub(crate) fn recording_all_alike() -> bool {
    STATUS.load(Relaxed) & ALL_ALIKE != 0
}

/// Whether events are recorded, and reads just as they come.
#[inline(always)]
pub(crate) fn recording_reads_alike() -> bool {
    STATUS.load(Relaxed) == ALL_ALIKE
}

/// Events are recorded from now on.
pub(crate) fn turn_on(some_are_special: bool, reads_are_special: bool) {
    let status = match (some_are_special, reads_are_special) {
        (true, _) => SOME_SPECIAL,
        (false, true) => READS_SPECIAL,
        (false, false) => ALL_ALIKE,
    };
    STATUS.store(status, SeqCst);
}

/// Reads are recorded just as they come, from now on.
pub(crate) fn reads_are_alike() {
    let _ = STATUS.compare_exchange(READS_SPECIAL, ALL_ALIKE, SeqCst, SeqCst);
}

/// From now on, some events are recorded in another way.
pub(crate) fn some_are_special() {
    for before in [ALL_ALIKE, READS_SPECIAL] {
        let _ = STATUS.compare_exchange(before, SOME_SPECIAL, SeqCst, SeqCst);
    }
}

/// Nothing is recorded from now on; whether something was before.
pub(crate) fn turn_off() -> bool {
    STATUS.swap(OFF, SeqCst) != OFF
}
