//! Where control flow goes: a record at the beginning of each basic block, in programs that are built for it.
//!
//! Compilers call `__sanitizer_cov_trace_pc` there (`compiler::coverage`). Whether the *program* was built so is known from a symbol
//! that the command which links it defines: then the trace has the flag `HAS_BRANCHES` from its beginning on. What a
//! reader makes of the records, and of code that has none, is in `foresee_trace`, `raw/branches.rs`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};

use super::thread::always;

static ARE_RECORDED: AtomicBool = AtomicBool::new(false);

/// Finds out whether the program is built to record its branches.
pub(crate) fn start() {
    ARE_RECORDED.store(symbol() != 0, SeqCst);
}

/// Whether the program records its branches.
#[inline(always)]
pub(crate) fn are_recorded() -> bool {
    ARE_RECORDED.load(Relaxed)
}

/// The symbol's value, or 0 without it. (Stable Rust has no weak linkage but in assembler.)
#[unsafe(naked)]
extern "C-unwind" fn symbol() -> u64 {
    core::arch::naked_asm!(
        ".weak __foresee_branches",
        "mov rax, qword ptr [rip + __foresee_branches@GOTPCREL]",
        "ret",
    )
}

/// The thread goes on elsewhere than its last record suggests: a jump that no compiler has seen.
pub(crate) fn jumped() {
    if are_recorded() {
        always(|local| local.block_begins());
    }
}
