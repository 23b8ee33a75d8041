//! What functions that order threads access through the other pointers that they are given: deadlines, sets of signals, results.
//!
//! Without these accesses a trace shows a decision that rests on nothing: a wait ends early because its deadline was changed, and nobody was seen to read
//! it. The macros that wrap such functions ask every argument ([`Argument`]), so that a pointer of a new type does not compile before
//! somebody has said here what is behind it.

use foresee_format::Unseen;
use libc::{c_char, c_int, c_uint, itimerval, pthread_t, siginfo_t, sigset_t, sigval, sockaddr, timespec};

use crate::recorder::accesses::{self, counts, read_range, write_range};

/// The kernel has so many signals; the C library's type has room for more.
const SIGNAL_SET: usize = 8;

/// So many bytes are read by a call; none at a null pointer.
pub(crate) fn reads_bytes<T>(at: *const T, size: usize, pc: u64) {
    if !at.is_null() && size > 0 && counts(pc) {
        read_range(at as u64, size as u64, pc);
    }
}

/// So many bytes were written by a call; none at a null pointer.
pub(crate) fn writes_bytes<T>(at: *const T, size: usize, pc: u64) {
    if !at.is_null() && size > 0 && counts(pc) {
        write_range(at as u64, size as u64, pc);
    }
}

/// An object is read by a call, if there is one.
pub(crate) fn reads<T>(at: *const T, pc: u64) {
    reads_bytes(at, size_of::<T>(), pc);
}

/// An object was written by a call, if there is one.
pub(crate) fn writes<T>(at: *const T, pc: u64) {
    writes_bytes(at, size_of::<T>(), pc);
}

/// A call accesses what is not followed.
pub(crate) fn unseen(what: Unseen, pc: u64) {
    if counts(pc) {
        accesses::unseen(what, pc);
    }
}

/// An argument of a function that is forwarded.
pub(crate) trait Argument: Copy {
    /// What the call reads.
    fn before(self, _pc: u64) {}
    /// What a call that did what it is for has written.
    fn after(self, _pc: u64) {}
}

macro_rules! values {
    ($($ty:ty),*) => { $(impl Argument for $ty {})* };
}

values!(c_int, c_uint, pthread_t, sigval);

/// A name.
impl Argument for *const c_char {
    fn before(self, pc: u64) {
        if !self.is_null() && counts(pc) {
            // SAFETY: the program passes a text, which the real function reads to its end.
            let size = unsafe { libc::strlen(self) } + 1;
            read_range(self as u64, size as u64, pc);
        }
    }
}

/// An address of some kind, of which the call says elsewhere how long it is.
impl Argument for *mut sockaddr {
    fn after(self, pc: u64) {
        if !self.is_null() {
            unseen(Unseen::Messages, pc);
        }
    }
}

macro_rules! objects {
    ($($ty:ty: $size:expr),*) => {
        $(impl Argument for *const $ty {
            fn before(self, pc: u64) {
                reads_bytes(self, $size, pc);
            }
        }

        impl Argument for *mut $ty {
            fn after(self, pc: u64) {
                writes_bytes(self, $size, pc);
            }
        })*
    };
}

objects!(
    c_int: size_of::<c_int>(),
    c_uint: size_of::<c_uint>(),
    timespec: size_of::<timespec>(),
    itimerval: size_of::<itimerval>(),
    siginfo_t: size_of::<siginfo_t>(),
    sigset_t: SIGNAL_SET
);
