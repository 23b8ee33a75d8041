//! From functions that properties name, with parameters or results, to a table of hooks for the runtime.
//!
//! The program is not changed and not built in a special way: before it runs, its file is asked where each of the functions is
//! entered and left, and where its arguments are then; the runtime puts jumps there (`foresee_format` has the table). A program of which
//! nothing is asked has none.
//!
//! | module | holds |
//! |---|---|
//! | `functions` | the functions, their parameters and locations, from debug information |
//! | `types` | what is read as what |
//! | `places` | where arguments are at the first instruction |
//! | `code`, `hooks` | where jumps can be put into machine code |
//! | `library`, `prototypes` | functions of libraries |
//!
//! **Exact or refused**: a value that is recorded is the one that the function was called with, or that it returned, and each call is
//! recorded. So functions are refused that were inlined anywhere, of which the compiler has made versions, or that share their code;
//! parameters that are not passed; results that may have been removed; and code in which there is no room.

mod code;
mod functions;
mod hooks;
mod library;
mod places;
mod prototypes;
mod types;

use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;

use foresee_format::{CALLS_MAGIC, HookKind, RETURNED, Saved, SavedArguments, ValueWord};
use foresee_trace::{FunctionPattern, function_path, nearest, perhaps};
use gimli::{EndianSlice, LittleEndian};
use iced_x86::Register;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolKind};

use self::code::{FunctionCode, ProgramCode};
use self::functions::{Function, Functions};
use self::hooks::{Hook, NoHook};
use self::library::AskedLibrary;
use self::places::{NoPlace, Place};
use self::types::Scalar;
use crate::debug_info::{self, Debug};
use crate::demangle::demangled;
use crate::image::{Image, ImageError, dwarf_sections};

/// The variable by which the runtime finds the table.
pub const VARIABLE: &str = "FORESEE_CALLS";

/// What the runtime's code is called that hooks lead to: a program without it has another runtime, or none.
const TRAMPOLINE: &str = "foresee_hook";
/// What instrumented functions call before they return.
const EXIT_CALL: &str = "__tsan_func_exit";
/// What stands for a parameter that is not recorded, and for one that has no name.
const NOT_RECORDED: &str = "_";
const NAMELESS: &str = "?";
/// What a receiver is called.
const RECEIVER: &str = "this";
const RUST_RECEIVER: &str = "self";

/// Values of functions that a property asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedCall {
    /// Who asks, for messages.
    pub by: String,
    /// The names of functions, by the rule for all names of functions.
    pub functions: Vec<String>,
    /// What is asked.
    pub values: Values,
}

/// What is asked of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// These of its arguments, whenever it is called.
    Arguments(Vec<Parameter>),
    /// These, whenever it returns: its result, and of functions of libraries also arguments.
    Returned(Vec<Parameter>),
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// By its position among those that the source declares, from 0.
    Position(u32),
    /// By its name; `this` is also Rust's `self`.
    Named(String),
    /// What is stored where the one of this name points, when the function returns.
    Stored(String),
    /// No parameter, but the result.
    Result,
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The program's file is of no use.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Its debug information is of no use.
    #[error("its debug information cannot be read: {0}")]
    Debug(#[from] gimli::Error),
    /// There is nothing in the program that could record calls.
    #[error("the program cannot record calls: build it with this version of foresee")]
    NoRuntime,
    /// Something that is asked for is not to be had.
    #[error("{by}: {why}")]
    Refused {
        /// Who asks.
        by: String,
        /// Why it is not.
        why: Refusal,
    },
}

/// Why values of a function are not to be had.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Refusal {
    #[error(
        "the program has no debug information: build it with `-g` (cargo: `debug = true` in the profile)"
    )]
    NoDebugInformation,
    #[error(
        "the program has no function `{name}`{}, nor is it one of the functions of libraries that are known",
        perhaps(nearest)
    )]
    NoFunction { name: String, nearest: Vec<String> },
    #[error(
        "`{name}` is ambiguous: the program has {}; write more of the path of one of them",
        quoted(candidates)
    )]
    Ambiguous { name: String, candidates: Vec<String> },
    #[error(
        "`{function}` was inlined into `{into}`: not all its calls can be seen; build with `-fno-inline` (C, C++), or without optimisation"
    )]
    Inlined { function: String, into: String },
    #[error(
        "the compiler has made another version of `{function}`, `{symbol}`, which is called in its place; build with `-fno-ipa-cp -fno-ipa-sra -fno-partial-inlining`, or without optimisation"
    )]
    Version { function: String, symbol: String },
    #[error("`{function}` may have the same code as other functions; build it with this version of foresee")]
    MayShareCode { function: String },
    #[error("`{function}` has the same code as `{other}`: their calls cannot be told apart")]
    SharesCode { function: String, other: String },
    #[error("`{function}` has no parameter `{name}`; it has {}", listed(has))]
    NoParameter { function: String, name: String, has: Vec<String> },
    #[error("`{function}` has {}, not {asked}", counted(*has))]
    Arity { function: String, asked: u32, has: usize },
    #[error(
        "`{function}`: the parameter `{parameter}` is {what}; numbers, truth values, characters and pointers can be recorded"
    )]
    Type { function: String, parameter: String, what: String },
    #[error("`{function}` returns {what}; numbers, truth values, characters and pointers can be recorded")]
    ResultType { function: String, what: String },
    #[error("`{function}` returns nothing")]
    NoResult { function: String },
    #[error(
        "`{function}` is a function of the program itself: at its return there is its result alone; arguments are there when it is entered"
    )]
    ReturnedArgument { function: String },
    #[error("`{function}`: the parameter `{parameter}` does not point to a number or a pointer")]
    PointsElsewhere { function: String, parameter: String },
    #[error(
        "`{function}`: the parameter `{parameter}` is asked for and what it points to as well; use one of them"
    )]
    AskedTwice { function: String, parameter: String },
    #[error(
        "`{function}`: the parameter `{parameter}` {why}; build without optimisation, or use it in a way that the compiler cannot foresee"
    )]
    NoValue { function: String, parameter: String, why: &'static str },
    #[error("`{function}` cannot be recorded: {why}")]
    NoHook { function: String, why: String },
}

/// So many names are told of more.
const TOLD: usize = 6;

fn quoted(names: &[String]) -> String {
    if names.len() > TOLD {
        return format!("{} and {} more", quoted(&names[..TOLD]).replace(" and ", ", "), names.len() - TOLD);
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { quoted(names) }
}

fn counted(parameters: usize) -> String {
    match parameters {
        0 => "no parameters".to_owned(),
        1 => "1 parameter".to_owned(),
        many => format!("{many} parameters"),
    }
}

/// The table for a program, as the runtime reads it; `None` if it calls none of the functions.
pub fn table(image: &Image, wanted: &[WantedCall]) -> Result<Option<Vec<u8>>, CallError> {
    let program = Program::read(image)?;
    let file = image.elf()?;
    let sections = dwarf_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let units = debug_info::units(&dwarf)?;
    let debug = Debug { dwarf: &dwarf, units: &units };
    let patterns: Vec<FunctionPattern> =
        wanted.iter().flat_map(|one| &one.functions).map(|name| FunctionPattern::new(name)).collect();
    let functions = Functions::find(&debug, &patterns)?;
    let mut asked: Vec<Asked<'_>> = Vec::new();
    let mut of_libraries: Vec<AskedLibrary> = Vec::new();
    for one in wanted {
        ask(one, &debug, &functions, &mut asked, &mut of_libraries)
            .map_err(|why| CallError::Refused { by: one.by.clone(), why })?;
    }
    let mut hooks = Vec::new();
    for one in &of_libraries {
        one.hooks(&program, &file, &mut hooks)
            .map_err(|why| CallError::Refused { by: one.by.clone(), why })?;
    }
    for one in &asked {
        program
            .hooks(&debug, one, &mut hooks)
            .map_err(|why| CallError::Refused { by: one.by.to_owned(), why })?;
    }
    let about = image.metadata();
    let header = [CALLS_MAGIC, about.dev(), about.ino(), hooks.len() as u64];
    let mut table: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    hooks.iter().for_each(|hook| hook.write(&mut table));
    Ok((!hooks.is_empty()).then_some(table))
}

/// Those of the functions that a program does not have: one of several programs need not have them all.
pub fn missing(image: &Image, wanted: &[WantedCall]) -> Result<Vec<String>, CallError> {
    let file = image.elf()?;
    let sections = dwarf_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let units = debug_info::units(&dwarf)?;
    let names: Vec<&String> = wanted.iter().flat_map(|one| &one.functions).collect();
    let patterns: Vec<FunctionPattern> = names.iter().map(|name| FunctionPattern::new(name)).collect();
    let functions = Functions::find(&Debug { dwarf: &dwarf, units: &units }, &patterns)?;
    let is_missing = |name: &&String| {
        prototypes::find(name).is_none() && matches!(meant(name, &functions), Err(Refusal::NoFunction { .. }))
    };
    let mut missing: Vec<String> = names.into_iter().filter(is_missing).cloned().collect();
    missing.sort_unstable();
    missing.dedup();
    Ok(missing)
}

/// A function with all that is asked of it.
struct Asked<'f> {
    by: &'f str,
    function: &'f Function,
    parameters: Vec<functions::Parameter>,
    /// Of each of them.
    is_asked: Vec<bool>,
    result: bool,
}

/// Notes what is asked of which function.
fn ask<'f>(
    wanted: &'f WantedCall,
    debug: &Debug<'_, '_>,
    functions: &'f Functions,
    asked: &mut Vec<Asked<'f>>,
    of_libraries: &mut Vec<AskedLibrary>,
) -> Result<(), Refusal> {
    for name in &wanted.functions {
        if !functions.has(name) && library::ask(&wanted.by, name, &wanted.values, of_libraries)? {
            continue;
        }
        for function in meant(name, functions)? {
            let known = asked.iter().position(|asked| asked.function.die == function.die);
            let at = known.unwrap_or_else(|| {
                let parameters = function.parameters(debug);
                let is_asked = vec![false; parameters.len()];
                asked.push(Asked { by: &wanted.by, function, parameters, is_asked, result: false });
                asked.len() - 1
            });
            let one = &mut asked[at];
            match &wanted.values {
                Values::Returned(values) if values.iter().all(|value| *value == Parameter::Result) => {
                    one.result = true;
                }
                Values::Returned(_) => return Err(Refusal::ReturnedArgument { function: one.name() }),
                Values::Arguments(parameters) => {
                    for parameter in parameters {
                        let at = one.find(parameter)?;
                        one.is_asked[at] = true;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The functions that a name means: one, or versions of one for several types.
fn meant<'f>(name: &str, functions: &'f Functions) -> Result<Vec<&'f Function>, Refusal> {
    let pattern = FunctionPattern::new(name);
    if functions.all.is_empty() {
        return Err(Refusal::NoDebugInformation);
    }
    let found: Vec<&Function> =
        functions.found.iter().filter(|function| pattern.matches(&function.name)).collect();
    let inlined = functions.inlined.keys().filter(|function| pattern.matches(function));
    let mut paths: Vec<String> = (found.iter().map(|function| &function.name))
        .chain(inlined.clone())
        .map(|function| function_path(function))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.len() > 1 && !name.contains('*') {
        return Err(Refusal::Ambiguous { name: name.to_owned(), candidates: paths });
    }
    if let Some((function, into)) =
        inlined.clone().next().and_then(|name| functions.inlined.get_key_value(name))
    {
        return Err(Refusal::Inlined { function: function_path(function), into: into.clone() });
    }
    if found.is_empty() {
        let mut all: Vec<&str> = prototypes::names().collect();
        all.extend(functions.all.iter().map(String::as_str));
        let nearest = nearest(name, all);
        let nearest = nearest.into_iter().map(str::to_owned).collect();
        return Err(Refusal::NoFunction { name: name.to_owned(), nearest });
    }
    Ok(found)
}

impl Asked<'_> {
    fn name(&self) -> String {
        function_path(&self.function.name)
    }

    /// The place of a parameter.
    fn find(&self, wanted: &Parameter) -> Result<usize, Refusal> {
        let mut declared = (0..self.parameters.len()).filter(|at| !self.parameters[*at].is_receiver);
        match wanted {
            Parameter::Position(position) => declared.nth(*position as usize).ok_or_else(|| {
                let has = self.parameters.iter().filter(|parameter| !parameter.is_receiver).count();
                Refusal::Arity { function: self.name(), asked: position + 1, has }
            }),
            Parameter::Named(name) => {
                let is_it = |parameter: &functions::Parameter| {
                    parameter.name == *name || name == RECEIVER && parameter.name == RUST_RECEIVER
                };
                self.parameters.iter().position(is_it).ok_or_else(|| {
                    let names = self.parameters.iter().map(|parameter| parameter.name.clone());
                    let has = names.filter(|name| !name.is_empty()).collect();
                    Refusal::NoParameter { function: self.name(), name: name.clone(), has }
                })
            }
            Parameter::Stored(_) | Parameter::Result => {
                Err(Refusal::ReturnedArgument { function: self.name() })
            }
        }
    }

    /// Whether no argument is in a vector register, and whoever calls it takes these for changed, as the calling convention says. (gcc looks into functions that it knows
    /// whether they change registers, unless it is told not to; other compilers do not.)
    fn is_plain(&self, debug: &Debug<'_, '_>) -> bool {
        let is_scalar = |parameter: &functions::Parameter| {
            parameter.type_of.is_some_and(|of| types::scalar(debug, of).is_ok())
        };
        let producer = self.function.producer(debug);
        let looks_into = producer.starts_with("GNU") && !producer.contains("-fno-ipa-ra");
        self.parameters.iter().all(is_scalar) && !looks_into
    }

    /// The names of its parameters as events have them.
    fn signature(&self) -> String {
        let name = |(parameter, is_asked): (&functions::Parameter, &bool)| match (is_asked, &*parameter.name)
        {
            (false, _) => NOT_RECORDED.to_owned(),
            (true, _) if parameter.is_receiver => RECEIVER.to_owned(),
            (true, "") => NAMELESS.to_owned(),
            (true, name) => name.replace(' ', NAMELESS),
        };
        self.parameters.iter().zip(&self.is_asked).map(name).collect::<Vec<_>>().join(" ")
    }
}

/// The program's file, as far as hooks need it.
struct Program {
    code: ProgramCode,
    /// Each function's symbols, by address: its name, and whether only its file knows it.
    symbols: Vec<(u64, String, bool)>,
}

/// In the names of symbols: pieces of a function that are elsewhere.
const PART: &str = ".cold";
/// In the names of symbols: versions of a function that compilers make.
const VERSIONS: [&str; 4] = [".constprop.", ".isra.", ".part.", ".argprom"];

impl Program {
    fn read(image: &Image) -> Result<Program, CallError> {
        let file = image.elf()?;
        let mut symbols = Vec::new();
        let mut exit = None;
        let mut has_trampoline = false;
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            let name = symbol.name().unwrap_or_default();
            has_trampoline |= name == TRAMPOLINE;
            if name == EXIT_CALL {
                exit = Some(symbol.address());
            }
            if symbol.is_definition() {
                symbols.push((symbol.address(), name.to_owned(), symbol.is_local()));
            }
        }
        if !has_trampoline {
            return Err(CallError::NoRuntime);
        }
        symbols.sort_unstable();
        let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let sections = sections
            .filter_map(|section| Some((section.address(), section.uncompressed_data().ok()?.into_owned())));
        let starts = symbols.iter().map(|(address, ..)| *address).collect();
        Ok(Program { code: ProgramCode { sections: sections.collect(), starts, exit }, symbols })
    }

    /// Adds the hooks for what is asked of a function.
    fn hooks(
        &self,
        debug: &Debug<'_, '_>,
        asked: &Asked<'_>,
        hooks: &mut Vec<TableHook>,
    ) -> Result<(), Refusal> {
        let function = asked.name();
        let ranges = self.entered_first(&asked.function.ranges);
        let start = ranges.first().map_or(0, |range| range.start);
        let is_local = self.only_one(debug, asked, start)?;
        let refused = |why: NoHook| Refusal::NoHook { function: asked.name(), why: why.to_string() };
        let unclear =
            || Refusal::NoHook { function: asked.name(), why: "its code is not understood".to_owned() };
        let code = FunctionCode::new(&self.code, &ranges).ok_or_else(unclear)?;
        let is_known = !is_local && !asked.function.is_changed(debug);
        let mut free_from = start;
        let mut entry = None;
        if asked.is_asked.contains(&true) {
            let base = asked.function.frame_base(debug);
            let mut values = Vec::new();
            let is_asked = asked.parameters.iter().zip(&asked.is_asked).filter(|(_, is_asked)| **is_asked);
            for (parameter, _) in is_asked {
                values.push(argument(debug, &code, base, parameter, &function)?);
            }
            let hook = hooks::entry(&code).map_err(refused)?;
            free_from = hook.address + hook.len as u64;
            entry = Some((hook, values));
        }
        let mut returns = Vec::new();
        let mut returned = None;
        if asked.result {
            let of = asked.function.result(debug).ok_or(Refusal::NoResult { function: function.clone() })?;
            let scalar = types::scalar(debug, of)
                .map_err(|what| Refusal::ResultType { function: function.clone(), what })?;
            returned = Some(word(scalar, Saved::Rax as u8, 0));
            let whole = entry.as_ref().map(|(entry, _)| hooks::whole(&code, entry, is_known)).transpose();
            match (whole.map_err(refused)?.flatten(), &mut entry) {
                (Some([before, behind]), Some((entry, _))) => {
                    *entry = before;
                    returns.push(behind);
                }
                _ => returns = hooks::returns(&self.code, &code, free_from, is_known).map_err(refused)?,
            }
        }
        let name = &asked.function.name;
        let is_plain = asked.is_plain(debug);
        if let Some((hook, values)) = entry {
            let (kind, parameters) = (HookKind::Code, asked.signature());
            let saved = SavedArguments::default();
            let name = name.clone();
            hooks.push(TableHook { hook, kind, name, returns: false, parameters, values, saved, is_plain });
        }
        let of_return = |hook| TableHook {
            hook,
            kind: HookKind::Code,
            name: name.clone(),
            returns: true,
            parameters: String::new(),
            values: returned.into_iter().collect(),
            saved: SavedArguments::default(),
            is_plain,
        };
        hooks.extend(returns.into_iter().map(of_return));
        Ok(())
    }

    /// Refuses a function that is not the only one of its name and of its code; whether only its file knows it.
    fn only_one(&self, debug: &Debug<'_, '_>, asked: &Asked<'_>, start: u64) -> Result<bool, Refusal> {
        let function = asked.name();
        let of_compiler = |symbol: &str| VERSIONS.iter().find_map(|version| symbol.find(version));
        let plain = |symbol: &str| symbol[..of_compiler(symbol).unwrap_or(symbol.len())].to_owned();
        let own: Vec<String> = self.at(start).map(|(_, symbol, _)| plain(symbol)).collect();
        let is_version =
            |symbol: &str| of_compiler(symbol).is_some_and(|len| own.iter().any(|own| *own == symbol[..len]));
        if let Some((_, symbol, _)) = self.symbols.iter().find(|(_, symbol, _)| is_version(symbol)) {
            return Err(Refusal::Version { function, symbol: symbol.clone() });
        }
        // A name that the linker or the compiler has made different ends in a number.
        let whole = |symbol: &str| match symbol.starts_with('_') {
            true => demangled(symbol),
            false => symbol.split('.').next().unwrap_or(symbol).to_owned(),
        };
        let path_of = |symbol: &str| function_path(&whole(symbol));
        let other = self.at(start).map(|(_, symbol, _)| path_of(symbol)).find(|path| *path != function);
        if let Some(other) = other {
            return Err(Refusal::SharesCode { function, other });
        }
        let producer = asked.function.producer(debug);
        let merges = ["-O2", "-O3", "-Os", "-Ofast", "-Oz"].iter().any(|level| producer.contains(level));
        if producer.starts_with("GNU") && merges && !producer.contains("-fno-ipa-icf") {
            return Err(Refusal::MayShareCode { function });
        }
        Ok(self.at(start).all(|(.., is_local)| *is_local))
    }

    /// The pieces of a function, that with its first instruction first.
    fn entered_first(&self, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        let is_apart = |range: &Range<u64>| {
            self.at(range.start).next().is_none_or(|(_, symbol, _)| symbol.contains(PART))
        };
        let mut ranges = ranges.to_vec();
        ranges.sort_by_key(is_apart);
        ranges
    }

    fn at(&self, address: u64) -> impl Iterator<Item = &(u64, String, bool)> {
        let first = self.symbols.partition_point(|(at, ..)| *at < address);
        self.symbols[first..].iter().take_while(move |(at, ..)| *at == address)
    }
}

/// Where a parameter's value is when the function is entered.
fn argument(
    debug: &Debug<'_, '_>,
    code: &FunctionCode,
    base: places::FrameBase,
    parameter: &functions::Parameter,
    function: &str,
) -> Result<ValueWord, Refusal> {
    let name = || if parameter.name.is_empty() { NAMELESS.to_owned() } else { parameter.name.clone() };
    let of_type = |what: String| Refusal::Type { function: function.to_owned(), parameter: name(), what };
    let of = parameter.type_of.ok_or_else(|| of_type("of a type that is not known".to_owned()))?;
    let scalar = types::scalar(debug, of).map_err(of_type)?;
    let place = places::place(&code.instructions, base, &parameter.locations, scalar.size);
    let refused = |why| Refusal::NoValue { function: function.to_owned(), parameter: name(), why };
    let place = place.map_err(|why| {
        refused(match why {
            NoPlace::Constant => "always has the same value, and is not passed",
            NoPlace::Removed => "was removed by the optimiser",
            NoPlace::Unclear => "is passed in a way that is not understood",
        })
    })?;
    match place {
        Place::Stack(offset) => Ok(word(scalar, ValueWord::ON_STACK, offset)),
        Place::Register(register) => saved(register)
            .map(|saved| word(scalar, saved as u8, 0))
            .ok_or_else(|| refused("is passed in a way that is not understood")),
    }
}

fn word(scalar: Scalar, register: u8, offset: u32) -> ValueWord {
    let Scalar { size, signed, object, text } = scalar;
    ValueWord { register, size, signed, object, stored: false, text, offset }
}

fn saved(register: Register) -> Option<Saved> {
    Some(match register {
        Register::RDI => Saved::Rdi,
        Register::RSI => Saved::Rsi,
        Register::RDX => Saved::Rdx,
        Register::RCX => Saved::Rcx,
        Register::R8 => Saved::R8,
        Register::R9 => Saved::R9,
        Register::RAX => Saved::Rax,
        Register::R10 => Saved::R10,
        Register::R11 => Saved::R11,
        _ => return None,
    })
}

/// A hook with what is recorded there.
struct TableHook {
    hook: Hook,
    kind: HookKind,
    name: String,
    returns: bool,
    /// Which of them are recorded.
    parameters: String,
    /// Of a return, the result is first.
    values: Vec<ValueWord>,
    saved: SavedArguments,
    /// Nobody needs what is in vector registers there.
    is_plain: bool,
}

impl TableHook {
    fn write(&self, table: &mut Vec<u8>) {
        let TableHook { hook, kind, name, returns, parameters, values, saved, is_plain } = self;
        let detail = if *returns { u64::from(RETURNED) } else { 0 };
        let lengths = hook.len as u64
            | (hook.copied.len() as u64) << 8
            | (hook.fields.len() as u64) << 16
            | (values.len() as u64) << 24
            | detail << 32
            | (*kind as u64) << 40
            | u64::from(saved.number()) << 48
            | u64::from(*is_plain) << 56;
        let texts = parameters.len() as u64 | (name.len() as u64) << 32;
        table.extend([hook.address, lengths, texts].iter().flat_map(|word| word.to_le_bytes()));
        padded(table, &hook.copied);
        table.extend(hook.fields.iter().flat_map(|&field| (field as u64).to_le_bytes()));
        table.extend(values.iter().flat_map(|value| value.word().to_le_bytes()));
        padded(table, parameters.as_bytes());
        padded(table, name.as_bytes());
    }
}

fn padded(table: &mut Vec<u8>, bytes: &[u8]) {
    table.extend(bytes);
    table.resize(table.len().next_multiple_of(8), 0);
}
