//! Accesses on behalf of the program: recorded, if they count, and done.

use std::ffi::CStr;

use crate::recorder::accesses::{counts, read_range, write_range};

/// Where functions are looked for if the program is linked without the library.
pub(super) const LIBRARY: &CStr = c"libstdc++.so.6";

/// Who accesses memory.
#[derive(Clone, Copy)]
pub(super) struct Caller {
    pc: u64,
    is_recorded: bool,
}

impl Caller {
    /// The code that called us.
    pub(super) fn at(pc: u64) -> Caller {
        Caller { pc, is_recorded: counts(pc) }
    }

    /// Records that so many bytes are read.
    pub(super) fn reads(self, at: u64, size: usize) {
        if self.is_recorded {
            read_range(at, size as u64, self.pc);
        }
    }

    /// Records that so many bytes are written.
    pub(super) fn writes(self, at: u64, size: usize) {
        if self.is_recorded {
            write_range(at, size as u64, self.pc);
        }
    }

    /// Reads a value.
    ///
    /// # Safety
    /// There is one, and the program may read it.
    pub(super) unsafe fn read<T: Copy>(self, at: *const T) -> T {
        self.reads(at as u64, size_of::<T>());
        // SAFETY: by the caller.
        unsafe { at.read() }
    }

    /// Writes a value.
    ///
    /// # Safety
    /// There is room for one, to which the program may write.
    pub(super) unsafe fn write<T: Copy>(self, at: *mut T, value: T) {
        self.writes(at as u64, size_of::<T>());
        // SAFETY: by the caller.
        unsafe { at.write(value) }
    }
}
