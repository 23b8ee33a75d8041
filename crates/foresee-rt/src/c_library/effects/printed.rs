//! Formatted output: `printf` and the like. They read the texts among their arguments; some write to memory.

use libc::{FILE, c_char, c_int, size_t, wchar_t};

use super::formats::{List, Printed};
use super::orders::{Giving, Logging};
use super::table::*;
use crate::c_library::streams::{standard_error, standard_output, writing};
use crate::entry_points::variadic_entries;
use crate::real_functions::{Real, call_real};

/// How much was written of a text with this length, given so much room.
fn written(len: c_int, room: size_t) -> usize {
    usize::try_from(len).map_or(0, |len| room.min(len + 1))
}

/// The text that a pointer there points to.
fn new_text(at: *const *mut c_char, len: c_int) -> Access {
    // SAFETY: the call has succeeded, so there is a pointer to the text.
    if len < 0 { writes(at, 0) } else { writes(unsafe { *at }, written(len, usize::MAX)) }
}

effects! {
    vprintf(format: Text, list: List) -> c_int, within writing(standard_output()), before [Access::OfStream, Printed(format, list)], after |_| [];
    vfprintf(stream: *mut FILE, format: Text, list: List) -> c_int, within writing(stream), before [Access::OfStream, Printed(format, list)], after |_| [];
    vdprintf(fd: c_int, format: Text, list: List) -> c_int, within Giving(fd), before [Printed(format, list)], after |_| [];
    vsprintf(to: *mut c_char, format: Text, list: List) -> c_int,
        before [Printed(format, list)], after |len| [writes(to, written(len, usize::MAX))];
    vsnprintf(to: *mut c_char, room: size_t, format: Text, list: List) -> c_int,
        before [Printed(format, list)], after |len| [writes(to, written(len, room))];
    vasprintf(to: *mut *mut c_char, format: Text, list: List) -> c_int,
        before [Printed(format, list)], after |len| [writes_object(to, true), new_text(to, len)];
    __vprintf_chk(flag: c_int, format: Text, list: List) -> c_int, within writing(standard_output()), before [Access::OfStream, Printed(format, list)], after |_| [];
    __vfprintf_chk(stream: *mut FILE, flag: c_int, format: Text, list: List) -> c_int, within writing(stream),
        before [Access::OfStream, Printed(format, list)], after |_| [];
    __vdprintf_chk(fd: c_int, flag: c_int, format: Text, list: List) -> c_int, within Giving(fd),
        before [Printed(format, list)], after |_| [];
    __vsprintf_chk(to: *mut c_char, flag: c_int, size: size_t, format: Text, list: List) -> c_int,
        before [Printed(format, list)], after |len| [writes(to, written(len, usize::MAX))];
    __vsnprintf_chk(to: *mut c_char, room: size_t, flag: c_int, size: size_t, format: Text, list: List) -> c_int,
        before [Printed(format, list)], after |len| [writes(to, written(len, room))];
    __vasprintf_chk(to: *mut *mut c_char, flag: c_int, format: Text, list: List) -> c_int,
        before [Printed(format, list)], after |len| [writes_object(to, true), new_text(to, len)];
    vwarn(format: Text, list: List) -> (), within writing(standard_error()), before [Access::OfStream, Printed(format, list)], after |_| [];
    vwarnx(format: Text, list: List) -> (), within writing(standard_error()), before [Access::OfStream, Printed(format, list)], after |_| [];
    vsyslog(priority: c_int, format: Text, list: List) -> (), within Logging, before [Printed(format, list)], after |_| [];
    __vsyslog_chk(priority: c_int, flag: c_int, format: Text, list: List) -> (), within Logging, before [Printed(format, list)], after |_| [];
    // Formats of wide characters are not understood here.
    vwprintf(format: *const wchar_t, list: List) -> c_int, within writing(standard_output()).unseen(),
        before [Access::OfStream], after |_| [];
    vfwprintf(stream: *mut FILE, format: *const wchar_t, list: List) -> c_int, within writing(stream).unseen(),
        before [Access::OfStream], after |_| [];
}

variadic_entries! {
    "wprintf" => vwprintf::recorded, 1, "rsi", "rdx";
    "fwprintf" => vfwprintf::recorded, 2, "rdx", "rcx";
    "warn" => vwarn::recorded, 1, "rsi", "rdx";
    "warnx" => vwarnx::recorded, 1, "rsi", "rdx";
    "syslog" => vsyslog::recorded, 2, "rdx", "rcx";
    "__syslog_chk" => __vsyslog_chk::recorded, 3, "rcx", "r8";
    "printf" => vprintf::recorded, 1, "rsi", "rdx";
    "fprintf" => vfprintf::recorded, 2, "rdx", "rcx";
    "dprintf" => vdprintf::recorded, 2, "rdx", "rcx";
    "sprintf" => vsprintf::recorded, 2, "rdx", "rcx";
    "snprintf" => vsnprintf::recorded, 3, "rcx", "r8";
    "asprintf" => vasprintf::recorded, 2, "rdx", "rcx";
    "__printf_chk" => __vprintf_chk::recorded, 2, "rdx", "rcx";
    "__fprintf_chk" => __vfprintf_chk::recorded, 3, "rcx", "r8";
    "__dprintf_chk" => __vdprintf_chk::recorded, 3, "rcx", "r8";
    "__sprintf_chk" => __vsprintf_chk::recorded, 4, "r8", "r9";
    "__snprintf_chk" => __vsnprintf_chk::recorded, 5, "r9", "[rsp]";
    "__asprintf_chk" => __vasprintf_chk::recorded, 3, "rcx", "r8";
}
