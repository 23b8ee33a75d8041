//! Formatted input: `scanf` and the like. They write to their arguments, as many as they say.

use libc::{FILE, c_int, wchar_t};

use super::formats::{List, Scanned};
use super::table::*;
use crate::c_library::streams::{reading, standard_input};
use crate::entry_points::variadic_entries;
use crate::real_functions::{Real, call_real};

effects! {
    vscanf(format: Text, list: List) -> c_int, within reading(standard_input()), before [reads_text(format)], after |n| [Scanned(format, list, n)];
    vfscanf(stream: *mut FILE, format: Text, list: List) -> c_int, within reading(stream),
        before [reads_text(format)], after |n| [Scanned(format, list, n)];
    vsscanf(text: Text, format: Text, list: List) -> c_int,
        before [reads_text(text), reads_text(format)], after |n| [Scanned(format, list, n)];
    __isoc99_vscanf(format: Text, list: List) -> c_int, within reading(standard_input()),
        before [reads_text(format)], after |n| [Scanned(format, list, n)];
    __isoc99_vfscanf(stream: *mut FILE, format: Text, list: List) -> c_int, within reading(stream),
        before [reads_text(format)], after |n| [Scanned(format, list, n)];
    __isoc99_vsscanf(text: Text, format: Text, list: List) -> c_int,
        before [reads_text(text), reads_text(format)], after |n| [Scanned(format, list, n)];
    __isoc23_vscanf(format: Text, list: List) -> c_int, within reading(standard_input()),
        before [reads_text(format)], after |n| [Scanned(format, list, n)];
    __isoc23_vfscanf(stream: *mut FILE, format: Text, list: List) -> c_int, within reading(stream),
        before [reads_text(format)], after |n| [Scanned(format, list, n)];
    __isoc23_vsscanf(text: Text, format: Text, list: List) -> c_int,
        before [reads_text(text), reads_text(format)], after |n| [Scanned(format, list, n)];
    // Formats of wide characters are not understood here.
    vwscanf(format: *const wchar_t, list: List) -> c_int, within reading(standard_input()).unseen(), before [], after |_| [];
    vfwscanf(stream: *mut FILE, format: *const wchar_t, list: List) -> c_int, within reading(stream).unseen(), before [], after |_| [];
    __isoc99_vwscanf(format: *const wchar_t, list: List) -> c_int, within reading(standard_input()).unseen(), before [], after |_| [];
    __isoc99_vfwscanf(stream: *mut FILE, format: *const wchar_t, list: List) -> c_int, within reading(stream).unseen(),
        before [], after |_| [];
}

variadic_entries! {
    "wscanf" => vwscanf::recorded, 1, "rsi", "rdx";
    "fwscanf" => vfwscanf::recorded, 2, "rdx", "rcx";
    "__isoc99_wscanf" => __isoc99_vwscanf::recorded, 1, "rsi", "rdx";
    "__isoc99_fwscanf" => __isoc99_vfwscanf::recorded, 2, "rdx", "rcx";
    "scanf" => vscanf::recorded, 1, "rsi", "rdx";
    "fscanf" => vfscanf::recorded, 2, "rdx", "rcx";
    "sscanf" => vsscanf::recorded, 2, "rdx", "rcx";
    "__isoc99_scanf" => __isoc99_vscanf::recorded, 1, "rsi", "rdx";
    "__isoc99_fscanf" => __isoc99_vfscanf::recorded, 2, "rdx", "rcx";
    "__isoc99_sscanf" => __isoc99_vsscanf::recorded, 2, "rdx", "rcx";
    "__isoc23_scanf" => __isoc23_vscanf::recorded, 1, "rsi", "rdx";
    "__isoc23_fscanf" => __isoc23_vfscanf::recorded, 2, "rdx", "rcx";
    "__isoc23_sscanf" => __isoc23_vsscanf::recorded, 2, "rdx", "rcx";
}
