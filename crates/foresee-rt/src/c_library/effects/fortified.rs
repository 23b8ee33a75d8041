//! The functions that are called instead when a program is built with `_FORTIFY_SOURCE`: the same, with the size of the destination
//! as one more argument. The real ones check it and end the program. Those of descriptors are in `descriptors`.

use libc::{FILE, c_char, c_int, c_void, size_t, ssize_t};

use super::table::*;
use crate::c_library::names;
use crate::c_library::streams::reading;
use crate::real_functions::{Real, call_real};

/// Where a text ends.
fn end_of(text: Text) -> Text {
    text.wrapping_add(size_of_text(text).saturating_sub(1))
}

effects! {
    __memcpy_chk(to: *mut c_void, from: Bytes, size: size_t, room: size_t) -> *mut c_void,
        before [reads(from, size)], after |_| [writes(to, size)];
    __memmove_chk(to: *mut c_void, from: Bytes, size: size_t, room: size_t) -> *mut c_void,
        before [reads(from, size)], after |_| [writes(to, size)];
    __mempcpy_chk(to: *mut c_void, from: Bytes, size: size_t, room: size_t) -> *mut c_void,
        before [reads(from, size)], after |_| [writes(to, size)];
    __memset_chk(to: *mut c_void, byte: c_int, size: size_t, room: size_t) -> *mut c_void,
        before [], after |_| [writes(to, size)];
    __explicit_bzero_chk(to: *mut c_void, size: size_t, room: size_t) -> (),
        before [], after |_| [writes(to, size)];
    __strcpy_chk(to: *mut c_char, from: Text, room: size_t) -> *mut c_char,
        before [reads_text(from)], after |_| [writes_text(to, true)];
    __stpcpy_chk(to: *mut c_char, from: Text, room: size_t) -> *mut c_char,
        before [reads_text(from)], after |_| [writes_text(to, true)];
    __strncpy_chk(to: *mut c_char, from: Text, size: size_t, room: size_t) -> *mut c_char,
        before [reads(from, size_within(from, size))], after |_| [writes(to, size)];
    __stpncpy_chk(to: *mut c_char, from: Text, size: size_t, room: size_t) -> *mut c_char,
        before [reads(from, size_within(from, size))], after |_| [writes(to, size)];
    __strcat_chk(to: *mut c_char, from: Text, room: size_t) -> *mut c_char,
        before [reads_text(to), reads_text(from), writes(end_of(to), size_of_text(from))], after |_| [];
    __strncat_chk(to: *mut c_char, from: Text, size: size_t, room: size_t) -> *mut c_char,
        before [
            reads_text(to),
            reads(from, size_within(from, size)),
            writes(end_of(to), size_within(from, size))
        ],
        after |_| [writes(end_of(to), 1)];
    __fgets_chk(to: *mut c_char, room: size_t, size: c_int, stream: *mut FILE) -> *mut c_char, within reading(stream),
        before [], after |text| [writes_text(text, true)];
    __fgets_unlocked_chk(to: *mut c_char, room: size_t, size: c_int, stream: *mut FILE) -> *mut c_char, within reading(stream).unlocked(),
        before [], after |text| [writes_text(text, true)];
    __fread_chk(to: *mut c_void, room: size_t, size: size_t, count: size_t, stream: *mut FILE) -> size_t, within reading(stream),
        before [], after |read| [writes(to, size * read)];
    __fread_unlocked_chk(to: *mut c_void, room: size_t, size: size_t, count: size_t, stream: *mut FILE) -> size_t, within reading(stream).unlocked(),
        before [], after |read| [writes(to, size * read)];
    __getcwd_chk(to: *mut c_char, size: size_t, room: size_t) -> *mut c_char, within names::listing(std::ptr::null()),
        before [], after |text| [writes_text(text, true)];
    __realpath_chk(path: Text, to: *mut c_char, room: size_t) -> *mut c_char, within names::looking_up(path),
        before [reads_path(path)], after |text| [writes_text(text, true)];
    __readlink_chk(path: Text, to: *mut c_char, size: size_t, room: size_t) -> ssize_t, within names::looking_up(path),
        before [reads_path(path)], after |n| [writes(to, n.max(0) as usize)];
    __readlinkat_chk(at: c_int, path: Text, to: *mut c_char, size: size_t, room: size_t) -> ssize_t, within names::looking_up(path),
        before [reads_path(path)], after |n| [writes(to, n.max(0) as usize)];
    __gethostname_chk(to: *mut c_char, size: size_t, room: size_t) -> c_int,
        before [], after |failed| [writes(to, if failed == 0 { size_within(to, size) } else { 0 })];
    __ttyname_r_chk(fd: c_int, to: *mut c_char, size: size_t, room: size_t) -> c_int,
        before [], after |failed| [writes_text(to, failed == 0)];
}
