//! What orders threads inside of Rust's own library, which is not instrumented.
//!
//! The driver redirects calls of these functions to `foresee_std_…` here, and connects `foresee_real_…` with the library's
//! own (its module on the library's wraps tells how). Where nothing is connected, as in a C program, the reals are stubs
//! that nobody calls.
//!
//! The functions have Rust's calling convention, which for integers, pointers, `bool` and pairs of integers is C's.
//! All arguments are passed on; what is relied on besides them is written down where it is.
//!
//! The library's functions call each other, and some linkers redirect these calls, too: while a function is
//! [`within`] one that is recorded as a whole, the parts are not.
//!
//! | module | holds |
//! |---|---|
//! | [`allocator`] | `__rust_alloc` and the like: sizes and callers of the memory that Rust code asks for |
//! | [`once`] | `Once`, and so `OnceLock` and `LazyLock` |
//! | [`park`] | `thread::park` |
//! | [`scope`] | the end of scoped threads |
//! | [`waiting`] | `Condvar` and `Barrier` |

mod allocator;
mod once;
mod park;
mod scope;
mod waiting;

use std::cell::Cell;

use foresee_format::{Tag, UNKNOWN_VALUE};

use crate::buffer::stamped;

pub(crate) use allocator::{asked_for, has_ended, is_rust_program};

/// Declares functions of Rust's library by the names that the driver connects.
///
/// SAFETY of each use: the signature is that of the library's function. The stub only stands in for a function that is not
/// wrapped, and whose handler therefore is never called.
macro_rules! reals {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)*) => {
        unsafe extern "C-unwind" {
            $(fn $name($($arg: $ty),*) $(-> $ret)?;)*
        }
        $(core::arch::global_asm!(
            concat!(".weak ", stringify!($name)),
            concat!(stringify!($name), ":"),
            "ud2"
        );)*
    };
}
use reals;

/// Whether the driver has connected this function, one of [`reals`].
fn is_connected(function: *const u16) -> bool {
    const UD2: u16 = 0x0b0f;
    // SAFETY: it points to code, of at least one instruction of two bytes.
    unsafe { function.read_unaligned() != UD2 }
}

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function whose parts are not to be recorded; the second value says whether it is a part itself.
fn within<R>(real: impl FnOnce() -> R) -> (R, bool) {
    let outer = WITHIN.replace(true);
    let result = real();
    WITHIN.set(outer);
    (result, outer)
}

/// Whether the thread is in a function that is recorded as a whole.
fn is_part() -> bool {
    WITHIN.get()
}

/// The orders, as the trace counts them.
const ACQUIRE: u8 = 2;
const RELEASE: u8 = 3;

/// The size of an atomic.
#[derive(Clone, Copy)]
enum Width {
    U32 = 2,
    U64 = 3,
}

/// An atomic operation of the library. The library does it before or after this, unseen, so its value is not known.
fn load(addr: u64, width: Width, pc: u64) {
    stamped(Tag::Load, ACQUIRE | (width as u8) << 4 | UNKNOWN_VALUE, [pc, addr, 0]);
}

fn store(addr: u64, width: Width, pc: u64) {
    stamped(Tag::Store, RELEASE | (width as u8) << 4 | UNKNOWN_VALUE, [pc, addr, 0]);
}

fn update(addr: u64, width: Width, order: u8, pc: u64) {
    stamped(Tag::Rmw, order | (width as u8) << 4 | UNKNOWN_VALUE, [pc, addr, 0, 0]);
}
