//! Streams: `stdio.h`. The stream itself is the C library's, which orders what is done to it by the stream's lock (`locks`). A buffer that
//! the program gave it (`setvbuf`, `fmemopen`) is accessed whenever the C library wants: calls that write to streams are unseen
//! from then on, as those that read from them always are.

use libc::{FILE, c_char, c_int, c_void, size_t, ssize_t};

use super::table::*;
use crate::real_functions::{Real, call_real};

/// The line that a pointer there points to was read, with so many bytes.
fn writes_line(line: *const *mut c_char, len: ssize_t) -> Access {
    // SAFETY: the call has succeeded, so there is a pointer to the line.
    if len < 0 { writes(line, 0) } else { writes(unsafe { *line }, len as usize + 1) }
}

effects! {
    fopen(path: Text, mode: Text) -> *mut FILE, before [reads_text(path), reads_text(mode)], after |_| [];
    fopen64(path: Text, mode: Text) -> *mut FILE, before [reads_text(path), reads_text(mode)], after |_| [];
    freopen(path: Text, mode: Text, stream: *mut FILE) -> *mut FILE,
        before [reads_text(path), reads_text(mode)], after |_| [];
    freopen64(path: Text, mode: Text, stream: *mut FILE) -> *mut FILE,
        before [reads_text(path), reads_text(mode)], after |_| [];
    fdopen(fd: c_int, mode: Text) -> *mut FILE, before [reads_text(mode)], after |_| [];
    popen(command: Text, mode: Text) -> *mut FILE, before [reads_text(command), reads_text(mode)], after |_| [];
    puts(text: Text) -> c_int, before [Access::OfStream, reads_text(text)], after |_| [];
    fputs(text: Text, stream: *mut FILE) -> c_int, before [Access::OfStream, reads_text(text)], after |_| [];
    fputs_unlocked(text: Text, stream: *mut FILE) -> c_int, before [Access::OfStream, reads_text(text)], after |_| [];
    perror(text: Text) -> (), before [Access::OfStream, reads_text(text)], after |_| [];
    fwrite(from: Bytes, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        before [Access::OfStream, reads(from, size.saturating_mul(count))], after |_| [];
    fwrite_unlocked(from: Bytes, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        before [Access::OfStream, reads(from, size.saturating_mul(count))], after |_| [];
    fread(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        before [], after |read| [writes(to, size * read)];
    fread_unlocked(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        before [], after |read| [writes(to, size * read)];
    fgets(to: *mut c_char, size: c_int, stream: *mut FILE) -> *mut c_char,
        before [], after |text| [writes_text(text, true)];
    fgets_unlocked(to: *mut c_char, size: c_int, stream: *mut FILE) -> *mut c_char,
        before [], after |text| [writes_text(text, true)];
    getline(line: *mut *mut c_char, room: *mut size_t, stream: *mut FILE) -> ssize_t,
        before [reads_object(line), reads_object(room)],
        after |len| [writes_object(line, true), writes_object(room, true), writes_line(line, len)];
    getdelim(line: *mut *mut c_char, room: *mut size_t, end: c_int, stream: *mut FILE) -> ssize_t,
        before [reads_object(line), reads_object(room)],
        after |len| [writes_object(line, true), writes_object(room, true), writes_line(line, len)];
    __getdelim(line: *mut *mut c_char, room: *mut size_t, end: c_int, stream: *mut FILE) -> ssize_t,
        before [reads_object(line), reads_object(room)],
        after |len| [writes_object(line, true), writes_object(room, true), writes_line(line, len)];
    setvbuf(stream: *mut FILE, buffer: *mut c_char, mode: c_int, size: size_t) -> c_int, before [lends(buffer)], after |_| [];
    setbuf(stream: *mut FILE, buffer: *mut c_char) -> (), before [lends(buffer)], after |_| [];
    setbuffer(stream: *mut FILE, buffer: *mut c_char, size: size_t) -> (), before [lends(buffer)], after |_| [];
    fmemopen(buffer: *mut c_void, size: size_t, mode: Text) -> *mut FILE,
        before [reads_text(mode), lends(buffer)], after |_| [];
    open_memstream(buffer: *mut *mut c_char, size: *mut size_t) -> *mut FILE, before [lends(buffer)], after |_| [];
    fgetpos(stream: *mut FILE, at: *mut libc::fpos_t) -> c_int, before [], after |failed| [writes_object(at, failed == 0)];
    fsetpos(stream: *mut FILE, at: *const libc::fpos_t) -> c_int, before [reads_object(at)], after |_| [];
    remove(path: Text) -> c_int, before [reads_text(path)], after |_| [];
    rename(from: Text, to: Text) -> c_int, before [reads_text(from), reads_text(to)], after |_| [];
    renameat(old: c_int, from: Text, new: c_int, to: Text) -> c_int,
        before [reads_text(from), reads_text(to)], after |_| [];
}
