//! The life of blocks of memory: from the allocator that gives them to the `free` that ends them.
//!
//! A block's life begins after the allocator gave it, so after the stamp of its last free; it ends with a stamp before the allocator
//! can give it to another thread. Blocks count with all their usable bytes, which both ends of their life can ask for.
//!
//! **Allocating is a write.** The allocator keeps its lists in the memory that is free, at the beginning of each block, so whoever
//! allocates a block has written there. Whoever then accesses it without being ordered after that may see it overwritten, and has a data race. (Memory
//! that the kernel gives is empty at first sight: `mmap` writes nothing.)
//!
//! Memory that Rust code asks for comes from `malloc` in the end, but called from within Rust's library, and rounded up. So
//! [`Asked`] says what `malloc` and `free` are called for: the size and the caller are then the program's, and what is recorded
//! once is not recorded again.

use std::cell::Cell;

use foresee_format::Tag;
use libc::c_void;

use super::accesses::access_by_call;
use super::status;
use super::thread::{AccessKind, always, position};
use crate::program;
use crate::real_functions::usable_size;

/// What Rust code has asked the allocator for; zeroes where it has not.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    /// A block of this size, for this caller.
    pub(crate) size: usize,
    pub(crate) pc: u64,
    /// The end of this block, which is recorded; and how far the thread's records were then.
    ended: u64,
    position: (usize, u64),
    /// The block that was given and is recorded.
    given: u64,
}

impl Asked {
    const NOTHING: Asked = Asked { size: 0, pc: 0, ended: 0, position: (0, 0), given: 0 };

    /// A new block.
    pub(crate) fn for_block(size: usize, pc: u64) -> Asked {
        Asked { size, pc, ..Asked::NOTHING }
    }

    /// The end of a block, which was just recorded.
    pub(crate) fn to_end(block: *mut c_void) -> Asked {
        Asked { ended: block as u64, position: position(), ..Asked::NOTHING }
    }

    /// A new block in the place of one whose end was just recorded.
    pub(crate) fn to_replace(block: *mut c_void, size: usize, pc: u64) -> Asked {
        Asked { size, pc, ..Asked::to_end(block) }
    }

    /// Has the allocator do this; also the block that it gave and that is recorded, or 0.
    pub(crate) fn of<R>(self, allocator: impl FnOnce() -> R) -> (R, u64) {
        let outer = ASKED.replace(self);
        let result = allocator();
        (result, ASKED.replace(outer).given)
    }
}

thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked::NOTHING) };
}

/// Size and caller of a block that `malloc` gives, if Rust code has asked for it.
fn asked_for(block: *mut c_void, usable: usize) -> Option<(usize, u64)> {
    let asked = ASKED.get();
    let is_it = asked.size > 0 && asked.given == 0 && asked.size <= usable;
    is_it.then(|| {
        ASKED.set(Asked { given: block as u64, ..asked });
        (asked.size, asked.pc)
    })
}

/// Whether the end of this block is recorded. If the allocator recorded something since, it ends now.
fn has_ended(block: *mut c_void) -> bool {
    let asked = ASKED.get();
    asked.ended == block as u64 && asked.position == position()
}

/// So many bytes of a free block are the allocator's: how its lists go on, and a mark that it is in one.
const LISTED: usize = 16;

/// A block's life begins.
pub(crate) fn begins(block: *mut c_void, pc: u64) -> *mut c_void {
    if !block.is_null() && status::recording() {
        // SAFETY: the allocator has just given this block.
        let size = unsafe { usable_size(block) };
        let (size, pc) = asked_for(block, size).unwrap_or((size, pc));
        always(|local| local.plain(Tag::Alloc, 0, [pc, block as u64, size as u64]));
        if !program::is_rust() {
            access_by_call(AccessKind::Write, block as u64, size.min(LISTED) as u8, pc);
        }
    }
    block
}

/// Memory gets a new life that no allocator of ours gives: that of a library's own store.
pub(crate) fn begins_again(memory: *mut c_void, size: usize, pc: u64) {
    always(|local| local.plain(Tag::Alloc, 0, [pc, memory as u64, size as u64]));
}

/// A block's life ends, by a call of `free` or `realloc`. A library without instrumentation frees what is its own, in an order that is
/// not seen (the loader a thread's variables, when another thread gets its stack): that is only the begin of a new life.
pub(crate) fn ends(block: *mut c_void, pc: u64) {
    let is_seen = program::is_instrumented_at(pc) && !program::is_rust_library(pc);
    ends_as(if is_seen { Tag::Free } else { Tag::Alloc }, block, pc);
}

/// A block's life ends, which this record says.
pub(crate) fn ends_as(tag: Tag, block: *mut c_void, pc: u64) {
    if !block.is_null() && status::recording() && !has_ended(block) {
        // SAFETY: the program passes the block to `free`, so it is the allocator's; otherwise the call that follows would be just as
        // undefined as this one.
        let size = unsafe { usable_size(block) };
        if size > 0 {
            always(|local| local.stamped(tag, 0, [pc, block as u64, size as u64]));
        }
    }
}
