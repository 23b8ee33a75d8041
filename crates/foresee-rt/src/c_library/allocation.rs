//! The allocator: `malloc` and the like.

use libc::{c_int, c_void, size_t};

use crate::entry_points::entries;
use crate::real_functions::{real_calloc, real_free, real_malloc, real_memalign, real_realloc};
use crate::recorder::blocks::{begins, ends};

extern "C" fn allocate(size: size_t, pc: u64) -> *mut c_void {
    // SAFETY: `malloc` takes any size.
    begins(unsafe { real_malloc(size) }, pc)
}

extern "C" fn allocate_zeroed(count: size_t, size: size_t, pc: u64) -> *mut c_void {
    // SAFETY: `calloc` takes any count and size.
    begins(unsafe { real_calloc(count, size) }, pc)
}

extern "C" fn allocate_aligned(align: size_t, size: size_t, pc: u64) -> *mut c_void {
    // SAFETY: forwards the caller's own arguments; `memalign` checks them.
    begins(unsafe { real_memalign(align, size) }, pc)
}

extern "C" fn allocate_aligned_to(at: *mut *mut c_void, align: size_t, size: size_t, pc: u64) -> c_int {
    if !align.is_power_of_two() || align < size_of::<*mut c_void>() {
        return libc::EINVAL;
    }
    // SAFETY: `errno` is this thread's own. POSIX wants it unchanged.
    let errno = unsafe { *libc::__errno_location() };
    let block = allocate_aligned(align, size, pc);
    // SAFETY: `errno` is this thread's own.
    unsafe { *libc::__errno_location() = errno };
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller passes the address of a pointer for the block.
    unsafe { *at = block };
    0
}

/// The old block ends and the new one begins, even where they are the same bytes: the contents moved unseen.
extern "C" fn reallocate(block: *mut c_void, size: size_t, pc: u64) -> *mut c_void {
    ends(block, pc);
    // SAFETY: forwards the caller's own arguments: a block of the allocator, or null.
    let new = unsafe { real_realloc(block, size) };
    if new.is_null() && size > 0 {
        // It failed: the old block lives on.
        begins(block, pc);
    }
    begins(new, pc)
}

extern "C" fn free_block(block: *mut c_void, pc: u64) {
    ends(block, pc);
    // SAFETY: the caller passes a block of the allocator, or null, and no longer uses it.
    unsafe { real_free(block) }
}

entries! {
    malloc => allocate, "rsi";
    calloc => allocate_zeroed, "rdx";
    realloc => reallocate, "rdx";
    free => free_block, "rsi";
    memalign => allocate_aligned, "rdx";
    aligned_alloc => allocate_aligned, "rdx";
    posix_memalign => allocate_aligned_to, "rcx";
}
