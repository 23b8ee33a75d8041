//! What functions of the library access on behalf of who calls them, and is nothing but memory: what is formatted, vectors that grow.
//!
//! While a thread panics, the library formats for itself as well, what threads share under locks of its own (the symbols of a
//! backtrace). Then nothing is recorded but that there is something. It is over when the stack is unwound to before the panic.

use std::cell::Cell;

use foresee_format::Unseen;

use crate::recorder::accesses::{access_on_behalf, counts, unseen};

thread_local! {
    /// Where the stack was when the thread began to panic; 0 if it does not.
    static PANICKING: Cell<usize> = const { Cell::new(0) };
}

/// An address in the frame of who calls this, or deeper.
#[inline(always)]
fn depth() -> usize {
    let here = 0_u8;
    (&raw const here).addr()
}

/// The thread begins to panic.
pub(super) fn panics() {
    PANICKING.set(depth());
}

fn accesses(writes: bool, addr: u64, size: u64, pc: u64) {
    if PANICKING.get() > depth() {
        if counts(pc) {
            unseen(Unseen::Panic, pc);
        }
        return;
    }
    PANICKING.set(0);
    access_on_behalf(writes, addr, size, pc);
}

/// These bytes are about to be read, by what was called from `pc`.
#[unsafe(no_mangle)]
extern "C-unwind" fn foresee_std_reads(addr: u64, size: u64, pc: u64) {
    accesses(false, addr, size, pc);
}

/// The same, of bytes that are written as well.
#[unsafe(no_mangle)]
extern "C-unwind" fn foresee_std_changes(addr: u64, size: u64, pc: u64) {
    accesses(true, addr, size, pc);
}

/// The same as of bytes that are read, of a `String` and what it has in it.
///
/// In which order it has its pointer, length and capacity is the compiler's choice. The pointer is the greatest of them, as memory begins
/// far from 0, or all is 0 but a pointer to nothing; and the length is not greater than the capacity.
#[unsafe(no_mangle)]
extern "C-unwind" fn foresee_std_reads_string(string: *const [u64; 3], _: u64, pc: u64) {
    accesses(false, string as u64, 24, pc);
    // SAFETY: the caller gives the string to a function that reads it.
    let mut words = unsafe { string.read() };
    words.sort_unstable();
    let [length, _, pointer] = words;
    accesses(false, pointer, length, pc);
}
