//! Numbers from texts: `strtol`, `atoi` and the like.
//!
//! How far a text is read is known from where the number ends, so the real function is always asked for that, even where the program
//! is not interested. `atoi` is `strtol` in base ten, by the standard.

use std::ffi::{c_int, c_long, c_longlong, c_ulong, c_ulonglong, c_void};

use super::numbers::goes_on_after_note;
use super::table::*;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real, listed};

/// Has a number read; `real` gets the address at which to say where it ends.
fn reads_number<N>(text: Text, end: *mut Text, pc: u64, real: impl FnOnce(*mut Text) -> N) -> N {
    // It stays null if the base makes no sense: then nothing is read.
    let mut stop = std::ptr::null();
    let number = real(&mut stop);
    if !end.is_null() && !stop.is_null() {
        // SAFETY: the program passes the address of a pointer for the end.
        unsafe { *end = stop };
    }
    if !stop.is_null() && counts(pc) {
        reads(text, offset(stop, text) + 1).record(pc);
        writes_object(end, true).record(pc);
    }
    number
}

/// Functions `name(text, end, base) -> number`, and `name(text)` that are the same in base ten.
macro_rules! integers {
    ($($name:ident $(, $short:ident as $small:ty)*: $number:ty;)*) => {
        $(mod $name {
            use super::*;

            static REAL: Real = Real::new(c_name(concat!(stringify!($name), "\0")));

            extern "C-unwind" fn recorded(text: Text, end: *mut Text, base: c_int, pc: u64) -> $number {
                // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
                reads_number(text, end, pc, |end| unsafe {
                    call_real!(REAL, (Text, *mut Text, c_int) -> $number, text, end, base)
                })
            }

            weak_entries! {
                stringify!($name) => recorded, "rcx";
            }

            $(mod $short {
                use super::*;

                extern "C-unwind" fn in_base_ten(text: Text, pc: u64) -> $small {
                    recorded(text, std::ptr::null_mut(), 10, pc) as $small
                }

                weak_entries! {
                    stringify!($short) => in_base_ten, "rsi";
                }
            })*
        })*
    };
}

/// Functions `name(text, end) -> number`.
macro_rules! floats {
    ($($name:ident: $number:ty;)*) => {
        $(mod $name {
            use super::*;

            pub(super) static REAL: Real = Real::new(c_name(concat!(stringify!($name), "\0")));

            pub(super) extern "C-unwind" fn recorded(text: Text, end: *mut Text, pc: u64) -> $number {
                // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
                reads_number(text, end, pc, |end| unsafe {
                    call_real!(REAL, (Text, *mut Text) -> $number, text, end)
                })
            }

            weak_entries! {
                stringify!($name) => recorded, "rdx";
            }
        })*
    };
}

integers! {
    strtol, atoi as c_int, atol as c_long: c_long;
    strtoll, atoll as c_longlong: c_longlong;
    strtoul: c_ulong;
    strtoull: c_ulonglong;
    strtoq: c_longlong;
    strtouq: c_ulonglong;
    strtoimax: i64;
    strtoumax: u64;
    __isoc23_strtol: c_long;
    __isoc23_strtoll: c_longlong;
    __isoc23_strtoul: c_ulong;
    __isoc23_strtoull: c_ulonglong;
    __isoc23_strtoimax: i64;
    __isoc23_strtoumax: u64;
}

floats! {
    strtof: f32;
    strtod: f64;
}

extern "C-unwind" fn read_float(text: Text, pc: u64) -> f64 {
    strtod::recorded(text, std::ptr::null_mut(), pc)
}

weak_entries! {
    "atof" => read_float, "rsi";
}

/// Rust has no such number. Where it ends is what `strtod` says, too; the rest is left to the real function.
extern "C-unwind" fn note_long_float(text: Text, end: *mut Text, pc: u64) -> *mut c_void {
    static REAL: Real = Real::new(c"strtold");
    if counts(pc) {
        // SAFETY: `errno` is this thread's own; it is put back, as the number may have no room in a shorter one. The function is given the
        // caller's own text and the address of a pointer.
        let stop = unsafe {
            let errno = *libc::__errno_location();
            let mut stop = std::ptr::null();
            call_real!(strtod::REAL, (Text, *mut Text) -> f64, text, &mut stop);
            *libc::__errno_location() = errno;
            stop
        };
        reads(text, offset(stop, text) + 1).record(pc);
        writes_object(end, true).record(pc);
    }
    // SAFETY: lists, and does nothing else.
    unsafe { listed!(REAL) };
    REAL.address()
}

goes_on_after_note!(strtold, note_long_float);
