//! Raw traces: what the runtime leaves behind when the recorded program ends, however it ends.
//!
//! [`foresee_format`] describes the file. [`RawReader`] turns it into events: it merges the threads by their keys
//! (the runtime's documentation argues why that is an order the program really had), finds the names of threads, locks, code and
//! data with a [`Symbolizer`], and so gives what every other part of foresee works on. A raw trace is meant to be packed
//! soon: its program counters mean something only as long as the program's files are there unchanged.
//!
//! **Damage.** Nothing in the file is trusted. A chunk or record that cannot be is where reading stops, with the events before
//! it delivered; records from there on in any thread's order may depend on what is lost.

mod continuation;
mod following;
mod gaps;
mod interpreting;
mod libraries;
mod lock_table;
mod meetings;
mod merging;
mod modules;
mod raw_files;
mod reader;
mod symbols;
mod ties;
mod unseen_writes;

pub use foresee_format::{CALLS_OF, INITIAL_VALUE_OF, PROCESS, SOME_CALLS_OF, SYNC_SPACE, UNSIGNED};
pub use interpreting::is_lock_state;
pub use libraries::is_library_function;
pub use lock_table::{Hold, LockTable, Role, Success};
pub use merging::has_begun;
pub use modules::Module;
pub use raw_files::{is_side_file, join};
pub use reader::{RawReader, SEMAPHORE_IN_ORDER, VALUES_COMPARED};
pub use symbols::{
    BlindCode, Call, Code, DataSymbol, ForeignCode, NoSymbols, Orders, Origin, Position, Recording,
    SourceLocation, Symbolizer,
};

#[cfg(test)]
mod tests;
