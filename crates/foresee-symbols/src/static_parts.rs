//! Parts of statics: `config.opened`, `slots[3].owner`.
//!
//! A symbol table has whole statics. What is inside of one stands in the debug information: the type of the variable that is at its address, with the
//! places of its members and the number of its elements. Members of structures without a name, and of classes that others are derived from, are named as in
//! the language; `.0` is the first field of a tuple of Rust. A part that debug information does not have is refused, with what there is.
#![expect(non_upper_case_globals, reason = "the names of the standard")]

use foresee_trace::raw::DataSymbol;
use gimli::{
    AttributeValue, DW_AT_bit_size, DW_AT_byte_size, DW_AT_const_value, DW_AT_count, DW_AT_data_bit_offset,
    DW_AT_data_member_location, DW_AT_location, DW_AT_name, DW_AT_type, DW_AT_upper_bound, DW_TAG_array_type,
    DW_TAG_atomic_type, DW_TAG_class_type, DW_TAG_const_type, DW_TAG_inheritance, DW_TAG_member,
    DW_TAG_pointer_type, DW_TAG_reference_type, DW_TAG_structure_type, DW_TAG_subprogram,
    DW_TAG_subrange_type, DW_TAG_typedef, DW_TAG_union_type, DW_TAG_variable, DW_TAG_volatile_type, DwAt,
    EndianSlice, LittleEndian, Operation,
};

use crate::debug_info::{self, Debug, Die};
use crate::image::{Image, ImageError, dwarf_sections};
use crate::types::{FLOATING_POINT, Scalar, scalar};

/// How deep types may be within each other: no program needs more.
const DEPTH: usize = 64;

/// Why a static has no such part, as far as one can see.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The program's file is of no use.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The debug information is damaged.
    #[error("its debug information cannot be read: {0}")]
    Debug(#[from] gimli::Error),
    /// Nothing is known of the static but its name.
    #[error("there is no debug information about `{of}`; build with `-g`")]
    NoType {
        /// The static.
        of: String,
    },
    /// There is no such member.
    #[error("`{of}` has no member `{member}`{}", those(members))]
    NoMember {
        /// What has none.
        of: String,
        /// The name.
        member: String,
        /// What it has instead.
        members: Vec<String>,
    },
    /// It is no array, or not of that length.
    #[error("`{of}` has no element {index}: it {}", match length { Some(length) => format!("has {length}"), None => "is no array".to_owned() })]
    NoElement {
        /// What has none.
        of: String,
        /// Which.
        index: u64,
        /// How many it has, if it is an array.
        length: Option<u64>,
    },
    /// It shares its bytes with others.
    #[error("`{of}` is a bit field, which has no address of its own")]
    BitField {
        /// The part.
        of: String,
    },
}

fn those(members: &[String]) -> String {
    if members.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = members.iter().map(|name| format!("`{name}`")).collect();
    format!("; it has {}", quoted.join(", "))
}

/// The static and the part that a name may mean: `config` and `.opened`, `slots` and `[3].owner`.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    let path = name.rfind(':').map_or(0, |colon| colon + 1);
    let part = path + name[path..].find(['.', '['])?;
    (part > path).then(|| name.split_at(part))
}

/// A step into a type.
enum Step<'n> {
    Member(&'n str),
    Element(u64),
}

/// The steps of `[3].owner`, each with where it ends.
fn steps(part: &str) -> Option<Vec<(Step<'_>, usize)>> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < part.len() {
        let rest = &part[at..];
        let (step, length) = if let Some(rest) = rest.strip_prefix('[') {
            let (index, _) = rest.split_once(']')?;
            (Step::Element(index.parse().ok()?), index.len() + 2)
        } else {
            let rest = rest.strip_prefix('.')?;
            let length = rest.find(['.', '[']).unwrap_or(rest.len());
            (Step::Member(&rest[..length]), length + 1)
        };
        at += length;
        steps.push((step, at));
    }
    Some(steps)
}

/// What a static, or a part of one, is as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    /// It may be negative.
    Signed,
    /// Nothing is known of it: it is taken for one that may be negative.
    Unknown,
    Unsigned,
    /// It is a number, and no whole one.
    FloatingPoint,
    /// It consists of several.
    Several,
}

/// What the statics at these addresses are.
pub(crate) fn kinds(image: &Image, statics: &[u64]) -> Result<Vec<NumberKind>, PartError> {
    let file = image.elf()?;
    let sections = dwarf_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let units = debug_info::units(&dwarf)?;
    let types = Types(Debug { dwarf: &dwarf, units: &units });
    let found = types.of_statics(statics)?;
    Ok(found.into_iter().map(|of| of.map_or(NumberKind::Unknown, |of| types.kind(of))).collect())
}

/// Whether a variable of this name, outside of functions, has a value and no memory.
pub(crate) fn is_constant(image: &Image, name: &str) -> Result<bool, PartError> {
    let file = image.elf()?;
    let sections = dwarf_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let units = debug_info::units(&dwarf)?;
    let debug = Debug { dwarf: &dwarf, units: &units };
    for (number, unit) in units.iter().enumerate() {
        // How deep the function is that entries are in.
        let mut function: Option<isize> = None;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            function = function.filter(|depth| entry.depth() > *depth);
            if entry.tag() == DW_TAG_subprogram {
                function = function.or(Some(entry.depth()));
            }
            let is_value = entry.tag() == DW_TAG_variable
                && function.is_none()
                && entry.attr_value(DW_AT_const_value).is_some()
                && entry.attr_value(DW_AT_location).is_none();
            let die = Die { unit: number, offset: entry.offset() };
            if is_value && debug.text(die, DW_AT_name).is_some_and(|own| own == name) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A field of a type, or a part of one: where it is in an object of that type, and its own type. `name` is what people call the type.
pub(crate) fn field(debug: &Debug<'_, '_>, of: Die, name: &str, path: &str) -> Result<(u64, Die), PartError> {
    let types = Types(Debug { dwarf: debug.dwarf, units: debug.units });
    let place =
        types.part(Place { of: types.plain(of), dimension: 0, addr: 0 }, name, &format!(".{path}"))?;
    let no_type = || PartError::NoType { of: format!("{name}.{path}") };
    if place.dimension > 0 || types.size(place).is_none() {
        return Err(no_type());
    }
    Ok((place.addr, place.of))
}

/// The part of a static that is called so, and what it is: `name` is `base` with `part` behind it.
pub(crate) fn find(
    image: &Image,
    base: &DataSymbol,
    part: &str,
) -> Result<(DataSymbol, NumberKind), PartError> {
    let file = image.elf()?;
    let sections = dwarf_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let units = debug_info::units(&dwarf)?;
    let types = Types(Debug { dwarf: &dwarf, units: &units });
    let no_type = || PartError::NoType { of: base.name.clone() };
    let whole = Place {
        of: types.of_statics(&[base.addr])?.pop().flatten().ok_or_else(no_type)?,
        dimension: 0,
        addr: base.addr,
    };
    let at = types.part(whole, &base.name, part)?;
    let size = types.size(at).and_then(|size| u32::try_from(size).ok()).ok_or_else(no_type)?;
    Ok((DataSymbol { name: format!("{}{part}", base.name), addr: at.addr, size }, types.kind(at.of)))
}

/// A piece of memory of some type; of an array with several dimensions, without the first few of them.
#[derive(Clone, Copy)]
struct Place {
    of: Die,
    dimension: usize,
    addr: u64,
}

/// The types of a program.
struct Types<'d, 'a>(Debug<'d, 'a>);

impl Types<'_, '_> {
    /// The part of something that is called so.
    fn part(&self, whole: Place, name: &str, part: &str) -> Result<Place, PartError> {
        let (mut at, mut end) = (whole, 0);
        for (step, until) in steps(part).ok_or_else(|| PartError::NoType { of: name.to_owned() })? {
            let of = || format!("{name}{}", &part[..end]);
            at = match step {
                Step::Member(name) => self.member(at, name, &of)?,
                Step::Element(index) => self.element(at, index, &of)?,
            };
            end = until;
        }
        Ok(at)
    }

    /// What a variable of this type is.
    fn kind(&self, of: Die) -> NumberKind {
        match scalar(&self.0, of) {
            Ok(Scalar { size: 9.., .. }) => NumberKind::Several,
            Ok(Scalar { signed: false, .. }) => NumberKind::Unsigned,
            Ok(_) => NumberKind::Signed,
            Err(what) if what == FLOATING_POINT => NumberKind::FloatingPoint,
            Err(_) => NumberKind::Several,
        }
    }

    /// The types of the variables at these addresses.
    fn of_statics(&self, addresses: &[u64]) -> Result<Vec<Option<Die>>, PartError> {
        let debug = &self.0;
        let mut types = vec![None; addresses.len()];
        for (number, unit) in debug.units.iter().enumerate() {
            let mut entries = unit.entries();
            while let Some(entry) = entries.next_dfs()? {
                if entry.tag() != DW_TAG_variable {
                    continue;
                }
                let Some(AttributeValue::Exprloc(location)) = entry.attr_value(DW_AT_location) else {
                    continue;
                };
                let mut operations = location.operations(unit.encoding());
                let found = match operations.next() {
                    Ok(Some(Operation::Address { address })) => Some(address),
                    Ok(Some(Operation::AddressIndex { index })) => debug.dwarf.address(unit, index).ok(),
                    _ => None,
                };
                let here = addresses.iter().zip(&mut types).filter(|(address, _)| Some(**address) == found);
                for (_, of) in here.filter(|(_, of)| of.is_none()) {
                    let die = Die { unit: number, offset: entry.offset() };
                    *of = debug.follow(die, DW_AT_type).map(|of| self.plain(of));
                }
            }
        }
        Ok(types)
    }

    /// The type that others only rename or qualify.
    fn plain(&self, of: Die) -> Die {
        let debug = &self.0;
        let mut of = of;
        for _ in 0..DEPTH {
            let tag = debug.entry(of).map(|entry| entry.tag());
            let inner = match tag {
                Some(DW_TAG_typedef | DW_TAG_const_type | DW_TAG_volatile_type | DW_TAG_atomic_type) => {
                    debug.follow(of, DW_AT_type)
                }
                _ => None,
            };
            match inner {
                Some(inner) => of = inner,
                None => break,
            }
        }
        of
    }

    fn number(&self, of: Die, attribute: DwAt) -> Option<u64> {
        self.0.attribute(of, attribute).and_then(|(_, value)| value.udata_value())
    }

    fn member(&self, at: Place, name: &str, of: &dyn Fn() -> String) -> Result<Place, PartError> {
        let mut members = Vec::new();
        let found = if at.dimension == 0 { self.named(at.of, name, &mut members, DEPTH) } else { None };
        let Some((member, offset)) = found else {
            return Err(PartError::NoMember { of: of(), member: name.to_owned(), members });
        };
        if [DW_AT_bit_size, DW_AT_data_bit_offset].into_iter().any(|bits| self.number(member, bits).is_some())
        {
            return Err(PartError::BitField { of: format!("{}.{name}", of()) });
        }
        let inner = self.0.follow(member, DW_AT_type).ok_or_else(|| PartError::NoType { of: of() })?;
        Ok(Place { of: self.plain(inner), dimension: 0, addr: at.addr.wrapping_add(offset) })
    }

    /// The member of this name, and where it is; the names of all.
    fn named(&self, of: Die, name: &str, all: &mut Vec<String>, depth: usize) -> Option<(Die, u64)> {
        let debug = &self.0;
        let tag = debug.entry(of)?.tag();
        if depth == 0 || !matches!(tag, DW_TAG_structure_type | DW_TAG_class_type | DW_TAG_union_type) {
            return None;
        }
        let mut inner = Vec::new();
        for child in debug.children(of) {
            let Some(tag @ (DW_TAG_member | DW_TAG_inheritance)) =
                debug.entry(child).map(|entry| entry.tag())
            else {
                continue;
            };
            let offset = self.number(child, DW_AT_data_member_location).unwrap_or(0);
            match debug.text(child, DW_AT_name).filter(|_| tag == DW_TAG_member) {
                Some(found) => {
                    // Fields of tuples are called `__0`.
                    let found = found.strip_prefix("__").filter(|rest| is_number(rest)).unwrap_or(&found);
                    if found == name {
                        return Some((child, offset));
                    }
                    all.push(found.to_owned());
                }
                None => inner.extend(debug.follow(child, DW_AT_type).map(|of| (self.plain(of), offset))),
            }
        }
        inner.into_iter().find_map(|(of, offset)| {
            let (member, within) = self.named(of, name, all, depth - 1)?;
            Some((member, offset + within))
        })
    }

    fn element(&self, at: Place, index: u64, of: &dyn Fn() -> String) -> Result<Place, PartError> {
        let length = self.lengths(at.of).get(at.dimension).copied();
        let next = Place { dimension: at.dimension + 1, ..at };
        match (length, self.size(next)) {
            (Some(length), Some(size)) if index < length => {
                let addr = at.addr.wrapping_add(index.wrapping_mul(size));
                let is_last = next.dimension == self.lengths(at.of).len();
                let inner = self.0.follow(at.of, DW_AT_type).filter(|_| is_last);
                Ok(inner.map_or(Place { addr, ..next }, |inner| Place {
                    of: self.plain(inner),
                    dimension: 0,
                    addr,
                }))
            }
            _ => Err(PartError::NoElement { of: of(), index, length }),
        }
    }

    /// How many elements an array has in each dimension; none for what is no array.
    fn lengths(&self, of: Die) -> Vec<u64> {
        let debug = &self.0;
        let is = |die: Die, tag| debug.entry(die).is_some_and(|entry| entry.tag() == tag);
        if !is(of, DW_TAG_array_type) {
            return Vec::new();
        }
        let ranges = debug.children(of).into_iter().filter(|&child| is(child, DW_TAG_subrange_type));
        let length = |range| {
            let last = || self.number(range, DW_AT_upper_bound)?.checked_add(1);
            self.number(range, DW_AT_count).or_else(last).unwrap_or(0)
        };
        ranges.map(length).collect()
    }

    fn size(&self, at: Place) -> Option<u64> {
        self.size_within(at.of, at.dimension, DEPTH)
    }

    fn size_within(&self, of: Die, dimension: usize, depth: usize) -> Option<u64> {
        let (debug, of) = (&self.0, self.plain(of));
        let tag = debug.entry(of).filter(|_| depth > 0)?.tag();
        match tag {
            DW_TAG_array_type => {
                let element = self.size_within(debug.follow(of, DW_AT_type)?, 0, depth - 1)?;
                self.lengths(of)
                    .get(dimension..)?
                    .iter()
                    .try_fold(element, |size, &length| size.checked_mul(length))
            }
            DW_TAG_pointer_type | DW_TAG_reference_type => Some(8),
            _ => self.number(of, DW_AT_byte_size),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_behind_their_path() {
        for (name, parts) in [
            ("config.opened", Some(("config", ".opened"))),
            ("slots[3].owner", Some(("slots", "[3].owner"))),
            ("a::b::SLOTS[0]", Some(("a::b::SLOTS", "[0]"))),
            ("file.c:config.opened", Some(("file.c:config", ".opened"))),
            ("opened", None),
            ("file.c:opened", None),
            (".opened", None),
        ] {
            assert_eq!(split(name), parts, "{name}");
        }
    }

    #[test]
    fn parts_are_steps() {
        let ends = |part| steps(part).map(|steps| steps.iter().map(|(_, end)| *end).collect::<Vec<_>>());
        assert_eq!(ends("[3].owner.0"), Some(vec![3, 9, 11]));
        assert_eq!((ends("[x]"), ends("[3"), ends("[3]x")), (None, None, None));
    }
}
