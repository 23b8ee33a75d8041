//! Where control flow goes: a record at the beginning of each basic block, in programs that are built to tell it.
//!
//! Compilers call `__sanitizer_cov_trace_pc` there (`-fsanitize-coverage=trace-pc`). Whether the *program* was built so is said by a symbol
//! that the command which links it defines: then the trace has the fact `branches` from its beginning on. What a
//! reader makes of the records, and of code that has none, is in `foresee_trace::raw`'s `branches`.
//!
//! Most blocks come after another in which nothing was recorded: these cost a load and a comparison.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};

use crate::buffer::{always, branched_at_once};

static ARE_TOLD: AtomicBool = AtomicBool::new(false);

/// Asks whether the program tells its branches.
pub(crate) fn start() {
    ARE_TOLD.store(symbol() != 0, SeqCst);
}

/// Whether the program tells its branches.
pub(crate) fn are_told() -> bool {
    ARE_TOLD.load(Relaxed)
}

/// The symbol's value, or 0 without it. (Stable Rust has no weak linkage but in assembler.)
#[unsafe(naked)]
extern "C" fn symbol() -> u64 {
    core::arch::naked_asm!(
        ".weak __foresee_branches",
        "mov rax, qword ptr [rip + __foresee_branches@GOTPCREL]",
        "ret",
    )
}

/// The thread goes on at another place than what it did last would let one think: a jump that no compiler has seen.
pub(crate) fn jumped() {
    if are_told() {
        always(|local| local.branched());
    }
}

#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_trace_pc() {
    if are_told() && !branched_at_once() {
        any_branch();
    }
}

#[inline(never)]
extern "C" fn any_branch() {
    always(|local| local.branched());
}
