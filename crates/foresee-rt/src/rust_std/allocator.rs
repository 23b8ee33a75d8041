//! Memory that Rust code asks for.
//!
//! It comes from `malloc` in the end, which is recorded (`recorder::blocks`), but called from within the library, and rounded up. Here
//! the caller and the size are the program's: `malloc` and `free` learn what they are called for, and record that
//! instead of what they see. With a global allocator of the program's own, memory may come from elsewhere: then it is
//! recorded here when it is given, and what `malloc` gives to that allocator is recorded as any other block.

use foresee_format::Tag;
use libc::c_void;

use crate::entry_points::entries;
use crate::real_functions::std_functions;
use crate::recorder::blocks::Asked;
use crate::recorder::status;
use crate::recorder::thread::{plain, stamped};

std_functions! {
    foresee_real_alloc(size: usize, align: usize) -> *mut c_void;
    foresee_real_alloc_zeroed(size: usize, align: usize) -> *mut c_void;
    foresee_real_realloc(block: *mut c_void, size: usize, align: usize, new_size: usize) -> *mut c_void;
    foresee_real_dealloc(block: *mut c_void, size: usize, align: usize);
}

/// Has the allocator do what it is asked for; returns the block it gave, recorded by `malloc` or here.
fn allocates(asked: Asked, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let (block, given) = asked.of(real);
    if !block.is_null() && given != block as u64 {
        plain(Tag::Alloc, 0, [asked.pc, block as u64, asked.size as u64]);
    }
    block
}

extern "C-unwind" fn alloc(size: usize, align: usize, pc: u64) -> *mut c_void {
    if !status::recording() {
        // SAFETY: calls the library's function with its caller's own arguments, and its signature.
        return unsafe { foresee_real_alloc(size, align) };
    }
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    allocates(Asked::for_block(size, pc), || unsafe { foresee_real_alloc(size, align) })
}

extern "C-unwind" fn alloc_zeroed(size: usize, align: usize, pc: u64) -> *mut c_void {
    if !status::recording() {
        // SAFETY: calls the library's function with its caller's own arguments, and its signature.
        return unsafe { foresee_real_alloc_zeroed(size, align) };
    }
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
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
    if !status::recording() {
        // SAFETY: calls the library's function with its caller's own arguments, and its signature.
        return unsafe { foresee_real_realloc(block, size, align, new_size) };
    }
    stamped(Tag::Free, 0, [pc, block as u64, size as u64]);
    let asked = Asked::to_replace(block, new_size, pc);
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    let new = allocates(asked, || unsafe { foresee_real_realloc(block, size, align, new_size) });
    if new.is_null() {
        // It failed: the old block lives on.
        plain(Tag::Alloc, 0, [pc, block as u64, size as u64]);
    }
    new
}

extern "C-unwind" fn dealloc(block: *mut c_void, size: usize, align: usize, pc: u64) {
    if !status::recording() {
        // SAFETY: calls the library's function with its caller's own arguments, and its signature.
        return unsafe { foresee_real_dealloc(block, size, align) };
    }
    stamped(Tag::Free, 0, [pc, block as u64, size as u64]);
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    Asked::to_end(block).of(|| unsafe { foresee_real_dealloc(block, size, align) });
}

entries! {
    foresee_std_alloc => alloc, "rdx";
    foresee_std_alloc_zeroed => alloc_zeroed, "rdx";
    foresee_std_realloc => realloc, "r8";
    foresee_std_dealloc => dealloc, "rcx";
}
