//! Memory that Rust code asks for.
//!
//! It comes from `malloc` in the end, which is recorded (`memory`), but called from within the library, and rounded up. Here
//! the caller and the size are the program's: `malloc` and `free` are told what they are called for, and record that
//! instead of what they see. With a global allocator of the program's own, memory may come from elsewhere: then it is
//! recorded here when it is given, and what `malloc` gives to that allocator is recorded as any other block.

use std::cell::Cell;

use foresee_format::Tag;
use libc::c_void;

use super::{is_connected, reals};
use crate::buffer::{plain, position, stamped};
use crate::entry::entries;
use crate::rawfile;

reals! {
    foresee_real_alloc(size: usize, align: usize) -> *mut c_void;
    foresee_real_alloc_zeroed(size: usize, align: usize) -> *mut c_void;
    foresee_real_realloc(block: *mut c_void, size: usize, align: usize, new_size: usize) -> *mut c_void;
    foresee_real_dealloc(block: *mut c_void, size: usize, align: usize);
}

/// Whether the program is linked with Rust's library.
pub(crate) fn is_rust_program() -> bool {
    is_connected(foresee_real_alloc as *const u16)
}

/// What Rust code has asked the allocator for; zeroes where it has not.
#[derive(Clone, Copy)]
struct Asked {
    /// A block of this size, for this caller.
    size: usize,
    pc: u64,
    /// The end of this block, which is recorded; and how far the thread's records were then.
    ended: u64,
    position: (usize, u64),
    /// The block that was given and is recorded.
    given: u64,
}

impl Asked {
    const NOTHING: Asked = Asked { size: 0, pc: 0, ended: 0, position: (0, 0), given: 0 };

    fn for_block(size: usize, pc: u64) -> Asked {
        Asked { size, pc, ..Asked::NOTHING }
    }

    fn to_end(block: *mut c_void) -> Asked {
        Asked { ended: block as u64, position: position(), ..Asked::NOTHING }
    }
}

thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked::NOTHING) };
}

/// Size and caller of a block that `malloc` gives, if Rust code has asked for it.
pub(crate) fn asked_for(block: *mut c_void, usable: usize) -> Option<(usize, u64)> {
    let asked = ASKED.get();
    let is_it = asked.size > 0 && asked.given == 0 && asked.size <= usable;
    is_it.then(|| {
        ASKED.set(Asked { given: block as u64, ..asked });
        (asked.size, asked.pc)
    })
}

/// Whether the end of this block is recorded. If the allocator did something to it since, it ends now.
pub(crate) fn has_ended(block: *mut c_void) -> bool {
    let asked = ASKED.get();
    asked.ended == block as u64 && asked.position == position()
}

/// Has the allocator do what it is asked for; returns the block it gave, recorded by `malloc` or here.
fn allocates(asked: Asked, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let outer = ASKED.replace(asked);
    let block = real();
    let given = ASKED.replace(outer).given;
    if !block.is_null() && given != block as u64 {
        plain(Tag::Alloc, 0, [asked.pc, block as u64, asked.size as u64]);
    }
    block
}

// SAFETY of the calls below: the arguments are the caller's own.

extern "C-unwind" fn alloc(size: usize, align: usize, pc: u64) -> *mut c_void {
    if !rawfile::recording() {
        return unsafe { foresee_real_alloc(size, align) };
    }
    allocates(Asked::for_block(size, pc), || unsafe { foresee_real_alloc(size, align) })
}

extern "C-unwind" fn alloc_zeroed(size: usize, align: usize, pc: u64) -> *mut c_void {
    if !rawfile::recording() {
        return unsafe { foresee_real_alloc_zeroed(size, align) };
    }
    allocates(Asked::for_block(size, pc), || unsafe { foresee_real_alloc_zeroed(size, align) })
}

/// The old block ends and the new one begins, even where they are the same bytes: the contents moved unseen.
extern "C-unwind" fn realloc(
    block: *mut c_void,
    size: usize,
    align: usize,
    new_size: usize,
    pc: u64,
) -> *mut c_void {
    if !rawfile::recording() {
        return unsafe { foresee_real_realloc(block, size, align, new_size) };
    }
    stamped(Tag::Free, 0, [pc, block as u64, size as u64]);
    let asked = Asked { size: new_size, pc, ..Asked::to_end(block) };
    let new = allocates(asked, || unsafe { foresee_real_realloc(block, size, align, new_size) });
    if new.is_null() {
        // It failed: the old block lives on.
        plain(Tag::Alloc, 0, [pc, block as u64, size as u64]);
    }
    new
}

extern "C-unwind" fn dealloc(block: *mut c_void, size: usize, align: usize, pc: u64) {
    if !rawfile::recording() {
        return unsafe { foresee_real_dealloc(block, size, align) };
    }
    stamped(Tag::Free, 0, [pc, block as u64, size as u64]);
    let outer = ASKED.replace(Asked::to_end(block));
    unsafe { foresee_real_dealloc(block, size, align) };
    ASKED.set(outer);
}

entries! {
    foresee_std_alloc => alloc, "rdx";
    foresee_std_alloc_zeroed => alloc_zeroed, "rdx";
    foresee_std_realloc => realloc, "r8";
    foresee_std_dealloc => dealloc, "rcx";
}
