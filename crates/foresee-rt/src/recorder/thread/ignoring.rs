//! What annotations ask a thread not to record: accesses, synchronisation, or calls.
//!
//! Requests are counted, as each is ended once, and the thread's state has a bit for each kind, which is all that records look at. A
//! signal handler that interrupts the thread has asked for nothing: while it runs, nothing is ignored. One that leaves by a jump
//! ends what its thread had asked for: more is recorded then than was wanted, never less.

use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use super::local::with_local;
use crate::recorder::seen_values;

/// What an annotation asks not to record.
#[derive(Clone, Copy)]
pub(crate) enum Ignored {
    Accesses,
    Synchronisation,
    /// All that begin before this is ended have to be over then.
    Calls,
}

impl Ignored {
    pub(super) const fn bit(self) -> u8 {
        match self {
            Ignored::Accesses => 2,
            Ignored::Synchronisation => 4,
            Ignored::Calls => 32,
        }
    }
}

const BITS: u8 = Ignored::Accesses.bit() | Ignored::Synchronisation.bit() | Ignored::Calls.bit();

/// Begins to ignore something; each is ended once.
pub(crate) fn begin_ignoring(what: Ignored) {
    if matches!(what, Ignored::Accesses) {
        seen_values::give_up();
    }
    with_local(|local| {
        let times = &local.ignored[what as usize];
        times.set(times.get().saturating_add(1));
        local.state.fetch_or(what.bit(), Relaxed);
    });
}

/// Ends what [`begin_ignoring`] began.
pub(crate) fn end_ignoring(what: Ignored) {
    with_local(|local| {
        let times = &local.ignored[what as usize];
        times.set(times.get().saturating_sub(1));
        if times.get() == 0 {
            local.state.fetch_and(!what.bit(), Relaxed);
        }
    });
}

/// Runs a signal handler, which may be anywhere in the functions above: afterwards all is as it was.
pub(crate) fn unignored<R>(handler: impl FnOnce() -> R) -> R {
    let (bits, requests) = with_local(|local| {
        let requests = local.ignored.each_ref().map(|times| times.replace(0));
        compiler_fence(SeqCst);
        (local.state.fetch_and(!BITS, Relaxed) & BITS, requests)
    });
    compiler_fence(SeqCst);
    let result = with_local(|local| local.before_its_access(handler));
    compiler_fence(SeqCst);
    with_local(|local| {
        for (times, before) in local.ignored.iter().zip(requests) {
            times.set(before);
        }
        let others = local.state.load(Relaxed) & !BITS;
        local.state.store(others | bits, Relaxed);
    });
    result
}
