//! Entry points that know who called them.
//!
//! The ABI does not pass the program counter; it is the return address. Rust has no way to ask for it, so every entry
//! point is a stub of two instructions that passes it as one more argument and jumps on. The stub leaves the stack as it
//! is, so unwinding passes through as if it were not there.

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

/// The same for functions whose six arguments fill all registers: the return address is their seventh, on the stack.
///
/// SAFETY of each use: the function takes six arguments in registers, and then the return address.
macro_rules! entries_of_six {
    ($($name:ident => $function:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "push [rsp]",
                    ".cfi_adjust_cfa_offset 8",
                    "call {}",
                    "add rsp, 8",
                    ".cfi_adjust_cfa_offset -8",
                    "ret",
                    ".cfi_endproc",
                    sym $function
                )
            }
        )*
    };
}
pub(crate) use entries_of_six;

/// As [`entries!`], for functions that a program may define itself.
macro_rules! weak_entries {
    ($($name:literal => $function:path, $register:literal;)*) => {
        $(core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            concat!("mov ", $register, ", [rsp]"),
            "jmp {}",
            ".popsection",
            sym $function
        );)*
    };
}
pub(crate) use weak_entries;

/// As [`entries_of_six!`], for functions that a program may define itself.
macro_rules! weak_entries_of_six {
    ($($name:literal => $function:path;)*) => {
        $(core::arch::global_asm!(
            ".pushsection .text",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "push [rsp]",
            ".cfi_adjust_cfa_offset 8",
            "call {}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            ".popsection",
            sym $function
        );)*
    };
}
pub(crate) use weak_entries_of_six;
