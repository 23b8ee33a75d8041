//! Whether events are recorded. It is one number, as every access asks for it.
//!
//! **Copies of the process.** Whoever copies the process by a system call of its own (`clone` without `CLONE_VM`) is seen by nobody,
//! and the copy would write to the trace of the original, which both have mapped. So the number has a page to itself, of which the
//! kernel gives a copy of the process an empty one: nothing is recorded there. The C library's `fork` is seen, and begins a trace for
//! the child (`c_library::process`).

use std::sync::atomic::{AtomicU8, Ordering::Relaxed, Ordering::SeqCst};

const PAGE: usize = 4096;

/// The number is at its beginning, for whoever asks in assembly.
#[repr(C, align(4096))]
pub(crate) struct OwnPage {
    status: AtomicU8,
    _rest: [u8; PAGE - 1],
}

pub(crate) static OWN_PAGE: OwnPage = OwnPage { status: AtomicU8::new(OFF), _rest: [0; PAGE - 1] };
/// Nothing is recorded.
pub(crate) const OFF: u8 = 0;
/// Every event is recorded just as it comes. Whatever is smaller is [`OFF`].
pub(crate) const ALL_ALIKE: u8 = 1;
/// Some events are recorded in another way: accesses of watched variables, or of code that is left out.
const SOME_SPECIAL: u8 = 2;
/// As `ALL_ALIKE`, but for reads, which are recorded with what they see.
const READS_SPECIAL: u8 = ALL_ALIKE | 4;

/// As `SOME_SPECIAL`, and threads are monitored, too (`knowledge`).
const MONITORED: u8 = SOME_SPECIAL | 8;

/// As `MONITORED`, and there is no trace: what would be recorded is for the monitors alone.
const ONLY_MONITORED: u8 = MONITORED | 16;

/// Whether what is recorded is also a step of its thread's monitor.
#[inline(always)]
pub(crate) fn monitored() -> bool {
    OWN_PAGE.status.load(Relaxed) & MONITORED == MONITORED
}

/// Whether what is recorded is for monitors alone, and not written.
#[inline(always)]
pub(crate) fn only_monitored() -> bool {
    OWN_PAGE.status.load(Relaxed) == ONLY_MONITORED
}

/// Whether events are recorded.
#[inline(always)]
pub(crate) fn recording() -> bool {
    OWN_PAGE.status.load(Relaxed) != OFF
}

/// Whether events are recorded, and all of them but reads just as they come.
#[inline(always)]
pub(crate) fn recording_all_alike() -> bool {
    OWN_PAGE.status.load(Relaxed) & ALL_ALIKE != 0
}

/// Whether events are recorded, and reads just as they come.
#[inline(always)]
pub(crate) fn recording_reads_alike() -> bool {
    OWN_PAGE.status.load(Relaxed) == ALL_ALIKE
}

/// Events are recorded from now on, and by no copy of the process.
pub(crate) fn turn_on(is_monitored: bool, some_are_special: bool, reads_are_special: bool) {
    become_status(match (is_monitored, some_are_special, reads_are_special) {
        (true, _, _) => MONITORED,
        (false, true, _) => SOME_SPECIAL,
        (false, false, true) => READS_SPECIAL,
        (false, false, false) => ALL_ALIKE,
    });
}

/// Events are told to monitors from now on, and written nowhere.
pub(crate) fn turn_on_monitors() {
    become_status(ONLY_MONITORED);
}

/// For this process, and no copy of it. (A kernel before 4.14 cannot do that.)
fn become_status(status: u8) {
    let page = &raw const OWN_PAGE;
    // SAFETY: the page is this static's alone, and nobody but this module uses it, in this process or another.
    unsafe { libc::madvise(page.cast_mut().cast(), PAGE, libc::MADV_WIPEONFORK) };
    OWN_PAGE.status.store(status, SeqCst);
}

/// Reads are recorded just as they come, from now on.
pub(crate) fn reads_are_alike() {
    let _ = OWN_PAGE.status.compare_exchange(READS_SPECIAL, ALL_ALIKE, SeqCst, SeqCst);
}

/// From now on, some events are recorded in another way.
pub(crate) fn some_are_special() {
    for before in [ALL_ALIKE, READS_SPECIAL] {
        let _ = OWN_PAGE.status.compare_exchange(before, SOME_SPECIAL, SeqCst, SeqCst);
    }
}

/// Nothing is recorded from now on; whether something was before.
pub(crate) fn turn_off() -> bool {
    OWN_PAGE.status.swap(OFF, SeqCst) != OFF
}
