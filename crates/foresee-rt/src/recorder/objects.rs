//! The life of what threads synchronise by: mutexes, condition variables, barriers, semaphores.
//!
//! POSIX leaves undefined what happens if such an object is used before it is initialised, or after it is destroyed or its memory
//! is freed. So a use is recorded as a plain read of the object, and its beginning and its end as plain writes: where nothing
//! orders the two, that is a data race, found like every other.
//!
//! An object must not order its own life. So a use is recorded *before* the object orders anything: before a lock is got, before
//! a barrier is reached, before a condition is waited for or notified. And what POSIX allows stays allowed, as nothing is recorded
//! after the object has done its work: a mutex may be destroyed by whoever gets it last, although another thread is still on its way out of
//! unlocking it; a barrier, a semaphore and a condition variable by whoever was let go by it.
//!
//! Only what instrumented code does is recorded: others have orders that are not seen. And the program's static objects have no uses
//! as long as no call has initialised them: nothing begins or ends their life, and most programs have many uses of few of them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libc::c_void;

use super::accesses::{access_by_call, counts, write_range};
use super::thread::AccessKind;
use crate::program;

/// The static objects that were initialised by a call, by a hash of their addresses: a bit each, which may be another's, too.
static INITIALISED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// Where the bit of an object is.
fn bit(object: u64) -> (&'static AtomicU64, u64) {
    let hash = object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    (&INITIALISED[hash as usize / 64], 1 << (hash % 64))
}

fn is_initialised(object: u64) -> bool {
    let (word, bit) = bit(object);
    word.load(Relaxed) & bit != 0
}

/// The thread is about to use an object: it has to be there.
pub(crate) fn uses(object: *const c_void, pc: u64) {
    let object = object as u64;
    if !program::has_data_at(object) || is_initialised(object) {
        access_by_call(AccessKind::Read, object, 1, pc);
    }
}

/// The thread is about to initialise or destroy an object of this size.
pub(crate) fn begins_or_ends(object: *const c_void, size: usize, pc: u64) {
    let object = object as u64;
    let (word, bit) = bit(object);
    word.fetch_or(bit, Relaxed);
    if counts(pc) {
        write_range(object, size as u64, pc);
    }
}
