//! Results that functions of the mathematical library write through pointers: `frexp`, `modf`, `sincos` and the like.
//!
//! Their other arguments are floating-point numbers, in vector registers or, if they are long, on the stack, and so are
//! their results. So an entry point notes what is written, with all of that as it was, and goes on in the real function. The write
//! is recorded before it is done: nothing that orders threads lies between.

use libc::c_void;

use super::table::*;
use crate::real_functions::{Real, listed};

/// Functions by their names, each with the sizes of what their first two pointers point to: what is written there.
macro_rules! outputs {
    ($($name:ident: $first:literal $second:literal;)*) => {
        $(mod $name {
            use super::*;

            static REAL: Real = Real::of_library(c_name(concat!(stringify!($name), "\0")), c"libm.so.6");

            /// Says where to go on.
            extern "C-unwind" fn note(first: Bytes, second: Bytes, pc: u64) -> *mut c_void {
                if counts(pc) {
                    writes(first, $first).record(pc);
                    if $second > 0 {
                        writes(second, $second).record(pc);
                    }
                }
                // SAFETY: lists, and does nothing else.
                unsafe { listed!(REAL) };
                REAL.address()
            }

            goes_on_after_note!($name, note);
        })*
    };
}

/// The entry point of a function that `note`, which is given two pointers and the return address, says where to find. Registers and
/// stack are then as they were.
macro_rules! goes_on_after_note {
    ($name:ident, $note:path) => {
        core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ", @function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            "sub rsp, 56",
            ".cfi_adjust_cfa_offset 56",
            "movups [rsp], xmm0",
            "movups [rsp + 16], xmm1",
            "mov [rsp + 32], rdi",
            "mov [rsp + 40], rsi",
            "mov rdx, [rsp + 56]",
            "call {}",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 16]",
            "mov rdi, [rsp + 32]",
            "mov rsi, [rsp + 40]",
            "add rsp, 56",
            ".cfi_adjust_cfa_offset -56",
            "jmp rax",
            ".cfi_endproc",
            ".popsection",
            sym $note
        );
    };
}
pub(super) use goes_on_after_note;

outputs! {
    frexp: 4 0;
    frexpf: 4 0;
    frexpl: 4 0;
    modf: 8 0;
    modff: 4 0;
    modfl: 10 0;
    remquo: 4 0;
    remquof: 4 0;
    remquol: 4 0;
    lgamma_r: 4 0;
    lgammaf_r: 4 0;
    lgammal_r: 4 0;
    sincos: 8 8;
    sincosf: 4 4;
    sincosl: 10 10;
}
