//! Threads that spin: in the runtime, where nothing sleeps, and in the program.
//!
//! Who spins in a program that is recorded does more work for each look than it would otherwise, and leaves a record. Where there are fewer processors than
//! threads, whoever it waits for may be without one: so after some looks it makes way.

use std::cell::Cell;

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

/// So often a thread sees the same before it makes way.
const PATIENCE: u32 = 128;

/// What a thread has seen last of the program's atomics.
pub(crate) struct LastSeen {
    what: Cell<[u64; 2]>,
    times: Cell<u32>,
}

impl LastSeen {
    pub(crate) const fn nothing() -> LastSeen {
        LastSeen { what: Cell::new([0; 2]), times: Cell::new(0) }
    }

    /// The thread has seen this value of this atomic; whether it should make way.
    #[inline(always)]
    pub(crate) fn spins(&self, addr: u64, value: u64) -> bool {
        let is_same = self.what.replace([addr, value]) == [addr, value];
        let times = if is_same { self.times.get() + 1 } else { 0 };
        let is_enough = times >= PATIENCE;
        self.times.set(if is_enough { 0 } else { times });
        is_enough
    }
}

/// Lets another thread have the processor.
#[cold]
pub(crate) fn make_way() {
    // SAFETY: touches no memory, and always succeeds. Not by the C library's function, which is interposed.
    unsafe { libc::syscall(libc::SYS_sched_yield) };
}
