//! Calls of the recorder, if there is one.
//!
//! They go by trampolines of five instructions that jump on to the recorder's function. The trampoline refers to it *weakly*:
//! without the recorder the address is 0 and the call does nothing. (Stable Rust has no weak linkage but in assembler.)

/// A function that does what the recorder's function of this name does, or nothing.
macro_rules! weak {
    ($(#[$doc:meta])* $name:ident $(<$generic:ident>)? ($($type:ty),*) => $symbol:literal) => {
        $(#[$doc])*
        // SAFETY: the arguments, all of them in registers, are passed on as they came and the stack is as it was, so
        // this is a call of the recorder's function, whose signature in C is the same.
        #[unsafe(naked)]
        pub extern "C" fn $name $(<$generic>)? ($(_: $type),*) {
            core::arch::naked_asm!(
                concat!(".weak ", $symbol),
                concat!("mov rax, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                "test rax, rax",
                "je 2f",
                "jmp rax",
                "2:",
                "ret",
            )
        }
    };
}
