//! Functions that let time pass. They order nothing, but what a thread does next happens later than what it did before
//! (`recorder::thread::freshness`).

use libc::c_int;

use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::thread::expire;

/// A call in which time passes.
pub(crate) struct Sleeping;

impl Sleeping {
    /// Time passes until the guard is dropped.
    pub(crate) fn begin(self, _pc: u64) -> Slept {
        Slept
    }
}

/// Time is passing.
pub(crate) struct Slept;

impl Drop for Slept {
    fn drop(&mut self) {
        expire();
    }
}

extern "C-unwind" fn yield_processor(pc: u64) -> c_int {
    static REAL: Real = Real::new(c"sched_yield");
    let _slept = Sleeping.begin(pc);
    // SAFETY: the function takes nothing.
    unsafe { call_real!(REAL, () -> c_int,) }
}

weak_entries! {
    "sched_yield" => yield_processor, "rdi";
}
