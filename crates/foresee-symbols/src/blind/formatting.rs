//! What is formatted by code that records nothing.
//!
//! Rust's library formats each argument by a function that it is given the address of, alone (`format!`) or in a table of methods
//! (`{:?}` of a structure with fields). The table of effects says that the library's own part does nothing that others could notice; the functions for
//! numbers and texts are recorded by the runtime, those of the program by themselves. The rest comes compiled with the library
//! (`{}` of an `IpAddr`): then the program is blind where it takes the address. That is where the argument is borrowed, and nobody may change it until
//! it has been read.

use iced_x86::Instruction;

use super::callee::taken_address;
use super::file_code::{Callee, FileCode};

/// In the names of functions that format.
const FORMATS: &str = " as core::fmt::";
/// Before its methods, a table has what drops a value, its size and its alignment.
const FIRST_METHOD: u64 = 24;
const SLOT: u64 = 8;

/// The functions that format whose addresses an instruction takes.
pub(super) fn formatters(code: &FileCode, one: &Instruction) -> Vec<u64> {
    let Some(address) = taken_address(code, one) else { return Vec::new() };
    let taken = if code.is_start(address) { vec![address] } else { methods(code, address) };
    let formats =
        |address: &u64| code.function_at(*address).is_some_and(|start| code.name(start).contains(FORMATS));
    taken.into_iter().filter(formats).collect()
}

/// The methods of a table at this address, if there is one.
fn methods(code: &FileCode, table: u64) -> Vec<u64> {
    if !code.is_constant(table) {
        return Vec::new();
    }
    let slots = (0..).map_while(|at: u64| table.checked_add(FIRST_METHOD + SLOT * at));
    let methods = slots.map_while(|slot| match code.slot(slot) {
        Callee::Here(address) if code.is_start(address) => Some(address),
        _ => None,
    });
    methods.collect()
}
