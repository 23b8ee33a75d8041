//! Memory that the program gets from the kernel itself: `mmap`, `munmap`, `mremap`, `madvise`, `brk`.
//!
//! As with the allocator, a mapping's life begins after the call that made it, and ends with a stamp before the call that gives
//! it back: what is mapped there next is another variable. What the C library maps for itself (stacks, large blocks) does not
//! come here, and what this runtime maps is not recorded, as the thread is inside of it then. Of a mapping of more than 4 GiB the
//! trace knows the first 4 GiB.
//!
//! A mapping at a fixed address (`MAP_FIXED`) ends what is there, and so does a lower break. Others may know the address before, so
//! the new memory is written by the call: it is zero, or what a file has there. So are pages that the kernel takes away (`madvise`), whose
//! life goes on.

use foresee_format::{SHARED_MEMORY, Tag};
use libc::{c_int, c_void, off_t, size_t};

use super::{channels, shared_mappings};
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::{changed, counts, read_range, write_range};
use crate::recorder::edges::{acquire_edge, both_edges};
use crate::recorder::thread::always;

const PAGE: u64 = 4096;

/// A size as the kernel sees it: in whole pages.
fn rounded(size: size_t) -> u64 {
    (size as u64).saturating_add(PAGE - 1) & !(PAGE - 1)
}

fn begins(at: *mut c_void, size: size_t, detail: u8, pc: u64) {
    if at != libc::MAP_FAILED && size > 0 {
        always(|local| local.plain(Tag::Alloc, detail, [pc, at as u64, rounded(size)]));
    }
}

fn ends(at: *mut c_void, size: size_t, pc: u64) {
    if !at.is_null() && size > 0 {
        always(|local| local.stamped(Tag::Free, 0, [pc, at as u64, rounded(size)]));
    }
}

extern "C-unwind" fn map(
    at: *mut c_void,
    size: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"mmap");
    if flags & libc::MAP_FIXED != 0 {
        ends(at, size, pc);
        shared_mappings::ends(at, size);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let mapped = unsafe {
        call_real!(
            REAL,
            (*mut c_void, size_t, c_int, c_int, c_int, off_t) -> *mut c_void,
            at, size, protection, flags, fd, offset
        )
    };
    begins(mapped, size, if flags & libc::MAP_SHARED != 0 { SHARED_MEMORY } else { 0 }, pc);
    if flags & libc::MAP_FIXED != 0 && mapped != libc::MAP_FAILED {
        changes(mapped as u64, rounded(size), pc);
    }
    if mapped != libc::MAP_FAILED && flags & libc::MAP_ANONYMOUS == 0 {
        let is_shared = flags & libc::MAP_SHARED != 0;
        channels::maps(fd, is_shared, pc);
        if is_shared {
            shared_mappings::mapped(mapped, size, fd, offset, pc);
        }
    }
    mapped
}

extern "C-unwind" fn unmap(at: *mut c_void, size: size_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"munmap");
    ends(at, size, pc);
    shared_mappings::ends(at, size);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void, size_t) -> c_int, at, size) }
}

/// As with `realloc`, the old mapping ends and the new one begins even where they are the same bytes, and the contents move: they are
/// read in the old one and written in the new one, as far as both reach.
extern "C-unwind" fn remap(
    old: *mut c_void,
    old_size: size_t,
    size: size_t,
    flags: c_int,
    wanted: *mut c_void,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::new(c"mremap");
    let moved = if counts(pc) { old_size.min(size) as u64 } else { 0 };
    read_range(old as u64, moved, pc);
    ends(old, old_size, pc);
    // SAFETY: forwards the caller's own arguments; the real function uses the last one only if the flags say that it is there.
    let new = unsafe {
        call_real!(
            REAL,
            (*mut c_void, size_t, size_t, c_int, *mut c_void) -> *mut c_void,
            old, old_size, size, flags, wanted
        )
    };
    if new == libc::MAP_FAILED {
        // The old mapping lives on.
        begins(old, old_size, 0, pc);
        write_range(old as u64, moved, pc);
    } else {
        begins(new, size, 0, pc);
        write_range(new as u64, moved, pc);
        // The old mapping stays where it is.
        if old_size == 0 {
            shared_mappings::twice(new as u64, pc);
        }
    }
    new
}

/// The kernel takes pages away, and gives others when they are accessed.
extern "C-unwind" fn advise(at: *mut c_void, size: size_t, advice: c_int, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"madvise");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*mut c_void, size_t, c_int) -> c_int, at, size, advice) };
    let takes = matches!(advice, libc::MADV_DONTNEED | libc::MADV_FREE | libc::MADV_REMOVE);
    if takes && result == 0 {
        changes(at as u64, rounded(size), pc);
    }
    result
}

/// The call has changed these bytes.
fn changes(at: u64, size: u64, pc: u64) {
    if counts(pc) {
        write_range(at, size, pc);
    }
    changed(at, size, pc);
}

static SBRK: Real = Real::new(c"sbrk");

/// Stands for where the break is, which one thread may set and another ask for.
static BREAK: u8 = 0;

fn break_object() -> u64 {
    (&raw const BREAK) as u64
}

/// Where the program's data ends.
fn program_break() -> u64 {
    // SAFETY: moves it by nothing.
    (unsafe { call_real!(SBRK, (isize) -> *mut c_void, 0) }) as u64
}

/// Moves the program's break to about `wanted` by `real`: memory before it ends, or begins.
fn moves_break<R>(wanted: u64, pc: u64, real: impl FnOnce() -> R) -> R {
    both_edges(break_object(), pc);
    let before = program_break();
    if wanted < before {
        always(|local| local.stamped(Tag::Free, 0, [pc, wanted, before - wanted]));
    }
    let result = real();
    // Where it is now, whether or not that is where it was to be: the memory is new.
    let (from, to) = (wanted.min(before), program_break());
    if wanted != before && from < to {
        always(|local| local.plain(Tag::Alloc, 0, [pc, from, to - from]));
        changes(from, to - from, pc);
    }
    result
}

extern "C-unwind" fn set_break(to: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"brk");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    moves_break(to as u64, pc, || unsafe { call_real!(REAL, (*mut c_void) -> c_int, to) })
}

extern "C-unwind" fn move_break(by: isize, pc: u64) -> *mut c_void {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let real = || unsafe { call_real!(SBRK, (isize) -> *mut c_void, by) };
    if by == 0 {
        let at = real();
        acquire_edge(break_object(), pc);
        return at;
    }
    moves_break(program_break().wrapping_add_signed(by as i64), pc, real)
}

weak_entries! {
    "madvise" => advise, "rcx";
    "brk" => set_break, "rsi";
    "sbrk" => move_break, "rsi";
    "munmap" => unmap, "rdx";
    "mremap" => remap, "r9";
}

weak_entries_of_six! {
    "mmap" => map;
    "mmap64" => map;
}
