//! What program files say about recorded programs.
//!
//! A raw trace has addresses. What they mean stands in the files that the program was loaded from: names, lines and inlining in
//! debug information and symbol tables, and more in the machine code itself.
//!
//! | module | holds |
//! |---|---|
//! | [`image`] | one program or library file, read once |
//! | [`file_symbols`] | from addresses of a run to names and lines: the [`Symbolizer`](foresee_trace::raw::Symbolizer) of raw traces |
//! | [`prebuilt`] | which code came with the toolchain, without instrumentation |
//! | [`instructions`] | which calls always get the same address |
//! | `blind` | which code ran that the trace does not show |
//! | [`recorded_code`] | from patterns of function names to the table of code that is recorded |
//! | [`calls`] | from functions that properties name to where the runtime takes notice of their calls |
//! | `debug_info` | finding one's way in debug information |
//! | `static_parts` | fields and elements of statics |
//! | [`watched_statics`] | from names of statics to what the runtime watches |
//! | [`open`](open()) | any trace from a path, raw ones with symbols |

mod blind;
mod by_address;
pub mod calls;
mod debug_info;
pub mod demangle;
pub mod file_symbols;
pub mod image;
pub mod instructions;
pub mod pattern;
pub mod prebuilt;
pub mod recorded_code;
mod static_parts;
mod texts;
mod types;
pub mod watched_statics;

pub use blind::{BlindPlace, CLOCK_VARIABLE, Effect, best_clock, blind_code, joined, may_order_unseen};
pub use file_symbols::FileSymbols;
use foresee_trace::raw::LockTable;
use foresee_trace::{EventSource, TraceError};
pub use image::{Elf, Image, ImageError};
pub use static_parts::PartError;

/// Opens a trace of any format; a raw one gets the symbols of the program files it names.
///
/// # Errors
/// Those of [`foresee_trace::open`].
pub fn open(path: &std::path::Path) -> Result<Box<dyn EventSource>, TraceError> {
    foresee_trace::open_with(path, Box::new(FileSymbols::default()), LockTable::default())
}
