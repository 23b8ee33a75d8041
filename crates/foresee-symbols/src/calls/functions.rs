//! The functions that are asked for, as the program's debug information has them.

use std::ops::Range;

use foresee_trace::{FunctionPattern, function_path};
use gimli::{
    AttributeValue, DW_AT_artificial, DW_AT_calling_convention, DW_AT_const_value, DW_AT_frame_base,
    DW_AT_linkage_name, DW_AT_location, DW_AT_name, DW_AT_producer, DW_AT_type, DW_CC_nocall,
    DW_TAG_base_type, DW_TAG_inlined_subroutine, DW_TAG_subprogram, Expression, Operation, Unit,
};
use iced_x86::Register;
use rustc_hash::FxHashMap;

use super::places::{FrameBase, Location, Locations};
use crate::debug_info::{Debug, Die, Slice};
use crate::demangle::demangled;
use crate::prebuilt;

/// A function with code of its own.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) die: Die,
    /// As people write it, with type arguments.
    pub(super) name: String,
    /// The first is where it is entered.
    pub(super) ranges: Vec<Range<u64>>,
}

/// All that is asked for, found in one pass.
#[derive(Default)]
pub(super) struct Functions {
    pub(super) found: Vec<Function>,
    /// Functions of which there are copies in others, and one of those.
    pub(super) inlined: FxHashMap<String, String>,
    /// Functions of a name that is asked for, with other arguments.
    pub(super) otherwise: Vec<String>,
    /// All names, for those who have mistyped one.
    pub(super) all: Vec<String>,
}

/// How the names of units begin that Rust's library is built of, and so the runtime is.
const RUST_LIBRARY: &str = "/rust/deps/";
/// In the names of the runtime's own units, and of the crates that it uses. (What a Rust program itself has of these crates is generic, and in its own units.)
const RUNTIME: [&str; 6] = [
    "foresee-rt/src/lib.rs/@/",
    "foresee-mttl/src/lib.rs/@/",
    "foresee-monitor/src/lib.rs/@/",
    "foresee-format/src/lib.rs/@/",
    "/smallvec-1.",
    "/rustc-hash-2.",
];

impl Functions {
    /// Whether the program itself has a function that is called just so, by its whole path.
    pub(super) fn has(&self, path: &str) -> bool {
        let mut own = self.found.iter().map(|function| &function.name).chain(self.inlined.keys());
        own.any(|function| function_path(function) == path)
    }

    /// The function into which one that is called just so was inlined, if there is nothing else of it.
    pub(super) fn only_inlined(&self, path: &str) -> Option<&String> {
        let is_it = |function: &str| function_path(function) == path;
        let is_there = self.found.iter().any(|function| is_it(&function.name));
        self.inlined.iter().find(|(function, _)| !is_there && is_it(function)).map(|(_, into)| into)
    }

    /// Finds the functions that one of the patterns means. `symbols` are mangled names by address.
    pub(super) fn find(
        debug: &Debug<'_, '_>,
        symbols: &FxHashMap<u64, String>,
        patterns: &[FunctionPattern],
    ) -> gimli::Result<Functions> {
        let mut functions = Functions::default();
        let mut known: FxHashMap<String, Option<String>> = FxHashMap::default();
        for (number, unit) in debug.units.iter().enumerate() {
            if prebuilt::is_prebuilt(unit) || is_runtime(unit) {
                continue;
            }
            // The functions around an entry, by its depth.
            let mut around: Vec<(isize, Die)> = Vec::new();
            let mut entries = unit.entries();
            while let Some(entry) = entries.next_dfs()? {
                let is_inlined = entry.tag() == DW_TAG_inlined_subroutine;
                if !is_inlined && entry.tag() != DW_TAG_subprogram {
                    continue;
                }
                let die = Die { unit: number, offset: entry.offset() };
                while around.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
                    around.pop();
                }
                if !is_inlined {
                    around.push((entry.depth(), die));
                }
                let mut ranges = Vec::new();
                let mut of_entry = debug.dwarf.die_ranges(unit, entry)?;
                while let Some(range) = of_entry.next()? {
                    // What the linker has dropped begins at 0 or 1.
                    if range.begin > 1 && range.end > range.begin {
                        ranges.push(range.begin..range.end);
                    }
                }
                let symbol = || {
                    let own = ranges.iter().filter(|_| !is_inlined);
                    own.filter_map(|range| symbols.get(&range.start)).next().cloned()
                };
                let linkage = debug.text(die, DW_AT_linkage_name).or_else(symbol);
                let Some(linkage) = linkage.or_else(|| debug.text(die, DW_AT_name)) else { continue };
                let name = known.entry(linkage).or_insert_with_key(|linkage| {
                    let name = demangled(linkage);
                    let path = function_path(&name);
                    let is_meant = patterns.iter().any(|pattern| pattern.matches(&name));
                    let is_otherwise =
                        |pattern: &FunctionPattern| pattern.matches_path(&path) && !pattern.matches(&name);
                    if patterns.iter().any(is_otherwise) {
                        functions.otherwise.push(name.clone());
                    }
                    functions.all.push(path);
                    is_meant.then_some(name)
                });
                let Some(name) = name else { continue };
                if ranges.is_empty() {
                    continue;
                }
                if is_inlined {
                    // Thunks have a symbol alone.
                    let name_of = |die: Die| {
                        debug.text(die, DW_AT_name).or_else(|| debug.text(die, DW_AT_linkage_name))
                    };
                    let into = around.first().and_then(|(_, die)| name_of(*die));
                    functions.inlined.entry(name.clone()).or_insert(into.unwrap_or_default());
                } else {
                    functions.found.push(Function { die, name: name.clone(), ranges });
                }
            }
        }
        Ok(functions)
    }
}

fn is_runtime(unit: &Unit<Slice<'_>>) -> bool {
    let name = unit.name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with(RUST_LIBRARY) || RUNTIME.iter().any(|runtime| name.contains(runtime))
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Empty if it has none.
    pub(super) name: String,
    /// The source does not declare it.
    pub(super) is_receiver: bool,
    pub(super) type_of: Option<Die>,
    /// What says where it is.
    placed: Option<Die>,
}

/// What of a parameter is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// The word from this byte on.
    Word(u8),
    /// The address at which it is in memory.
    Address,
}

/// Bytes of a word.
const WORD: u8 = 8;

impl Parameter {
    /// Where this part of it is.
    pub(super) fn locations(&self, debug: &Debug<'_, '_>, part: Part) -> Locations {
        self.placed.map_or(Locations::Nowhere, |die| locations(debug, die, part))
    }
}

impl Function {
    /// What the function declares, in this order, and where each is.
    pub(super) fn parameters(&self, debug: &Debug<'_, '_>) -> Vec<Parameter> {
        let own: Vec<Die> = parameters_of(debug, self.die);
        // A copy of a function may leave some out: they are declared elsewhere. (Where it is only declared, they may have no names.)
        let elsewhere: Vec<Vec<Die>> = debug.origins(self.die).map(|die| parameters_of(debug, die)).collect();
        let declared = elsewhere.into_iter().rev().max_by_key(Vec::len).unwrap_or_default();
        let is_copy = declared.len() != own.len();
        let parameter = |(number, declared): (usize, Die)| {
            let placed = match is_copy {
                false => own.get(number).copied(),
                true => own.iter().copied().find(|own| debug.origins(*own).any(|origin| origin == declared)),
            };
            Parameter {
                name: debug.text(declared, DW_AT_name).unwrap_or_default(),
                is_receiver: debug.attribute(declared, DW_AT_artificial).is_some(),
                type_of: debug.follow(declared, DW_AT_type),
                placed,
            }
        };
        declared.into_iter().enumerate().map(parameter).collect()
    }

    /// Whether it takes more arguments than it declares.
    pub(super) fn is_variadic(&self, debug: &Debug<'_, '_>) -> bool {
        let is_rest = |die: &Die| {
            debug.entry(*die).is_some_and(|entry| entry.tag() == gimli::DW_TAG_unspecified_parameters)
        };
        debug.origins(self.die).any(|die| debug.children(die).iter().any(is_rest))
    }

    /// The type of its result.
    pub(super) fn result(&self, debug: &Debug<'_, '_>) -> Option<Die> {
        debug.follow(self.die, DW_AT_type)
    }

    /// Whether nothing is said of its parameters and its result, nor of any type of numbers in its unit.
    pub(super) fn tells_lines_alone(&self, debug: &Debug<'_, '_>) -> bool {
        let root = Die { unit: self.die.unit, offset: debug.unit(self.die).header.root_offset() };
        let is_number = |die: &Die| debug.entry(*die).is_some_and(|entry| entry.tag() == DW_TAG_base_type);
        self.result(debug).is_none()
            && self.parameters(debug).is_empty()
            && !debug.children(root).iter().any(is_number)
    }

    /// What locations in its frame are relative to.
    pub(super) fn frame_base(&self, debug: &Debug<'_, '_>) -> FrameBase {
        let base = debug.entry(self.die).and_then(|entry| entry.attr_value(DW_AT_frame_base));
        let Some(AttributeValue::Exprloc(expression)) = base else { return FrameBase::Other };
        match operations(expression, debug.unit(self.die)).as_deref() {
            Some([Operation::CallFrameCFA]) => FrameBase::Frame,
            Some([Operation::Register { register }]) => {
                general(register.0).map_or(FrameBase::Other, FrameBase::Register)
            }
            _ => FrameBase::Other,
        }
    }

    /// Whether the compiler says that it has changed how the function is called.
    pub(super) fn is_changed(&self, debug: &Debug<'_, '_>) -> bool {
        let convention = debug.attribute(self.die, DW_AT_calling_convention);
        convention.is_some_and(|(_, value)| value == AttributeValue::CallingConvention(DW_CC_nocall))
    }

    /// What made it, with the options if it says.
    pub(super) fn producer(&self, debug: &Debug<'_, '_>) -> String {
        let unit = debug.unit(self.die);
        let root = Die { unit: self.die.unit, offset: unit.header.root_offset() };
        debug.text(root, DW_AT_producer).unwrap_or_default()
    }
}

/// The parameters of a function, also those that a template has any number of.
fn parameters_of(debug: &Debug<'_, '_>, of: Die) -> Vec<Die> {
    let tag = |die: Die| debug.entry(die).map(|entry| entry.tag());
    let parameter = |die: Die| match tag(die) {
        Some(gimli::DW_TAG_formal_parameter) => vec![die],
        Some(gimli::DW_TAG_GNU_formal_parameter_pack) => parameters_of(debug, die),
        _ => Vec::new(),
    };
    debug.children(of).into_iter().flat_map(parameter).collect()
}

fn locations(debug: &Debug<'_, '_>, die: Die, part: Part) -> Locations {
    let Some(entry) = debug.entry(die) else { return Locations::Nowhere };
    if entry.attr_value(DW_AT_const_value).is_some() {
        return Locations::Always(Location::Constant);
    }
    let unit = debug.unit(die);
    match entry.attr_value(DW_AT_location) {
        None => Locations::Nowhere,
        Some(AttributeValue::Exprloc(expression)) => Locations::Always(part_location(expression, unit, part)),
        Some(value) => {
            let read = || -> gimli::Result<Vec<(u64, u64, Location)>> {
                let mut list = Vec::new();
                let Some(mut entries) = debug.dwarf.attr_locations(unit, value)? else { return Ok(list) };
                while let Some(entry) = entries.next()? {
                    list.push((entry.range.begin, entry.range.end, part_location(entry.data, unit, part)));
                }
                Ok(list)
            };
            read().map_or(Locations::Always(Location::Other), Locations::List)
        }
    }
}

fn operations<'a>(
    expression: Expression<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
) -> Option<Vec<Operation<Slice<'a>>>> {
    let mut list = Vec::new();
    let mut operations = expression.operations(unit.encoding());
    while let Some(operation) = operations.next().ok()? {
        list.push(operation);
    }
    Some(list)
}

fn part_location(expression: Expression<Slice<'_>>, unit: &Unit<Slice<'_>>, part: Part) -> Location {
    let list = operations(expression, unit).unwrap_or_default();
    match part {
        Part::Whole => location(&list, unit),
        Part::Word(from) => word_location(&list, unit, from),
        Part::Address => match &list[..] {
            [Operation::FrameOffset { offset }, Operation::Deref { .. }] => Location::Frame(*offset),
            [Operation::RegisterOffset { register, offset: 0, .. }] => {
                general(register.0).map_or(Location::Other, Location::Register)
            }
            _ => Location::Other,
        },
    }
}

/// Where the word from this byte on is, of what is in memory as a whole or in pieces anywhere.
fn word_location(list: &[Operation<Slice<'_>>], unit: &Unit<Slice<'_>>, from: u8) -> Location {
    if let [Operation::FrameOffset { offset }] = list {
        return Location::Frame(offset + i64::from(from));
    }
    let mut at = 0;
    for piece in list.split_inclusive(|operation| matches!(operation, Operation::Piece { .. })) {
        let [rest @ .., Operation::Piece { size_in_bits, bit_offset: None }] = piece else {
            return Location::Other;
        };
        if at == u64::from(from) * 8 && *size_in_bits == u64::from(WORD) * 8 {
            return if rest.is_empty() { Location::Removed } else { location(rest, unit) };
        }
        at += size_in_bits;
    }
    // What has no piece is nowhere.
    if at <= u64::from(from) * 8 { Location::Removed } else { Location::Other }
}

fn location(list: &[Operation<Slice<'_>>], unit: &Unit<Slice<'_>>) -> Location {
    match list {
        [Operation::Register { register }] => general(register.0).map_or(Location::Other, Location::Register),
        [Operation::FrameOffset { offset }] => Location::Frame(*offset),
        [Operation::EntryValue { expression }, Operation::StackValue] => {
            match operations(Expression(*expression), unit).as_deref() {
                Some([Operation::Register { register }]) => {
                    general(register.0).map_or(Location::Other, Location::Entry)
                }
                _ => Location::Other,
            }
        }
        // A register of which the lowest bits count.
        [Operation::RegisterOffset { register, offset: 0, .. }, masks @ .., Operation::StackValue]
            if masks.iter().all(keeps_low_bits) =>
        {
            general(register.0).map_or(Location::Other, Location::Register)
        }
        [Operation::UnsignedConstant { .. } | Operation::SignedConstant { .. }, Operation::StackValue] => {
            Location::Constant
        }
        _ => Location::Other,
    }
}

/// Whether an operation, of those that compilers put behind a register, leaves its lowest bits as they are.
fn keeps_low_bits(operation: &Operation<Slice<'_>>) -> bool {
    match operation {
        Operation::UnsignedConstant { value } => [0xff, 0xffff, 0xffff_ffff].contains(value),
        Operation::And | Operation::Convert { .. } => true,
        _ => false,
    }
}

/// A general register by its number in debug information.
fn general(number: u16) -> Option<Register> {
    const GENERAL: [Register; 16] = [
        Register::RAX,
        Register::RDX,
        Register::RCX,
        Register::RBX,
        Register::RSI,
        Register::RDI,
        Register::RBP,
        Register::RSP,
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    GENERAL.get(usize::from(number)).copied()
}
