//! Memory that begins and ends: the allocator, and the copies that compilers do not instrument themselves.
//!
//! The allocator's own functions are known by second names (`__libc_malloc`), so nothing has to be looked up and `malloc`
//! works from the first instruction on. Blocks count with all their usable bytes, which both ends of their life can ask for.

use foresee_format::Tag;
use libc::{c_int, c_void, size_t};

use crate::buffer::{accessing, always};
use crate::entry::entries;
use crate::rawfile;
use crate::real::{Real, call_real};
use crate::std_sync::{asked_for, has_ended, is_rust_program};
use crate::tsan::{read_range, write_range};

unsafe extern "C" {
    #[link_name = "__libc_malloc"]
    pub(crate) fn real_malloc(size: size_t) -> *mut c_void;
    #[link_name = "__libc_free"]
    pub(crate) fn real_free(block: *mut c_void);
    #[link_name = "__libc_calloc"]
    fn real_calloc(count: size_t, size: size_t) -> *mut c_void;
    #[link_name = "__libc_realloc"]
    fn real_realloc(block: *mut c_void, size: size_t) -> *mut c_void;
    #[link_name = "__libc_memalign"]
    pub(crate) fn real_memalign(align: size_t, size: size_t) -> *mut c_void;

    static __executable_start: u8;
    static etext: u8;
}

/// A block's life begins: after the allocator gave it, so after the stamp of its last free.
pub(crate) fn begins(block: *mut c_void, pc: u64) -> *mut c_void {
    if !block.is_null() && rawfile::recording() {
        // SAFETY: the block is the allocator's.
        let size = unsafe { libc::malloc_usable_size(block) };
        let (size, pc) = asked_for(block, size).unwrap_or((size, pc));
        always(|local| local.plain(Tag::Alloc, 0, [pc, block as u64, size as u64]));
    }
    block
}

/// A block's life ends: stamped before the allocator can give it to another thread.
fn ends(block: *mut c_void, pc: u64) {
    ends_as(if is_rust_library(pc) { Tag::Alloc } else { Tag::Free }, block, pc);
}

/// The same, told by this record.
pub(crate) fn ends_as(tag: Tag, block: *mut c_void, pc: u64) {
    if !block.is_null() && rawfile::recording() && !has_ended(block) {
        // SAFETY: the block is the allocator's, or the program is about to do something forbidden anyway.
        let size = unsafe { libc::malloc_usable_size(block) };
        if size > 0 {
            always(|local| local.stamped(tag, 0, [pc, block as u64, size as u64]));
        }
    }
}

// SAFETY of the calls below: the arguments are the caller's own.

extern "C" fn allocate(size: size_t, pc: u64) -> *mut c_void {
    begins(unsafe { real_malloc(size) }, pc)
}

extern "C" fn allocate_zeroed(count: size_t, size: size_t, pc: u64) -> *mut c_void {
    begins(unsafe { real_calloc(count, size) }, pc)
}

extern "C" fn allocate_aligned(align: size_t, size: size_t, pc: u64) -> *mut c_void {
    begins(unsafe { real_memalign(align, size) }, pc)
}

extern "C" fn allocate_aligned_to(at: *mut *mut c_void, align: size_t, size: size_t, pc: u64) -> c_int {
    if !align.is_power_of_two() || align < size_of::<*mut c_void>() {
        return libc::EINVAL;
    }
    // POSIX: `errno` is not set.
    let errno = unsafe { *libc::__errno_location() };
    let block = allocate_aligned(align, size, pc);
    unsafe { *libc::__errno_location() = errno };
    if block.is_null() {
        return libc::ENOMEM;
    }
    unsafe { *at = block };
    0
}

/// The old block ends and the new one begins, even where they are the same bytes: the contents moved unseen.
extern "C" fn reallocate(block: *mut c_void, size: size_t, pc: u64) -> *mut c_void {
    ends(block, pc);
    let new = unsafe { real_realloc(block, size) };
    if new.is_null() && size > 0 {
        // It failed: the old block lives on.
        begins(block, pc);
    }
    begins(new, pc)
}

extern "C" fn free_block(block: *mut c_void, pc: u64) {
    ends(block, pc);
    unsafe { real_free(block) }
}

/// Whether the program itself called, not a library: libraries have ways of their own to order what they do.
fn is_program(pc: u64) -> bool {
    let (start, end) = (&raw const __executable_start as u64, &raw const etext as u64);
    (start..end).contains(&pc)
}

/// Whether this may be Rust's library. It is linked into the program without instrumentation, so what orders its
/// accesses is not seen, and they must not be either: the end of its memory is only the begin of a new life, and its
/// copies are nothing. Rust code that is instrumented frees and copies by other functions. C code in a Rust program
/// cannot be told from the library.
fn is_rust_library(pc: u64) -> bool {
    is_program(pc) && is_rust_program()
}

/// Whether a copy is to be recorded: it is the program's, and the runtime is not copying for itself.
pub(crate) fn counts(pc: u64) -> bool {
    rawfile::recording() && is_program(pc) && accessing(|_| ()).is_some()
}

/// Who calls `memcpy` itself: code of gcc, instrumented or not, and Rust's library. Other instrumented code calls
/// `__tsan_memcpy`.
const PLAIN: bool = true;
const INSTRUMENTED: bool = false;

fn copies<const PLAIN_CALL: bool>(to: *mut c_void, from: *const c_void, size: size_t, pc: u64) {
    if counts(pc) && !(PLAIN_CALL && is_rust_program()) {
        read_range(from as u64, size as u64, pc);
        write_range(to as u64, size as u64, pc);
    }
}

extern "C" fn copy<const PLAIN_CALL: bool>(
    to: *mut c_void,
    from: *const c_void,
    size: size_t,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"memcpy");
    copies::<PLAIN_CALL>(to, from, size, pc);
    unsafe { call_real!(REAL, (*mut c_void, *const c_void, size_t) -> *mut c_void, to, from, size) }
}

extern "C" fn copy_within<const PLAIN_CALL: bool>(
    to: *mut c_void,
    from: *const c_void,
    size: size_t,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"memmove");
    copies::<PLAIN_CALL>(to, from, size, pc);
    unsafe { call_real!(REAL, (*mut c_void, *const c_void, size_t) -> *mut c_void, to, from, size) }
}

extern "C" fn fill<const PLAIN_CALL: bool>(
    to: *mut c_void,
    byte: c_int,
    size: size_t,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"memset");
    if counts(pc) && !(PLAIN_CALL && is_rust_program()) {
        write_range(to as u64, size as u64, pc);
    }
    unsafe { call_real!(REAL, (*mut c_void, c_int, size_t) -> *mut c_void, to, byte, size) }
}

entries! {
    malloc => allocate, "rsi";
    calloc => allocate_zeroed, "rdx";
    realloc => reallocate, "rdx";
    free => free_block, "rsi";
    memalign => allocate_aligned, "rdx";
    aligned_alloc => allocate_aligned, "rdx";
    posix_memalign => allocate_aligned_to, "rcx";
    memcpy => copy::<PLAIN>, "rcx";
    memmove => copy_within::<PLAIN>, "rcx";
    memset => fill::<PLAIN>, "rcx";
    __tsan_memcpy => copy::<INSTRUMENTED>, "rcx";
    __tsan_memmove => copy_within::<INSTRUMENTED>, "rcx";
    __tsan_memset => fill::<INSTRUMENTED>, "rcx";
}
