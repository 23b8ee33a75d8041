//! Entry points that know who called them.
//!
//! The ABI does not pass the program counter; it is the return address. Rust has no way to ask for it, so every entry
//! point is a stub of two instructions that passes it as one more argument and jumps on. The stub leaves the stack as it
//! is, so unwinding passes through as if it were not there.

use std::ffi::{CStr, c_char, c_void};

use crate::linked;

/// Defines exported entry points: `name => function, "register of the argument after its own"`.
///
/// SAFETY of each use: the register is that of the System V argument position after the last one of the C signature, and
/// the function takes the C arguments and then the return address.
macro_rules! entries {
    ($($name:ident => $function:path, $register:literal;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name() {
                core::arch::naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $function)
            }
        )*
    };
}
pub(crate) use entries;

/// As [`entries!`], for what does nothing at all unless events are recorded: then the stub itself returns. Programs call these for
/// every access, and most of their runs are not recorded.
macro_rules! entries_if_recording {
    ($($name:ident => $function:path, $register:literal;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    "cmp byte ptr [rip + {status}], {off}",
                    "je 2f",
                    concat!("mov ", $register, ", [rsp]"),
                    "jmp {function}",
                    "2: ret",
                    status = sym $crate::recorder::status::OWN_PAGE,
                    off = const $crate::recorder::status::OFF,
                    function = sym $function
                )
            }
        )*
    };
}
pub(crate) use entries_if_recording;

/// The same for accesses: `name => function if all are recorded just as they come, function otherwise;`
macro_rules! access_entries {
    ($($name:ident => $alike:path, $function:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    "cmp byte ptr [rip + {status}], {alike}",
                    "jb 3f",
                    "jne 2f",
                    "mov rsi, [rsp]",
                    "jmp {when_alike}",
                    "2: mov rsi, [rsp]",
                    "jmp {function}",
                    "3: ret",
                    status = sym $crate::recorder::status::OWN_PAGE,
                    alike = const $crate::recorder::status::ALL_ALIKE,
                    when_alike = sym $alike,
                    function = sym $function
                )
            }
        )*
    };
}
pub(crate) use access_entries;

/// Puts the entry point at the label before it on the list that [`of_name`] looks at.
macro_rules! listed {
    ($name:expr) => {
        concat!(
            ".pushsection foresee_entries, \"awR\", @progbits\n",
            ".balign 8\n",
            ".quad 70b, 71f\n",
            ".popsection\n",
            ".pushsection .rodata\n",
            "71: .asciz \"",
            $name,
            "\"\n",
            ".popsection"
        )
    };
}
pub(crate) use listed;

unsafe extern "C" {
    /// All that [`listed!`] lists, from the first to behind the last; the linker defines these names.
    #[link_name = "__start_foresee_entries"]
    static FIRST: u8;
    #[link_name = "__stop_foresee_entries"]
    static LAST: u8;
}

/// One of them: the code, and its name.
#[repr(C)]
struct Listed {
    entry: usize,
    name: usize,
}

/// The weak entry point of this name, even if the program has a function of its own instead.
pub(crate) fn of_name(name: &CStr) -> Option<*const c_void> {
    // SAFETY: that is what `listed!` lists; names end in a zero byte.
    let is_it = |one: &&Listed| unsafe { CStr::from_ptr(one.name as *const c_char) } == name;
    // SAFETY: as above.
    unsafe { linked::list::<Listed>(&raw const FIRST, &raw const LAST) }
        .find(is_it)
        .map(|one| one.entry as *const c_void)
}

/// As [`entries!`], for functions that a program may define itself, such as those of the C library.
macro_rules! weak_entries {
    ($($name:expr => $function:path, $register:expr;)*) => {
        $(core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "70:",
            concat!("mov ", $register, ", [rsp]"),
            "jmp {}",
            ".popsection",
            $crate::entry_points::listed!($name),
            sym $function
        );)*
    };
}
pub(crate) use weak_entries;

/// The same for functions whose six arguments fill all registers: the return address is their seventh, on the stack.
///
/// SAFETY of each use: the function takes six arguments in registers, and then the return address.
macro_rules! weak_entries_of_six {
    ($($name:expr => $function:path;)*) => {
        $(core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "70:",
            ".cfi_startproc",
            // Room for the jump of a hook (`calls`).
            ".byte 0x0f, 0x1f, 0x44, 0, 0",
            "push [rsp]",
            ".cfi_adjust_cfa_offset 8",
            "call {}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            ".popsection",
            $crate::entry_points::listed!($name),
            sym $function
        );)*
    };
}
pub(crate) use weak_entries_of_six;

/// Weak entry points of functions with a variable number of arguments, as the compiler would begin such a function: all registers that may
/// hold arguments are saved, and the function gets the fixed arguments, the address of a `va_list` for the others, and the
/// return address. `name => function, fixed arguments, "where the list goes", "where the return address goes";`
///
/// SAFETY of each use: the places are those of the System V arguments after the fixed ones, and the function takes these arguments.
macro_rules! variadic_entries {
    ($($name:literal => $function:path, $fixed:literal, $list:literal, $return:literal;)*) => {
        $(core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "70:",
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            // From the top: the saved registers (176 bytes), the list (24), room for an argument on the stack.
            "sub rsp, 224",
            "mov [rsp + 48], rdi",
            "mov [rsp + 56], rsi",
            "mov [rsp + 64], rdx",
            "mov [rsp + 72], rcx",
            "mov [rsp + 80], r8",
            "mov [rsp + 88], r9",
            "test al, al",
            "je 2f",
            "movaps [rsp + 96], xmm0",
            "movaps [rsp + 112], xmm1",
            "movaps [rsp + 128], xmm2",
            "movaps [rsp + 144], xmm3",
            "movaps [rsp + 160], xmm4",
            "movaps [rsp + 176], xmm5",
            "movaps [rsp + 192], xmm6",
            "movaps [rsp + 208], xmm7",
            "2:",
            concat!("mov dword ptr [rsp + 16], 8 * ", $fixed),
            "mov dword ptr [rsp + 20], 48",
            "lea rax, [rbp + 16]",
            "mov [rsp + 24], rax",
            "lea rax, [rsp + 48]",
            "mov [rsp + 32], rax",
            concat!("lea ", $list, ", [rsp + 16]"),
            "mov rax, [rbp + 8]",
            concat!("mov ", $return, ", rax"),
            "call {}",
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            ".popsection",
            $crate::entry_points::listed!($name),
            sym $function
        );)*
    };
}
pub(crate) use variadic_entries;
