//! The allocator: `malloc` and the like.

use libc::{c_int, c_void, size_t};

use crate::entry_points::weak_entries;
use crate::program;
use crate::real_functions::{real_calloc, real_free, real_malloc, real_memalign, real_realloc, usable_size};
use crate::recorder::accesses::{counts, read_range, write_range};
use crate::recorder::blocks::{begins, ends};

extern "C-unwind" fn allocate(size: size_t, pc: u64) -> *mut c_void {
    // SAFETY: `malloc` takes any size.
    begins(unsafe { real_malloc(size) }, pc)
}

extern "C-unwind" fn allocate_zeroed(count: size_t, size: size_t, pc: u64) -> *mut c_void {
    // SAFETY: `calloc` takes any count and size.
    begins(unsafe { real_calloc(count, size) }, pc)
}

extern "C-unwind" fn allocate_aligned(align: size_t, size: size_t, pc: u64) -> *mut c_void {
    // SAFETY: forwards the caller's own arguments; `memalign` checks them.
    begins(unsafe { real_memalign(align, size) }, pc)
}

extern "C-unwind" fn allocate_aligned_to(
    at: *mut *mut c_void,
    align: size_t,
    size: size_t,
    pc: u64,
) -> c_int {
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
    if counts(pc) {
        write_range(at as u64, size_of::<*mut c_void>() as u64, pc);
    }
    0
}

/// The page size of the only architecture there is a runtime for.
const PAGE: size_t = 4096;

extern "C-unwind" fn allocate_page_aligned(size: size_t, pc: u64) -> *mut c_void {
    allocate_aligned(PAGE, size, pc)
}

extern "C-unwind" fn allocate_pages(size: size_t, pc: u64) -> *mut c_void {
    match size.checked_next_multiple_of(PAGE) {
        Some(size) => allocate_aligned(PAGE, size.max(PAGE), pc),
        None => no_memory(),
    }
}

fn no_memory() -> *mut c_void {
    // SAFETY: `errno` is this thread's own.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    std::ptr::null_mut()
}

/// The old block ends and the new one begins, even where they are the same bytes. The contents move: they are read in the old
/// block and written in the new one, as far as both reach.
extern "C-unwind" fn reallocate(block: *mut c_void, size: size_t, pc: u64) -> *mut c_void {
    let moves = !block.is_null() && size > 0 && counts(pc) && !program::is_rust_library(pc);
    // SAFETY: the program passes the block to `realloc`, so it is the allocator's.
    let old_size = if moves { unsafe { usable_size(block) } } else { 0 };
    let moved = old_size.min(size) as u64;
    read_range(block as u64, moved, pc);
    ends(block, pc);
    // SAFETY: forwards the caller's own arguments: a block of the allocator, or null.
    let new = unsafe { real_realloc(block, size) };
    if new.is_null() && size > 0 {
        // It failed: the old block lives on, as it was.
        begins(block, pc);
        write_range(block as u64, old_size as u64, pc);
    } else {
        begins(new, pc);
        write_range(new as u64, moved, pc);
    }
    new
}

extern "C-unwind" fn reallocate_array(
    block: *mut c_void,
    count: size_t,
    size: size_t,
    pc: u64,
) -> *mut c_void {
    match count.checked_mul(size) {
        Some(size) => reallocate(block, size, pc),
        None => no_memory(),
    }
}

extern "C-unwind" fn free_block(block: *mut c_void, pc: u64) {
    ends(block, pc);
    // SAFETY: the caller passes a block of the allocator, or null, and no longer uses it.
    unsafe { real_free(block) }
}

weak_entries! {
    "malloc" => allocate, "rsi";
    "calloc" => allocate_zeroed, "rdx";
    "realloc" => reallocate, "rdx";
    "free" => free_block, "rsi";
    "memalign" => allocate_aligned, "rdx";
    "aligned_alloc" => allocate_aligned, "rdx";
    "posix_memalign" => allocate_aligned_to, "rcx";
    "reallocarray" => reallocate_array, "rcx";
    "valloc" => allocate_page_aligned, "rsi";
    "pvalloc" => allocate_pages, "rsi";
}
