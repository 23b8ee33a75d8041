//! Which signals a thread blocks, in the kernel's terms: the C library's functions would leave out the signals that it uses itself.

use libc::c_int;

use crate::recorder::thread::SignalSet;

const fn set_of(signals: &[c_int]) -> SignalSet {
    let mut set = 0;
    let mut at = 0;
    while at < signals.len() {
        set |= 1 << (signals[at] - 1);
        at += 1;
    }
    set
}

/// All signals but those that a thread brings on itself: the kernel ends a process whose thread blocks such a signal and causes it.
pub(super) const ALL_THAT_CAN_WAIT: SignalSet = !set_of(&[
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGABRT,
    // The kernel blocks these for nobody.
    libc::SIGKILL,
    libc::SIGSTOP,
]);

/// Blocks exactly these signals on this thread; which ones were before.
pub(super) fn block(signals: SignalSet) -> SignalSet {
    let mut before: SignalSet = 0;
    // SAFETY: both sets are as long as is said, and outlive the call, which cannot fail: `errno` stays as it is.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &signals,
            &mut before,
            size_of::<SignalSet>(),
        )
    };
    before
}

/// The signals that this thread blocks.
pub(super) fn blocked_now() -> SignalSet {
    let mut now: SignalSet = 0;
    // SAFETY: as above; without a new set, nothing changes.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            std::ptr::null::<SignalSet>(),
            &mut now,
            size_of::<SignalSet>(),
        )
    };
    now
}

/// Whether a new thread blocks this because its maker blocked [`ALL_THAT_CAN_WAIT`], and not because its attributes say so: hardly any
/// would say exactly this.
pub(super) fn is_inherited(blocked: SignalSet) -> bool {
    /// By these the C library cancels threads and changes users. No new thread blocks them.
    const C_LIBRARY_S: SignalSet = set_of(&[32, 33]);
    blocked | C_LIBRARY_S == ALL_THAT_CAN_WAIT
}
