//! String functions of the C library, when the program calls them: they read and write its memory unseen.
//!
//! Each is recorded as accesses to the bytes that it must look at: `strcmp` looks no further than the first difference. The bytes
//! that are read here to find that out are therefore such as the real function reads, too: whoever may call it has them.

use libc::{c_char, c_int, c_void, size_t};

use crate::entry_points::entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::{counts, read_range, write_range};

static STRLEN: Real = Real::new(c"strlen");

fn len(text: *const c_char) -> usize {
    // SAFETY: the callers pass texts that the program passed to a function which reads them to their zero byte.
    unsafe { call_real!(STRLEN, (*const c_char) -> size_t, text) }
}

/// The length, but no more than `most`.
fn len_within(text: *const c_char, most: usize) -> usize {
    // SAFETY: no byte behind the zero byte, and none behind `most`, is read: the real function reads the same.
    (0..most).find(|&i| unsafe { *text.add(i) } == 0).unwrap_or(most)
}

/// How many bytes of `text` are read if at most `most` are wanted: its zero byte included.
fn read_within(text: *const c_char, most: usize) -> usize {
    most.min(len_within(text, most).saturating_add(1))
}

fn reads(from: *const c_char, size: usize, pc: u64) {
    read_range(from as u64, size as u64, pc);
}

fn writes(to: *mut c_char, size: usize, pc: u64) {
    write_range(to as u64, size as u64, pc);
}

extern "C-unwind" fn length(text: *const c_char, pc: u64) -> size_t {
    let len = len(text);
    if counts(pc) {
        reads(text, len + 1, pc);
    }
    len
}

extern "C-unwind" fn copy(to: *mut c_char, from: *const c_char, pc: u64) -> *mut c_char {
    static REAL: Real = Real::new(c"strcpy");
    if counts(pc) {
        let size = len(from) + 1;
        reads(from, size, pc);
        writes(to, size, pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_char, *const c_char) -> *mut c_char, to, from) }
}

extern "C-unwind" fn copy_within(to: *mut c_char, from: *const c_char, size: size_t, pc: u64) -> *mut c_char {
    static REAL: Real = Real::new(c"strncpy");
    if counts(pc) {
        reads(from, read_within(from, size), pc);
        writes(to, size, pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_char, *const c_char, size_t) -> *mut c_char, to, from, size) }
}

/// Of `from`, `read` bytes are looked at, and `added` are appended, before a zero byte.
fn appends(to: *mut c_char, from: *const c_char, read: usize, added: usize, pc: u64) {
    let before = len(to);
    reads(to, before + 1, pc);
    reads(from, read, pc);
    // SAFETY: the program has room there for what is appended to its text.
    writes(unsafe { to.add(before) }, added + 1, pc);
}

extern "C-unwind" fn append(to: *mut c_char, from: *const c_char, pc: u64) -> *mut c_char {
    static REAL: Real = Real::new(c"strcat");
    if counts(pc) {
        let added = len(from);
        appends(to, from, added + 1, added, pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_char, *const c_char) -> *mut c_char, to, from) }
}

extern "C-unwind" fn append_within(
    to: *mut c_char,
    from: *const c_char,
    size: size_t,
    pc: u64,
) -> *mut c_char {
    static REAL: Real = Real::new(c"strncat");
    if counts(pc) {
        appends(to, from, read_within(from, size), len_within(from, size), pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_char, *const c_char, size_t) -> *mut c_char, to, from, size) }
}

/// How many bytes of both decide the comparison of two texts.
fn compared(a: *const c_char, b: *const c_char, most: usize) -> usize {
    // SAFETY: bytes are read up to the first difference or zero byte, no more than `most`: the real function needs them, too.
    let decides = |i: usize| unsafe { *a.add(i) != *b.add(i) || *a.add(i) == 0 };
    (0..most).find(|&i| decides(i)).map_or(most, |i| i + 1)
}

fn compares(a: *const c_char, b: *const c_char, size: usize, pc: u64) {
    reads(a, size, pc);
    reads(b, size, pc);
}

extern "C-unwind" fn compare(a: *const c_char, b: *const c_char, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"strcmp");
    if counts(pc) {
        compares(a, b, compared(a, b, usize::MAX), pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*const c_char, *const c_char) -> c_int, a, b) }
}

extern "C-unwind" fn compare_within(a: *const c_char, b: *const c_char, size: size_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"strncmp");
    if counts(pc) {
        compares(a, b, compared(a, b, size), pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*const c_char, *const c_char, size_t) -> c_int, a, b, size) }
}

extern "C-unwind" fn find(text: *const c_char, byte: c_int, pc: u64) -> *mut c_char {
    static REAL: Real = Real::new(c"strchr");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let found = unsafe { call_real!(REAL, (*const c_char, c_int) -> *mut c_char, text, byte) };
    if counts(pc) {
        let size = if found.is_null() { len(text) } else { found as usize - text as usize };
        reads(text, size + 1, pc);
    }
    found
}

extern "C-unwind" fn find_last(text: *const c_char, byte: c_int, pc: u64) -> *mut c_char {
    static REAL: Real = Real::new(c"strrchr");
    if counts(pc) {
        reads(text, len(text) + 1, pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*const c_char, c_int) -> *mut c_char, text, byte) }
}

extern "C-unwind" fn find_text(text: *const c_char, wanted: *const c_char, pc: u64) -> *mut c_char {
    static REAL: Real = Real::new(c"strstr");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let found = unsafe { call_real!(REAL, (*const c_char, *const c_char) -> *mut c_char, text, wanted) };
    if counts(pc) {
        let size = len(wanted);
        reads(wanted, size + 1, pc);
        reads(text, if found.is_null() { len(text) + 1 } else { found as usize - text as usize + size }, pc);
    }
    found
}

/// Its block comes from `malloc`, which is ours, too.
extern "C-unwind" fn duplicate(text: *const c_char, pc: u64) -> *mut c_char {
    static REAL: Real = Real::new(c"strdup");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let new = unsafe { call_real!(REAL, (*const c_char) -> *mut c_char, text) };
    if !new.is_null() && counts(pc) {
        let size = len(text) + 1;
        reads(text, size, pc);
        writes(new, size, pc);
    }
    new
}

extern "C-unwind" fn compare_bytes(a: *const c_void, b: *const c_void, size: size_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"memcmp");
    if counts(pc) {
        // SAFETY: the caller has `size` bytes at both addresses.
        let differ = |i: &usize| unsafe { *a.cast::<u8>().add(*i) != *b.cast::<u8>().add(*i) };
        let looked_at = (0..size).find(differ).map_or(size, |i| i + 1);
        compares(a.cast(), b.cast(), looked_at, pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*const c_void, *const c_void, size_t) -> c_int, a, b, size) }
}

extern "C-unwind" fn find_byte(bytes: *const c_void, byte: c_int, size: size_t, pc: u64) -> *mut c_void {
    static REAL: Real = Real::new(c"memchr");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let found = unsafe { call_real!(REAL, (*const c_void, c_int, size_t) -> *mut c_void, bytes, byte, size) };
    if counts(pc) {
        let looked_at = if found.is_null() { size } else { found as usize - bytes as usize + 1 };
        reads(bytes.cast(), looked_at, pc);
    }
    found
}

entries! {
    strlen => length, "rsi";
    strcpy => copy, "rdx";
    strncpy => copy_within, "rcx";
    strcat => append, "rdx";
    strncat => append_within, "rcx";
    strcmp => compare, "rdx";
    strncmp => compare_within, "rcx";
    strchr => find, "rdx";
    strrchr => find_last, "rdx";
    strstr => find_text, "rdx";
    strdup => duplicate, "rsi";
    memcmp => compare_bytes, "rcx";
    bcmp => compare_bytes, "rcx";
    memchr => find_byte, "rcx";
}
