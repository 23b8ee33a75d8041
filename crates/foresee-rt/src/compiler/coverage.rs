//! The coverage callback, which compilers call at the beginning of each basic block (`-fsanitize-coverage=trace-pc`).
//!
//! Most blocks come after another in which nothing was recorded: these cost a load and a comparison.

use crate::recorder::branches;
use crate::recorder::thread::{always, block_begins_at_once};

#[unsafe(no_mangle)]
extern "C-unwind" fn __sanitizer_cov_trace_pc() {
    if branches::are_recorded() && !block_begins_at_once() {
        any_block();
    }
}

#[inline(never)]
extern "C-unwind" fn any_block() {
    always(|local| local.block_begins());
}
