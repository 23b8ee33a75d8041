//! The end of scoped threads.
//!
//! A scoped thread that is done counts itself out, and `thread::scope`, compiled into the user's crate, waits until the count
//! it loads is 0: that load sees what the threads did. The counting is the library's; it is recorded at the counter's
//! own address before it is done. Until then the scope loads another count and waits.
//!
//! Relied on: the counter is one of the first three words of the scope's data. Which one is learnt from the first
//! thread that is counted in: nothing else of the scope changes at that time, as no thread of it runs yet.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::unseen_atomics::{RELEASE, Width, update};
use crate::entry_points::entries;
use crate::real_functions::std_functions;
use crate::recorder::status;

std_functions! {
    foresee_real_scope_increment(scope: *const Scope);
    foresee_real_scope_decrement(scope: *const Scope, panicked: u64);
}

type Scope = [AtomicU64; 3];

/// How many words before the counter there are in a scope's data.
static COUNTER: AtomicU64 = AtomicU64::new(UNKNOWN);
const UNKNOWN: u64 = u64::MAX;

extern "C-unwind" fn increment(scope: *const Scope, _pc: u64) {
    // SAFETY: calls the library's function with its caller's own argument. The scope's data outlives the call and has at least these
    // three words, which are only used as atomics here; no thread of the scope runs yet.
    unsafe {
        if !status::recording() || COUNTER.load(Relaxed) != UNKNOWN {
            return foresee_real_scope_increment(scope);
        }
        let before = (*scope).each_ref().map(|word| word.load(Relaxed));
        foresee_real_scope_increment(scope);
        let after = (*scope).each_ref().map(|word| word.load(Relaxed));
        if let Some(at) = (0..before.len()).find(|&i| after[i] == before[i].wrapping_add(1)) {
            COUNTER.store(at as u64, Relaxed);
        }
    }
}

extern "C-unwind" fn decrement(scope: *const Scope, panicked: u64, pc: u64) {
    let counter = COUNTER.load(Relaxed);
    if counter != UNKNOWN {
        update(scope as u64 + 8 * counter, Width::U64, RELEASE, pc);
    }
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    unsafe { foresee_real_scope_decrement(scope, panicked) }
}

entries! {
    foresee_std_scope_increment => increment, "rsi";
    foresee_std_scope_decrement => decrement, "rdx";
}
