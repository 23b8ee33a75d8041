//! Blind code: what a thread ran between two of its events that the trace does not show.
//!
//! The machine code of the program says where a recording is blind, at no cost while it runs. Of each function that is built
//! with instrumentation, these things are not in the trace:
//!
//! * accesses that no call into the runtime announces ([`coverage`]): vectors, odd sizes, assembly, what a compiler forgets, also of what
//!   is in the frame and may be known to others ([`captured`], [`frame_variables`]);
//! * atomic instructions and system calls in the code itself: compilers make calls of the program's atomics;
//! * calls of functions without instrumentation ([`calls`], over [`callee`] and [`runtime_calls`]), except for those whose effects are known ([`effects`]) or seen to be
//!   none by decoding them. Formatting in Rust calls what it is given the address of ([`formatting`]).
//!
//! Two events of one call of a function have positions, and what may have run between them is on a path in the function's flow
//! ([`flow`], [`landing_pads`]) from the one to the other that passes no call which would have made an event ([`paths`]). That is precise: a function
//! with one blind instruction is blind only where a thread can have run it.
//!
//! The same analysis says which accesses need no record of their own ([`joined`]).
//!
//! **Cost.** Nothing while the program runs. A function is decoded when the first event in it is read, in time about linear in its
//! size; each pair of positions is worked out once.
//!
//! **What is trusted.** The symbol table: a function without symbol is unknown. The debug information of C and C++: what in a stack frame
//! is no structure or array that it names is the function's own, except where the compiler announces accesses to it. In Rust all of the frame is,
//! as its compiler announces whatever others may know. The thread's own memory is its own.

mod callee;
mod calls;
mod captured;
mod census;
mod coverage;
mod effects;
mod file_code;
mod flow;
mod formatting;
mod frame_variables;
pub mod joined;
mod landing_pads;
mod paths;
mod runtime_calls;
mod state;
mod unseen_orders;
mod values;

pub(crate) use self::calls::{FileId, ProgramCode};
pub use self::census::{BlindPlace, blind_code};
pub use self::effects::Effect;
pub(crate) use self::file_code::FileCode;
pub use self::unseen_orders::{CLOCK_VARIABLE, best_clock, may_order_unseen};
