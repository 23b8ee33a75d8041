//! How the rows of the tables are written, and what they record.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use foresee_format::Unseen;
use libc::{c_char, c_void};

// In a Rust program, the caller may be Rust's library, whose own accesses do not count: the reader, which knows where that library's
// code is, leaves them out.
use crate::readable;
pub(super) use crate::recorder::accesses::counts;
use crate::recorder::accesses::{read_range, unseen, write_range};

/// One access to a range of bytes.
pub(super) enum Access {
    Read(u64, usize),
    Write(u64, usize),
    /// Of what a stream has as its buffer.
    OfStream,
    /// Memory becomes a stream's, unless it is null.
    Lends(u64),
}

/// Whether any stream has a buffer of the program's own.
static HAS_LENT: AtomicBool = AtomicBool::new(false);

impl Access {
    pub(super) fn record(self, pc: u64) {
        match self {
            Access::Read(at, size) => read_range(at, size as u64, pc),
            Access::Write(at, size) => write_range(at, size as u64, pc),
            Access::OfStream => uses_stream(pc),
            Access::Lends(at) => HAS_LENT.store(at != 0 || HAS_LENT.load(Relaxed), Relaxed),
        }
    }
}

/// A stream is used, which may have a buffer of the program's own.
pub(crate) fn uses_stream(pc: u64) {
    if HAS_LENT.load(Relaxed) {
        unseen(Unseen::StreamBuffer, pc);
    }
}

/// So many bytes are read; none at a null pointer.
pub(super) fn reads<T>(at: *const T, size: usize) -> Access {
    Access::Read(at as u64, if at.is_null() { 0 } else { size })
}

/// So many bytes are written; none at a null pointer.
pub(super) fn writes<T>(at: *const T, size: usize) -> Access {
    Access::Write(at as u64, if at.is_null() { 0 } else { size })
}

/// The C library uses this memory later, at calls that do not name it.
pub(super) fn lends<T>(at: *const T) -> Access {
    Access::Lends(at as u64)
}

/// A whole object is read, if there is one.
pub(super) fn reads_object<T>(at: *const T) -> Access {
    reads(at, size_of::<T>())
}

/// A whole object is written, if there is one and the call did what it is for.
pub(super) fn writes_object<T>(at: *const T, done: bool) -> Access {
    writes(at, if done { size_of::<T>() } else { 0 })
}

/// A text is read to its end.
pub(super) fn reads_text(text: Text) -> Access {
    reads(text, size_of_text(text))
}

/// The kernel reads a path, if it is there.
pub(super) fn reads_path(path: Text) -> Access {
    reads(path, readable::text_len(path, usize::MAX).map_or(0, |len| len + 1))
}

/// A text was written, if the call did what it is for.
pub(super) fn writes_text(text: Text, done: bool) -> Access {
    writes(text, if done { size_of_text(text) } else { 0 })
}

pub(super) type Text = *const c_char;
pub(super) type Bytes = *const c_void;

/// A text's size, with the zero byte at its end.
pub(super) fn size_of_text(text: Text) -> usize {
    size_within(text, usize::MAX)
}

/// How many bytes of a text are read if at most `most` are wanted: its zero byte included.
pub(super) fn size_within(text: Text, most: usize) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: no byte behind the zero byte, and none behind `most`, is read: the real function reads the same.
    (0..most).find(|&i| unsafe { *text.add(i) } == 0).map_or(most, |i| i + 1)
}

/// How far a place in a buffer is from its beginning.
pub(super) fn offset<A, B>(of: *const A, from: *const B) -> usize {
    (of as usize).wrapping_sub(from as usize)
}

pub(super) const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name without an end"),
    }
}

/// The entry point of a function with these arguments: the return address comes after them.
macro_rules! weak_entry {
    ($name:ident, $to:ident, ) => { weak_entry!(@ $name, $to, "rdi"); };
    ($name:ident, $to:ident, $a:ident) => { weak_entry!(@ $name, $to, "rsi"); };
    ($name:ident, $to:ident, $a:ident $b:ident) => { weak_entry!(@ $name, $to, "rdx"); };
    ($name:ident, $to:ident, $a:ident $b:ident $c:ident) => { weak_entry!(@ $name, $to, "rcx"); };
    ($name:ident, $to:ident, $a:ident $b:ident $c:ident $d:ident) => { weak_entry!(@ $name, $to, "r8"); };
    ($name:ident, $to:ident, $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        weak_entry!(@ $name, $to, "r9");
    };
    ($name:ident, $to:ident, $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident) => {
        crate::entry_points::weak_entries_of_six! { stringify!($name) => $to; }
    };
    (@ $name:ident, $to:ident, $register:literal) => {
        crate::entry_points::weak_entries! { stringify!($name) => $to, $register; }
    };
}
pub(super) use weak_entry;

/// A table of functions with their accesses. See the module's documentation.
///
/// SAFETY of each use: the signature is that of the C library's function, and the accesses are to bytes which that function accesses.
macro_rules! effects {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, $(within $around:expr,)?
        before [$($before:expr),*], after |$result:pat_param| [$($after:expr),*];)*) => {
        $(mod $name {
            use super::*;

            static REAL: Real = Real::new(c_name(concat!(stringify!($name), "\0")));

            #[allow(clippy::let_unit_value)]
            pub(super) extern "C-unwind" fn recorded($($arg: $ty,)* pc: u64) -> $ret {
                $(let _around = $around.begin(pc);)?
                let is_recorded = counts(pc);
                if is_recorded {
                    $($before.record(pc);)*
                }
                // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
                let result = unsafe { call_real!(REAL, ($($ty),*) -> $ret, $($arg),*) };
                if is_recorded {
                    let $result = result;
                    $($after.record(pc);)*
                }
                result
            }

            weak_entry!($name, recorded, $($arg)*);
        })*
    };
}
pub(super) use effects;
