//! Which parts of a function's frame are structures and arrays of the source, by the debug information.
//!
//! A frame is its function's own memory until the address of something in it is given away. What that is, machine code does not
//! show: beside a structure whose address was given to a thread may be a register that was put aside. Scalars need not be known:
//! compilers announce all accesses to those whose addresses are given away. Of structures and arrays they forget some: gcc what a
//! call returns, clang before release 21 whatever is not at the beginning.

use gimli::constants as names;
use gimli::{AttributeValue, Dwarf, EndianSlice, LittleEndian, Operation, Unit, UnitOffset};
use rustc_hash::FxHashMap;

use crate::image::{Elf, dwarf_sections};

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// How many types are followed to the one that has a size.
const INDIRECTIONS: usize = 32;
/// The number of the frame pointer, `rbp`, in debug information.
const FRAME_POINTER: u16 = 6;

/// A structure or array in a frame: the bytes from `start` to `end`, counted from where the stack pointer is when the function begins.
/// Without them, it is somewhere in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameVariable {
    pub(super) bytes: Option<(i64, i64)>,
}

/// The structures and arrays in the frames of a file's functions, by where these begin.
#[derive(Default)]
pub(super) struct FrameVariables(FxHashMap<u64, Vec<FrameVariable>>);

impl FrameVariables {
    pub(super) fn of(file: &Elf<'_>) -> FrameVariables {
        let mut found = FrameVariables::default();
        // What cannot be read is not known, like all that has no debug information.
        let _ = found.read(file);
        found
    }

    /// Those of the function that begins at this address.
    pub(super) fn in_function(&self, start: u64) -> &[FrameVariable] {
        self.0.get(&start).map_or(&[], Vec::as_slice)
    }

    fn read(&mut self, file: &Elf<'_>) -> gimli::Result<()> {
        let sections = dwarf_sections(file)?;
        let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let unit = dwarf.unit(header)?;
            if !is_rust(&unit)? {
                self.read_unit(&dwarf, &unit)?;
            }
        }
        Ok(())
    }

    fn read_unit<'a>(&mut self, dwarf: &Dwarf<Slice<'a>>, unit: &Unit<Slice<'a>>) -> gimli::Result<()> {
        // The functions that an entry is in (those of local types are within others): at which depth its entry is, where it begins,
        // and what its variables count from.
        let mut functions: Vec<(isize, u64, Option<i64>)> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let depth = entry.depth();
            functions.retain(|&(around, ..)| around < depth);
            if entry.tag() == names::DW_TAG_subprogram {
                // The first of its pieces is where it begins.
                if let Some(range) = dwarf.die_ranges(unit, entry)?.next()? {
                    functions.push((depth, range.begin, frame_base(unit, entry)?));
                }
                continue;
            }
            let is_variable = matches!(entry.tag(), names::DW_TAG_variable | names::DW_TAG_formal_parameter);
            let Some(&(_, start, base)) = functions.last().filter(|_| is_variable) else { continue };
            let Some(place) = place(unit, entry, base)? else { continue };
            if let Some(size) = aggregate_size(unit, entry)? {
                let bytes = place.map(|from| (from, size.map_or(i64::MAX, |size| from.saturating_add(size))));
                self.0.entry(start).or_default().push(FrameVariable { bytes });
            }
        }
        Ok(())
    }
}

/// Whether a unit is Rust's: the runtime's own, in a program of C.
fn is_rust(unit: &Unit<Slice<'_>>) -> gimli::Result<bool> {
    let mut entries = unit.entries();
    let language = entries.next_dfs()?.and_then(|entry| entry.attr_value(names::DW_AT_language));
    Ok(matches!(language, Some(AttributeValue::Language(names::DW_LANG_Rust))))
}

/// What places in a frame are counted from, itself counted from where the stack pointer is when the function begins.
fn frame_base(unit: &Unit<Slice<'_>>, entry: &Entry<'_>) -> gimli::Result<Option<i64>> {
    let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(names::DW_AT_frame_base) else {
        return Ok(None);
    };
    Ok(match expression.operations(unit.encoding()).next()? {
        Some(Operation::CallFrameCFA) => Some(8),
        // Where the caller's is saved, right below the return address.
        Some(Operation::Register { register }) if register.0 == FRAME_POINTER => Some(-8),
        _ => None,
    })
}

/// Where in the frame a variable is: `None` if it is not there all the time, `Some(None)` if it cannot be said.
fn place(unit: &Unit<Slice<'_>>, entry: &Entry<'_>, base: Option<i64>) -> gimli::Result<Option<Option<i64>>> {
    let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(names::DW_AT_location) else {
        return Ok(None);
    };
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next()?;
    let is_all = operations.next()?.is_none();
    Ok(match first {
        Some(Operation::FrameOffset { offset }) => {
            Some(base.filter(|_| is_all).map(|base| base.saturating_add(offset)))
        }
        Some(Operation::RegisterOffset { register, offset, .. }) if register.0 == FRAME_POINTER && is_all => {
            Some(Some(offset.saturating_sub(8)))
        }
        Some(Operation::RegisterOffset { .. }) => Some(None),
        _ => None,
    })
}

/// The size of a variable that is a structure or an array, if it is; `Some(None)` if it cannot be said.
fn aggregate_size<'a>(unit: &Unit<Slice<'a>>, variable: &Entry<'a>) -> gimli::Result<Option<Option<i64>>> {
    let mut entry = variable.clone();
    let mut times: i64 = 1;
    let mut is_array = false;
    for _ in 0..INDIRECTIONS {
        let tag = entry.tag();
        if matches!(tag, names::DW_TAG_structure_type | names::DW_TAG_class_type | names::DW_TAG_union_type)
            || is_array
        {
            let size = entry.attr_value(names::DW_AT_byte_size).and_then(|size| size.udata_value());
            let size = size.and_then(|size| i64::try_from(size).ok());
            if let Some(size) = size {
                return Ok(Some(Some(size.saturating_mul(times))));
            }
        }
        let passes_on = matches!(
            tag,
            names::DW_TAG_variable
                | names::DW_TAG_formal_parameter
                | names::DW_TAG_typedef
                | names::DW_TAG_const_type
                | names::DW_TAG_volatile_type
                | names::DW_TAG_restrict_type
                | names::DW_TAG_array_type
        );
        if tag == names::DW_TAG_array_type {
            is_array = true;
            match elements(unit, entry.offset())? {
                Some(elements) => times = times.saturating_mul(elements),
                None => return Ok(Some(None)),
            }
        }
        if !passes_on {
            return Ok(is_array.then_some(None));
        }
        let next =
            entry.attr_value(names::DW_AT_type).or_else(|| entry.attr_value(names::DW_AT_abstract_origin));
        match next {
            Some(AttributeValue::UnitRef(offset)) => entry = unit.entry(offset)?,
            // A type of another unit, or one that is known by a hash.
            Some(_) => return Ok(Some(None)),
            None => return Ok(None),
        }
    }
    Ok(Some(None))
}

/// How many elements an array has, over all its dimensions.
fn elements(unit: &Unit<Slice<'_>>, array: UnitOffset) -> gimli::Result<Option<i64>> {
    let mut tree = unit.entries_tree(Some(array))?;
    let mut dimensions = tree.root()?.children();
    let mut count: i64 = 1;
    while let Some(dimension) = dimensions.next()? {
        let entry = dimension.entry();
        if entry.tag() != names::DW_TAG_subrange_type {
            continue;
        }
        let number = |value: AttributeValue<Slice<'_>>| {
            value.udata_value().or(value.sdata_value().map(|it| it as u64))
        };
        let of_count = entry.attr_value(names::DW_AT_count).and_then(number);
        let of_bound =
            entry.attr_value(names::DW_AT_upper_bound).and_then(number).map(|last| last.wrapping_add(1));
        let Some(length) = of_count.or(of_bound).and_then(|length| i64::try_from(length).ok()) else {
            return Ok(None);
        };
        count = count.saturating_mul(length);
    }
    Ok(Some(count))
}
