//! From functions that properties name, with parameters or results, to a table of hooks for the runtime.
//!
//! The program is not changed and not built in a special way: before it runs, its file is asked where each of the functions is
//! entered and left, and where its arguments are then; the runtime puts jumps there (`foresee_format` has the table). A program of which
//! nothing is asked has none.
//!
//! | module | holds |
//! |---|---|
//! | `wanted`, `refusal` | what is asked for, and why it is not to be had |
//! | `program` | the program's file |
//! | `own` | functions of the program itself |
//! | `functions` | these functions, their parameters and locations, from debug information |
//! | `fields` | fields of the objects that arguments and results point to |
//! | `places` | where arguments are at the first instruction |
//! | `code`, `hooks` | where jumps can be put into machine code |
//! | `variants` | constructors and destructors of C++, of which there are several |
//! | `thunks` | code of virtual functions of C++ that is in their thunks |
//! | `library`, `prototypes` | functions of libraries |
//! | `table` | the table, as the runtime reads it |
//!
//! **Exact or refused**: a value that is recorded is the one that the function was called with, or that it returned, and each call is
//! recorded. So functions are refused that were inlined anywhere, of which the compiler has made versions, or that share their code;
//! parameters that are not passed; results that may have been removed; and code in which there is no room.

mod code;
mod fields;
mod functions;
mod hooks;
mod library;
mod own;
mod places;
mod program;
mod prototypes;
mod refusal;
mod table;
mod thunks;
mod variants;
mod wanted;

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;

use foresee_format::CALLS_MAGIC;
use foresee_trace::FunctionPattern;
use gimli::{EndianSlice, LittleEndian};

use self::functions::Functions;
use self::library::AskedLibrary;
use self::own::{Asked, ask, meant};
use self::program::Program;
pub use self::refusal::{CallError, Refusal};
pub use self::wanted::{Parameter, Use, Values, WantedCall};
use crate::debug_info::{self, Debug};
use crate::image::{Image, dwarf_sections};

/// The variable by which the runtime finds the table.
pub const VARIABLE: &str = "FORESEE_CALLS";
/// The variable by which the runtime knows what is recorded by the table, for the trace: [`WantedCall::lines`].
pub const RECORDED_VARIABLE: &str = "FORESEE_CALLS_OF";
/// The variable by which it knows, likewise, of which functions calls may be missing: a line for each with the reason, and its name behind a tab.
pub const SOME_VARIABLE: &str = "FORESEE_SOME_CALLS_OF";

/// The functions of libraries whose calls can be recorded with values.
pub fn library_functions() -> impl Iterator<Item = &'static str> {
    prototypes::names()
}

/// What is recorded at a hook, for who wants to know beforehand.
#[derive(Clone, Debug)]
pub struct HookedCall {
    /// The function.
    pub function: String,
    /// Whether it is where the function returns; then the result comes first.
    pub returns: bool,
    /// Which parameters are recorded, as a text of the trace.
    pub parameters: String,
}

/// The hooks of a program.
#[derive(Clone, Debug)]
pub struct CallTable {
    /// As the runtime reads them.
    pub bytes: Vec<u8>,
    /// What is recorded at each, by number.
    pub hooks: Vec<HookedCall>,
}

/// Those of these very names that functions of a program have, each with the address that its file says.
pub fn addresses<'n>(image: &Image, names: &BTreeSet<&'n str>) -> Result<Vec<(&'n str, u64)>, CallError> {
    let program = Program::read(image)?;
    let address = |name: &'n str| {
        let found = program.symbols.iter().find(|(_, symbol, _)| symbol == name);
        found.map(|(address, ..)| (name, *address))
    };
    Ok(names.iter().filter_map(|name| address(name)).collect())
}

/// The table for a program; `None` if it calls none of the functions.
pub fn table(image: &Image, wanted: &[WantedCall]) -> Result<Option<CallTable>, CallError> {
    let program = Program::read(image)?;
    let file = image.elf()?;
    let sections = dwarf_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let units = debug_info::units(&dwarf)?;
    let debug = Debug { dwarf: &dwarf, units: &units };
    let patterns: Vec<FunctionPattern> =
        wanted.iter().flat_map(|one| &one.functions).map(|name| FunctionPattern::new(name)).collect();
    let functions = Functions::find(&debug, &program::mangled(&file), &patterns)?;
    let mut asked: Vec<Asked<'_>> = Vec::new();
    let mut of_libraries: Vec<AskedLibrary> = Vec::new();
    for one in wanted {
        ask(one, &debug, &functions, &mut asked, &mut of_libraries)
            .map_err(|why| CallError::Refused { by: one.by.clone(), why: program.explained(why) })?;
    }
    let mut hooks = Vec::new();
    for one in &of_libraries {
        one.hooks(&program, &file, &mut hooks)
            .map_err(|why| CallError::Refused { by: one.by.clone(), why })?;
    }
    for one in &asked {
        program
            .hooks(&debug, one, &asked, &mut hooks)
            .map_err(|why| CallError::Refused { by: one.by.to_owned(), why })?;
    }
    let about = image.metadata();
    let header = [CALLS_MAGIC, about.dev(), about.ino(), hooks.len() as u64];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    hooks.iter().for_each(|hook| hook.write(&mut bytes));
    let hooked = |hook: table::TableHook| {
        let table::TableHook { name: function, returns, parameters, .. } = hook;
        HookedCall { function, returns, parameters }
    };
    let hooks: Vec<HookedCall> = hooks.into_iter().map(hooked).collect();
    Ok((!hooks.is_empty()).then_some(CallTable { bytes, hooks }))
}

/// Those of the functions that a program does not have: one of several programs need not have them all.
pub fn missing(image: &Image, wanted: &[WantedCall]) -> Result<Vec<String>, CallError> {
    let file = image.elf()?;
    let sections = dwarf_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let units = debug_info::units(&dwarf)?;
    let names: Vec<&String> = wanted.iter().flat_map(|one| &one.functions).collect();
    let patterns: Vec<FunctionPattern> = names.iter().map(|name| FunctionPattern::new(name)).collect();
    let debug = Debug { dwarf: &dwarf, units: &units };
    let functions = Functions::find(&debug, &program::mangled(&file), &patterns)?;
    let is_missing = |name: &&String| {
        let is_none =
            |refusal: &Refusal| matches!(refusal, Refusal::NoFunction { .. } | Refusal::Otherwise { .. });
        prototypes::find(name).is_none() && meant(name, &functions).is_err_and(|why| is_none(&why))
    };
    let mut missing: Vec<String> = names.into_iter().filter(is_missing).cloned().collect();
    missing.sort_unstable();
    missing.dedup();
    Ok(missing)
}
