//! Where this thread's [`Local`] is, for the fast path.
//!
//! A library does not know whether it becomes part of the program or of a shared library, so the compiler asks for a thread-local by a
//! function, around which the fast path would have to save its arguments, even where the linker then finds that
//! no function is needed. So the address is noted in a thread-local of the *initial-exec* model, which takes two loads and no call. It
//! is noted with the thread's first chunk: without one, there is no fast path.

use std::arch::{asm, global_asm};

use super::local::Local;

global_asm!(
    ".pushsection .tbss.foresee_shortcut,\"awT\",@nobits",
    ".p2align 3",
    ".hidden foresee_shortcut",
    ".globl foresee_shortcut",
    ".size foresee_shortcut, 8",
    "foresee_shortcut:",
    ".zero 8",
    ".popsection"
);

/// This thread's, if it is noted.
#[inline(always)]
pub(super) fn noted<'a>() -> Option<&'a Local> {
    let at: *const Local;
    // SAFETY: reads eight bytes that every thread has, of which only `note` changes its own thread's.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + foresee_shortcut@GOTTPOFF]",
            "mov {at}, qword ptr fs:[{at}]",
            at = out(reg) at,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    // SAFETY: null, or this thread's, which lives as long as the thread that is here. It is changed through cells and atomics only.
    unsafe { at.as_ref() }
}

/// Notes it.
pub(super) fn note(local: &Local) {
    // SAFETY: writes eight bytes that only this thread uses.
    unsafe {
        asm!(
            "mov {to}, qword ptr [rip + foresee_shortcut@GOTTPOFF]",
            "mov qword ptr fs:[{to}], {local}",
            to = out(reg) _,
            local = in(reg) std::ptr::from_ref(local),
            options(nostack, preserves_flags)
        );
    }
}
