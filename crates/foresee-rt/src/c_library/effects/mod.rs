//! What functions of the C library read and write through the pointers that they are given.
//!
//! The C library is not instrumented: without its accesses a trace shows a buffer that nobody filled, and a decision that rests on
//! nothing. So each function that instrumented code calls is recorded as accesses to the bytes that it must touch: reads before
//! the call, writes after it, as far as the result says. The files of this module are tables of such functions, one row each:
//!
//! ```text
//! name(arguments) -> result, within order, before [accesses], after |result| [accesses];
//! ```
//!
//! What stands behind `within`, if anything, is how the call orders threads: a stream is used (`streams`), a name is looked up (`names`).
//! That is recorded whoever calls; accesses are if instrumented code does.
//!
//! A row makes a weak function of that name, as a program may have one of its own, which forwards its arguments to the real one.
//! Functions that order threads by other means (`read`, `pthread_…`) are elsewhere, as are the few that compilers need most (`copies`,
//! `strings`). What is left out, and why, is in `tests/headers/left_out.txt`; a test holds the headers of the C library against both.
//!
//! Costs a call that is recorded one record for each range; nothing else changes for accesses of the program itself.

mod formats;
mod fortified;
mod numbers;
mod orders;
mod paths;
mod printed;
mod scanned;
mod streams;
mod system;
mod table;
mod text;
mod time_zone;
mod values;

pub(super) use table::uses_stream;
