//! Raw traces: what the runtime leaves behind when the recorded program ends, however it ends.
//!
//! [`foresee_format`] describes the file. [`RawReader`] turns it into events: it merges the threads by their keys
//! (the runtime's documentation argues why that is an order the program really had), finds the names of threads, locks, code and
//! data with a [`Symbolizer`], and so gives what every other part of foresee works on. A raw trace is meant to be packed
//! soon: its program counters mean something only as long as the program's files are there unchanged.
//!
//! **Damage.** Nothing in the file is trusted. A chunk or record that cannot be is where reading stops, with the events before
//! it delivered; records from there on in any thread's order may depend on what is lost.

mod ahead;
mod annotations;
mod beginning;
mod branches;
mod chunks;
mod follow;
mod gaps;
mod merge;
mod modules;
mod naming;
mod operation;
mod plain;
mod quiet;
mod reader;
mod roles;
mod sections;
mod strangers;
mod stream;
mod values;
mod watched;

pub use branches::Call;
pub use modules::Module;
pub use naming::{Code, DataSymbol, NoSymbols, Origin, SourceLocation, Symbolizer};
pub use reader::RawReader;
pub use roles::{LockTable, Role, function_path, is_library_function};

#[cfg(test)]
mod tests;
