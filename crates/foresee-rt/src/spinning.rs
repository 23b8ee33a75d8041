//! Waiting inside of the runtime, where nothing sleeps.

/// Tries again and again until it is done. Whoever is in the way may have lost its processor.
#[inline]
pub(crate) fn spin_until(mut is_done: impl FnMut() -> bool) {
    let mut spins = 0_u32;
    while !is_done() {
        spins += 1;
        if spins.is_multiple_of(64) {
            // SAFETY: has no preconditions.
            unsafe { libc::sched_yield() };
        } else {
            std::hint::spin_loop();
        }
    }
}
