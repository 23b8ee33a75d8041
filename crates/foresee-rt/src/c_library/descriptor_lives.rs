//! The life of descriptors: from the call that makes one to the `close` that ends it, after which its number may be another file's.
//!
//! Who uses a descriptor while another thread closes it gets an error, or reads and writes a file that it knows nothing of. So a
//! descriptor is a variable of its own, at an address where no program has memory (`foresee_format::descriptor_cell`): a call that uses
//! it reads it, `close` writes it. Where nothing orders the two, that is a data race, found like every other.
//!
//! A number that is given out again is another variable: the kernel orders the `close` before that, and nobody else sees
//! how. A number's life ends when it is closed and when it is made, as not every call is seen that closes or makes one. So a
//! use after a `close` is of another life, and is not held against it.
//!
//! `dup2` replaces what a number stands for in one step, which no other thread can get in between: for the old descriptor that is a
//! use. Streams have locks, and a close of theirs only ends the life.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use foresee_format::{DESCRIPTORS, descriptor_cell};
use libc::c_int;

use crate::recorder::accesses::access_by_call;
use crate::recorder::thread::AccessKind;

/// How many lives each descriptor has had.
static LIVES: [AtomicU32; DESCRIPTORS] = [const { AtomicU32::new(0) }; DESCRIPTORS];

fn lives(fd: c_int) -> Option<&'static AtomicU32> {
    LIVES.get(usize::try_from(fd).ok()?)
}

fn accesses(fd: c_int, kind: AccessKind, pc: u64) {
    if let Some(lives) = lives(fd) {
        access_by_call(kind, descriptor_cell(fd as u32, lives.load(Relaxed)), 1, pc);
    }
}

/// The thread is about to use a descriptor.
pub(crate) fn uses(fd: c_int, pc: u64) {
    accesses(fd, AccessKind::Read, pc);
}

/// The thread is about to close a descriptor that is open.
pub(crate) fn closes(fd: c_int, pc: u64) {
    accesses(fd, AccessKind::Write, pc);
}

/// The number is another's from now on.
pub(crate) fn renews(fd: c_int) {
    if let Some(lives) = lives(fd) {
        lives.fetch_add(1, Relaxed);
    }
}
