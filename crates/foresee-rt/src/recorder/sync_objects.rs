//! The memory of mutexes, condition variables and barriers themselves.
//!
//! What the C library's functions access there is not recorded, with one exception: the life of these objects is the program's
//! matter. Who initialises or destroys one writes it, and who uses it reads it, so use without an order to the beginning or the
//! end of its life is a race, also where it ends with the memory that it is in.
//!
//! A thread's first use of an object is recorded; it costs little, and later uses mostly say the same. A thread that uses many
//! objects forgets some of them, and their next use is recorded again.

use std::cell::Cell;

use libc::c_void;

use super::accesses::{counts, read_range, write_range};

/// How many objects a thread remembers.
const REMEMBERED: usize = 64;
/// The word that all of them begin with.
const WORD: u64 = 4;

thread_local! {
    /// Addresses of objects that the thread has used, each at the place that belongs to it.
    static USED: [Cell<u64>; REMEMBERED] = const { [const { Cell::new(0) }; REMEMBERED] };
}

/// The thread is about to use an object.
pub(crate) fn uses(object: *mut c_void, pc: u64) {
    let at = object as u64;
    USED.with(|used| {
        let place = &used[(at / 8) as usize % REMEMBERED];
        if place.get() != at && counts(pc) {
            place.set(at);
            read_range(at, WORD, pc);
        }
    });
}

/// The thread has initialised or destroyed an object of this size.
pub(crate) fn changes(object: *mut c_void, size: usize, pc: u64) {
    if counts(pc) {
        write_range(object as u64, size as u64, pc);
    }
}
