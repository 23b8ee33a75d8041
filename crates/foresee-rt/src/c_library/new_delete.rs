//! C++'s `new` and `delete`: so that a block is known by the line that asks for it, and not by the C++ library, which would call
//! `malloc` for it.
//!
//! A program may have its own `new` and `delete`, and they need not be all: as in the C++ library, arrays come from `new`, and
//! `delete` with a size goes to `delete` without. So only the basic ones are defined here, the others jump to them, and all
//! names are weak. Where there is no memory, `new` has handlers to call and an exception to throw: the C++ library is
//! jumped to, as if it had been called in the first place.

use foresee_format::Tag;
use libc::{c_void, size_t};

use crate::entry_points::weak_entries;
use crate::real_functions::{Real, real_free, real_malloc, real_memalign};
use crate::recorder::blocks::{begins, ends_as};

/// A new block, or else the function that is to be called instead.
#[repr(C)]
struct Given {
    block: *mut c_void,
    otherwise: *const c_void,
}

impl Given {
    fn new(block: *mut c_void, pc: u64, real: &Real) -> Given {
        let otherwise = if block.is_null() { real.address() } else { std::ptr::null_mut() };
        Given { block: begins(block, pc), otherwise }
    }
}

extern "C-unwind" fn allocate(size: size_t, pc: u64) -> Given {
    static REAL: Real = Real::new(c"_Znwm");
    // SAFETY: `malloc` takes any size.
    Given::new(unsafe { real_malloc(size.max(1)) }, pc, &REAL)
}

extern "C-unwind" fn allocate_aligned(size: size_t, align: size_t, pc: u64) -> Given {
    static REAL: Real = Real::new(c"_ZnwmSt11align_val_t");
    // SAFETY: `memalign` takes any size, and the alignment of a type: a power of two.
    Given::new(unsafe { real_memalign(align, size.max(1)) }, pc, &REAL)
}

extern "C-unwind" fn allocate_or_null(size: size_t, _nothrow: *const c_void, pc: u64) -> Given {
    static REAL: Real = Real::new(c"_ZnwmRKSt9nothrow_t");
    // The program's own `new` is to be called by the C++ library. Compilers take two names for two functions.
    let named = std::hint::black_box(_Znwm as *const ());
    let is_own = !std::ptr::eq(named, foresee_new as *const ());
    // SAFETY: `malloc` takes any size.
    let block = if is_own { std::ptr::null_mut() } else { unsafe { real_malloc(size.max(1)) } };
    Given::new(block, pc, &REAL)
}

extern "C-unwind" fn delete(block: *mut c_void, pc: u64) {
    ends_as(Tag::Free, block, pc);
    // SAFETY: the program may only delete what `new` gave it, here by `malloc` or `memalign`, and no longer uses it.
    unsafe { real_free(block) }
}

unsafe extern "C" {
    fn _Znwm();
    /// What `_Znwm` is, unless the program has its own.
    fn foresee_new();
}

/// Defines forms of `new`: `symbol, other name => function, "register of the argument after its own"`.
macro_rules! allocations {
    ($($symbol:literal, $other:literal => $function:path, $register:literal;)*) => {
        $(core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", $symbol),
            concat!(".type ", $symbol, ", @function"),
            concat!(".globl ", $other),
            concat!(".hidden ", $other),
            concat!($other, ":"),
            concat!($symbol, ":"),
            ".cfi_startproc",
            "push rdi",
            "push rsi",
            "push rdx",
            ".cfi_adjust_cfa_offset 24",
            concat!("mov ", $register, ", [rsp + 24]"),
            "call {}",
            "mov rcx, rdx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            ".cfi_adjust_cfa_offset -24",
            "test rax, rax",
            "jz 2f",
            "ret",
            "2: jmp rcx",
            ".cfi_endproc",
            ".popsection",
            sym $function
        );)*
    };
}

/// Defines forms that are the same as another one.
macro_rules! same {
    ($($symbol:literal => $other:literal;)*) => {
        $(core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", $symbol),
            concat!(".type ", $symbol, ", @function"),
            concat!($symbol, ":"),
            concat!("jmp ", $other, "@PLT"),
            ".popsection",
        );)*
    };
}

allocations! {
    "_Znwm", "foresee_new" => allocate, "rsi";
    "_ZnwmSt11align_val_t", "foresee_new_aligned" => allocate_aligned, "rdx";
    "_ZnwmRKSt9nothrow_t", "foresee_new_or_null" => allocate_or_null, "rdx";
}

weak_entries! {
    "_ZdlPv" => delete, "rsi";
    "_ZdlPvSt11align_val_t" => delete, "rsi";
}

same! {
    "_Znam" => "_Znwm";
    "_ZnamSt11align_val_t" => "_ZnwmSt11align_val_t";
    "_ZdlPvm" => "_ZdlPv";
    "_ZdlPvRKSt9nothrow_t" => "_ZdlPv";
    "_ZdaPv" => "_ZdlPv";
    "_ZdaPvm" => "_ZdaPv";
    "_ZdaPvRKSt9nothrow_t" => "_ZdaPv";
    "_ZdlPvmSt11align_val_t" => "_ZdlPvSt11align_val_t";
    "_ZdaPvSt11align_val_t" => "_ZdlPvSt11align_val_t";
    "_ZdaPvmSt11align_val_t" => "_ZdaPvSt11align_val_t";
}
