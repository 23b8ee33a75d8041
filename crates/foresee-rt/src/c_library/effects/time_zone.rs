//! The variables of the time zone, `tzname`, `timezone` and `daylight`: functions that convert times set them, as `tzset` does.
//!
//! The C library has a lock for that, which is not seen. It changes them once in most programs, and then whenever the zone has become another. So they are
//! looked at before and after a call, and only if they have changed the call counts as a write, in an order with all others that did so.

use std::ffi::{c_char, c_int, c_long};

use crate::recorder::accesses::{counts, write_range};
use crate::recorder::edges::both_edges;

unsafe extern "C" {
    static tzname: [*const c_char; 2];
    static timezone: c_long;
    static daylight: c_int;
}

/// What the variables are. Other threads may change them at any time.
fn now() -> ([u64; 2], i64, i32) {
    // SAFETY: variables of the C library, for which any value is valid; volatile, as it changes them meanwhile.
    unsafe {
        let names = (&raw const tzname).cast::<[u64; 2]>().read_volatile();
        (names, (&raw const timezone).read_volatile(), (&raw const daylight).read_volatile())
    }
}

/// Stands for the lock of the C library.
static LOCK: u8 = 0;

/// A time is converted.
pub(super) struct Converting;

impl Converting {
    pub(super) fn begin(self, pc: u64) -> Option<Converted> {
        counts(pc).then(|| Converted { before: now(), pc })
    }
}

/// The call has ended.
pub(super) struct Converted {
    before: ([u64; 2], i64, i32),
    pc: u64,
}

impl Drop for Converted {
    fn drop(&mut self) {
        if now() == self.before {
            return;
        }
        both_edges(&raw const LOCK as u64, self.pc);
        let variables = [
            (&raw const tzname as u64, size_of::<[*const c_char; 2]>()),
            (&raw const timezone as u64, size_of::<c_long>()),
            (&raw const daylight as u64, size_of::<c_int>()),
        ];
        variables.into_iter().for_each(|(at, size)| write_range(at, size as u64, self.pc));
    }
}
