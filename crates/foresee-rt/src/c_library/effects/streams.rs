//! Streams: `stdio.h`. The stream itself is the C library's; how its use orders threads is in `streams`. A buffer that
//! the program gave it (`setvbuf`, `fmemopen`) is accessed whenever the C library wants: calls that write to streams are unseen
//! from then on, as those that read from them always are.

use libc::{FILE, c_char, c_int, c_long, c_uint, c_void, off_t, siginfo_t, size_t, ssize_t, wchar_t};

use super::table::*;
use crate::c_library::channels::{closes, forks, gives_by_all_streams, made_for_child};
use crate::c_library::names;
use crate::c_library::streams::{
    InUse, asking, descriptor, flushing, positioning, reading, standard_error, standard_input,
    standard_output, writing,
};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::status;

/// The line that a pointer there points to was read, with so many bytes.
fn writes_line(line: *const *mut c_char, len: ssize_t) -> Access {
    // SAFETY: the call has succeeded, so there is a pointer to the line.
    if len < 0 { writes(line, 0) } else { writes(unsafe { *line }, len as usize + 1) }
}

/// The size of a text of wide characters, with the zero at its end.
fn size_of_wide(text: *const wchar_t) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: no character behind the zero is read: the real function reads the same.
    let len = (0..).take_while(|&i| unsafe { *text.add(i) } != 0).count();
    (len + 1) * size_of::<wchar_t>()
}

effects! {
    fopen(path: Text, mode: Text) -> *mut FILE, within names::opening(path, mode),
        before [reads_path(path), reads_text(mode)], after |_| [];
    fopen64(path: Text, mode: Text) -> *mut FILE, within names::opening(path, mode),
        before [reads_path(path), reads_text(mode)], after |_| [];
    freopen(path: Text, mode: Text, stream: *mut FILE) -> *mut FILE, within Reopening { path, mode, stream },
        before [reads_path(path), reads_text(mode)], after |_| [];
    freopen64(path: Text, mode: Text, stream: *mut FILE) -> *mut FILE, within Reopening { path, mode, stream },
        before [reads_path(path), reads_text(mode)], after |_| [];
    fdopen(fd: c_int, mode: Text) -> *mut FILE, before [reads_text(mode)], after |_| [];
    puts(text: Text) -> c_int, within writing(standard_output()), before [Access::OfStream, reads_text(text)], after |_| [];
    fputs(text: Text, stream: *mut FILE) -> c_int, within writing(stream),
        before [Access::OfStream, reads_text(text)], after |_| [];
    fputs_unlocked(text: Text, stream: *mut FILE) -> c_int, within writing(stream).unlocked(),
        before [Access::OfStream, reads_text(text)], after |_| [];
    psignal(signal: c_int, text: Text) -> (), within writing(standard_error()), before [Access::OfStream, reads_text(text)], after |_| [];
    psiginfo(info: *const siginfo_t, text: Text) -> (), within writing(standard_error()),
        before [Access::OfStream, reads_object(info), reads_text(text)], after |_| [];
    perror(text: Text) -> (), within writing(standard_error()), before [Access::OfStream, reads_text(text)], after |_| [];
    fwrite(from: Bytes, size: size_t, count: size_t, stream: *mut FILE) -> size_t, within writing(stream),
        before [Access::OfStream, reads(from, size.saturating_mul(count))], after |_| [];
    fwrite_unlocked(from: Bytes, size: size_t, count: size_t, stream: *mut FILE) -> size_t, within writing(stream).unlocked(),
        before [Access::OfStream, reads(from, size.saturating_mul(count))], after |_| [];
    fread(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t, within reading(stream),
        before [], after |read| [writes(to, size * read)];
    fread_unlocked(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        within reading(stream).unlocked(),
        before [], after |read| [writes(to, size * read)];
    fgets(to: *mut c_char, size: c_int, stream: *mut FILE) -> *mut c_char, within reading(stream),
        before [], after |text| [writes_text(text, true)];
    fgets_unlocked(to: *mut c_char, size: c_int, stream: *mut FILE) -> *mut c_char, within reading(stream).unlocked(),
        before [], after |text| [writes_text(text, true)];
    getline(line: *mut *mut c_char, room: *mut size_t, stream: *mut FILE) -> ssize_t, within reading(stream),
        before [reads_object(line), reads_object(room)],
        after |len| [writes_object(line, true), writes_object(room, true), writes_line(line, len)];
    getdelim(line: *mut *mut c_char, room: *mut size_t, end: c_int, stream: *mut FILE) -> ssize_t, within reading(stream),
        before [reads_object(line), reads_object(room)],
        after |len| [writes_object(line, true), writes_object(room, true), writes_line(line, len)];
    __getdelim(line: *mut *mut c_char, room: *mut size_t, end: c_int, stream: *mut FILE) -> ssize_t, within reading(stream),
        before [reads_object(line), reads_object(room)],
        after |len| [writes_object(line, true), writes_object(room, true), writes_line(line, len)];
    setvbuf(stream: *mut FILE, buffer: *mut c_char, mode: c_int, size: size_t) -> c_int, within flushing(stream),
        before [lends(buffer)], after |_| [];
    setbuf(stream: *mut FILE, buffer: *mut c_char) -> (), within flushing(stream), before [lends(buffer)], after |_| [];
    setbuffer(stream: *mut FILE, buffer: *mut c_char, size: size_t) -> (), within flushing(stream),
        before [lends(buffer)], after |_| [];
    setlinebuf(stream: *mut FILE) -> (), within flushing(stream), before [], after |_| [];
    fmemopen(buffer: *mut c_void, size: size_t, mode: Text) -> *mut FILE,
        before [reads_text(mode), lends(buffer)], after |_| [];
    open_memstream(buffer: *mut *mut c_char, size: *mut size_t) -> *mut FILE, before [lends(buffer)], after |_| [];
    open_wmemstream(buffer: *mut *mut libc::wchar_t, size: *mut size_t) -> *mut FILE, before [lends(buffer)], after |_| [];
    fgetpos(stream: *mut FILE, at: *mut libc::fpos_t) -> c_int, within positioning(stream),
        before [], after |failed| [writes_object(at, failed == 0)];
    fgetpos64(stream: *mut FILE, at: *mut libc::fpos_t) -> c_int, within positioning(stream),
        before [], after |failed| [writes_object(at, failed == 0)];
    fsetpos(stream: *mut FILE, at: *const libc::fpos_t) -> c_int, within positioning(stream),
        before [reads_object(at)], after |_| [];
    fsetpos64(stream: *mut FILE, at: *const libc::fpos_t) -> c_int, within positioning(stream),
        before [reads_object(at)], after |_| [];
    ftell(stream: *mut FILE) -> c_long, within positioning(stream), before [], after |_| [];
    ftello(stream: *mut FILE) -> off_t, within positioning(stream), before [], after |_| [];
    ftello64(stream: *mut FILE) -> off_t, within positioning(stream), before [], after |_| [];
    fseek(stream: *mut FILE, to: c_long, from: c_int) -> c_int, within positioning(stream), before [], after |_| [];
    fseeko(stream: *mut FILE, to: off_t, from: c_int) -> c_int, within positioning(stream), before [], after |_| [];
    fseeko64(stream: *mut FILE, to: off_t, from: c_int) -> c_int, within positioning(stream), before [], after |_| [];
    rewind(stream: *mut FILE) -> (), within positioning(stream), before [], after |_| [];
    feof(stream: *mut FILE) -> c_int, within asking(stream), before [], after |_| [];
    ferror(stream: *mut FILE) -> c_int, within asking(stream), before [], after |_| [];
    clearerr(stream: *mut FILE) -> (), within asking(stream), before [], after |_| [];
    ungetc(byte: c_int, stream: *mut FILE) -> c_int, within asking(stream), before [], after |_| [];

    fputc(byte: c_int, stream: *mut FILE) -> c_int, within writing(stream), before [Access::OfStream], after |_| [];
    putc(byte: c_int, stream: *mut FILE) -> c_int, within writing(stream), before [Access::OfStream], after |_| [];
    putw(word: c_int, stream: *mut FILE) -> c_int, within writing(stream), before [Access::OfStream], after |_| [];
    putchar(byte: c_int) -> c_int, within writing(standard_output()), before [Access::OfStream], after |_| [];
    fputc_unlocked(byte: c_int, stream: *mut FILE) -> c_int, within writing(stream).unlocked(),
        before [Access::OfStream], after |_| [];
    putc_unlocked(byte: c_int, stream: *mut FILE) -> c_int, within writing(stream).unlocked(),
        before [Access::OfStream], after |_| [];
    putchar_unlocked(byte: c_int) -> c_int, within writing(standard_output()).unlocked(),
        before [Access::OfStream], after |_| [];
    __overflow(stream: *mut FILE, byte: c_int) -> c_int, within writing(stream).unlocked(),
        before [Access::OfStream], after |_| [];
    fgetc(stream: *mut FILE) -> c_int, within reading(stream), before [], after |_| [];
    getc(stream: *mut FILE) -> c_int, within reading(stream), before [], after |_| [];
    getw(stream: *mut FILE) -> c_int, within reading(stream), before [], after |_| [];
    getchar() -> c_int, within reading(standard_input()), before [], after |_| [];
    fgetc_unlocked(stream: *mut FILE) -> c_int, within reading(stream).unlocked(), before [], after |_| [];
    getc_unlocked(stream: *mut FILE) -> c_int, within reading(stream).unlocked(), before [], after |_| [];
    getchar_unlocked() -> c_int, within reading(standard_input()).unlocked(), before [], after |_| [];
    __uflow(stream: *mut FILE) -> c_int, within reading(stream).unlocked(), before [], after |_| [];
    fflush(stream: *mut FILE) -> c_int, within Flushing(stream), before [Access::OfStream], after |_| [];
    fflush_unlocked(stream: *mut FILE) -> c_int, within Flushing(stream), before [Access::OfStream], after |_| [];

    fputwc(one: wchar_t, stream: *mut FILE) -> c_int, within writing(stream), before [Access::OfStream], after |_| [];
    putwc(one: wchar_t, stream: *mut FILE) -> c_int, within writing(stream), before [Access::OfStream], after |_| [];
    putwchar(one: wchar_t) -> c_int, within writing(standard_output()), before [Access::OfStream], after |_| [];
    fputws(text: *const wchar_t, stream: *mut FILE) -> c_int, within writing(stream),
        before [Access::OfStream, reads(text, size_of_wide(text))], after |_| [];
    fgetwc(stream: *mut FILE) -> c_int, within reading(stream), before [], after |_| [];
    getwc(stream: *mut FILE) -> c_int, within reading(stream), before [], after |_| [];
    getwchar() -> c_int, within reading(standard_input()), before [], after |_| [];
    fgetws(to: *mut wchar_t, size: c_int, stream: *mut FILE) -> *mut wchar_t, within reading(stream),
        before [], after |text| [writes(text, size_of_wide(text))];
    ungetwc(one: c_int, stream: *mut FILE) -> c_int, within asking(stream), before [], after |_| [];
    fwide(stream: *mut FILE, mode: c_int) -> c_int, within asking(stream), before [], after |_| [];

    remove(path: Text) -> c_int, within names::changing(path), before [reads_path(path)], after |_| [];
    rename(from: Text, to: Text) -> c_int, within names::changing(from).and(to),
        before [reads_path(from), reads_path(to)], after |_| [];
    renameat(old: c_int, from: Text, new: c_int, to: Text) -> c_int, within names::changing(from).and(to),
        before [reads_path(from), reads_path(to)], after |_| [];
    renameat2(old: c_int, from: Text, new: c_int, to: Text, flags: c_uint) -> c_int, within names::changing(from).and(to),
        before [reads_path(from), reads_path(to)], after |_| [];
}

/// A stream's buffer is written; that of all, if no stream is named.
struct Flushing(*mut FILE);

impl Flushing {
    fn begin(self, pc: u64) -> Option<InUse> {
        if self.0.is_null() {
            gives_by_all_streams(pc);
        }
        flushing(self.0).begin(pc)
    }
}

/// A stream is closed and opened again; without a path, in another mode.
struct Reopening {
    path: Text,
    mode: Text,
    stream: *mut FILE,
}

impl Reopening {
    fn begin(self, pc: u64) -> (Option<InUse>, Option<names::InUse>) {
        let in_use = flushing(self.stream).begin(pc);
        if !self.stream.is_null() && status::recording() {
            closes(descriptor(self.stream), pc);
        }
        (in_use, names::opening(self.path, self.mode).begin(pc))
    }
}

extern "C-unwind" fn start_with_pipe(command: Text, mode: Text, pc: u64) -> *mut FILE {
    static REAL: Real = Real::new(c"popen");
    if counts(pc) {
        reads_text(command).record(pc);
        reads_text(mode).record(pc);
    }
    forks(pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let stream = unsafe { call_real!(REAL, (Text, Text) -> *mut FILE, command, mode) };
    if !stream.is_null() {
        made_for_child(descriptor(stream));
    }
    stream
}

weak_entries! {
    "popen" => start_with_pipe, "rdx";
}
