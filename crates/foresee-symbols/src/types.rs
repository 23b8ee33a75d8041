//! Which types of parameters and results are read as what.
#![expect(non_upper_case_globals, reason = "the names of the standard")]

use gimli::{
    AttributeValue, DW_AT_byte_size, DW_AT_calling_convention, DW_AT_encoding, DW_AT_name, DW_AT_type,
    DW_ATE_UTF, DW_ATE_boolean, DW_ATE_signed, DW_ATE_signed_char, DW_ATE_unsigned, DW_ATE_unsigned_char,
    DW_CC_pass_by_reference, DW_TAG_atomic_type, DW_TAG_base_type, DW_TAG_class_type, DW_TAG_const_type,
    DW_TAG_enumeration_type, DW_TAG_inheritance, DW_TAG_member, DW_TAG_pointer_type, DW_TAG_reference_type,
    DW_TAG_restrict_type, DW_TAG_rvalue_reference_type, DW_TAG_structure_type, DW_TAG_typedef,
    DW_TAG_unspecified_type, DW_TAG_variant_part, DW_TAG_volatile_type,
};

use crate::by_address;
use crate::debug_info::{Debug, Die};
use crate::texts::{self, Text};

/// How a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    /// Bytes, at most 8 of what is no text.
    pub(crate) size: u8,
    pub(crate) signed: bool,
    /// It is the address of an object.
    pub(crate) object: bool,
    /// It is a text.
    pub(crate) text: Option<Text>,
}

/// What kind of type numbers are that are not whole.
pub(crate) const FLOATING_POINT: &str = "a floating-point number";

/// How often a type may be another's: no program needs more.
const INDIRECTIONS: usize = 32;

/// What kind of type classes are that are not passed as their member is.
const BY_ADDRESS: &str = "an object of a class, passed by its address";

/// How arguments and results of a type are read; otherwise what kind of type it is, for people.
pub(crate) fn passed(debug: &Debug<'_, '_>, of: Die) -> Result<Scalar, String> {
    match by_address::is_passed_so(debug, of) {
        true => Err(BY_ADDRESS.to_owned()),
        false => scalar(debug, of),
    }
}

/// How values of a type are read; otherwise what kind of type it is, for people.
pub(crate) fn scalar(debug: &Debug<'_, '_>, of: Die) -> Result<Scalar, String> {
    within(debug, of, INDIRECTIONS)
}

fn within(debug: &Debug<'_, '_>, of: Die, left: usize) -> Result<Scalar, String> {
    let unknown = || "of a type that cannot be read".to_owned();
    let entry = debug.entry(of).filter(|_| left > 0).ok_or_else(unknown)?;
    let size = entry.attr_value(DW_AT_byte_size).and_then(|size| size.udata_value());
    let inner = || debug.follow(of, DW_AT_type);
    match entry.tag() {
        DW_TAG_typedef | DW_TAG_const_type | DW_TAG_volatile_type | DW_TAG_restrict_type
        | DW_TAG_atomic_type => within(debug, inner().ok_or_else(unknown)?, left - 1),
        DW_TAG_pointer_type | DW_TAG_reference_type | DW_TAG_rvalue_reference_type => {
            let is_pointer = entry.tag() == DW_TAG_pointer_type;
            let text = match inner().filter(|_| is_pointer) {
                Some(to) if is_constant_char(debug, to) => Some(Text::Ended),
                Some(to) => texts::reference(debug, of, to),
                None => None,
            };
            Ok(Scalar { size: 8, signed: false, object: true, text })
        }
        DW_TAG_enumeration_type => match inner() {
            Some(number) => within(debug, number, left - 1),
            None => number(size, false),
        },
        DW_TAG_base_type => {
            let encoding = match entry.attr_value(DW_AT_encoding) {
                Some(AttributeValue::Encoding(encoding)) => encoding,
                _ => return Err(unknown()),
            };
            match encoding {
                DW_ATE_signed | DW_ATE_signed_char => number(size, true),
                DW_ATE_unsigned | DW_ATE_unsigned_char | DW_ATE_boolean | DW_ATE_UTF => number(size, false),
                _ => Err(FLOATING_POINT.to_owned()),
            }
        }
        DW_TAG_structure_type | DW_TAG_class_type => {
            let convention = entry.attr_value(DW_AT_calling_convention);
            if let Some(AttributeValue::CallingConvention(DW_CC_pass_by_reference)) = convention {
                return Err(BY_ADDRESS.to_owned());
            }
            match (texts::own(debug, of), size.and_then(|size| u8::try_from(size).ok())) {
                (text @ Some(_), Some(size)) => Ok(Scalar { size, signed: false, object: false, text }),
                _ => newtype(debug, of, size, left - 1),
            }
        }
        DW_TAG_unspecified_type => Err("of a type without values".to_owned()),
        _ => Err("a structure".to_owned()),
    }
}

/// Whether a pointer to this type is what C has for texts: `const char *`, under whatever name.
fn is_constant_char(debug: &Debug<'_, '_>, of: Die) -> bool {
    let (mut of, mut is_constant) = (of, false);
    for _ in 0..INDIRECTIONS {
        match debug.entry(of).map(|entry| entry.tag()) {
            Some(DW_TAG_const_type) => is_constant = true,
            Some(DW_TAG_typedef) => {}
            Some(DW_TAG_base_type) => {
                return is_constant && debug.text(of, DW_AT_name).is_some_and(|name| name == "char");
            }
            _ => return false,
        }
        match debug.follow(of, DW_AT_type) {
            Some(inner) => of = inner,
            None => return false,
        }
    }
    false
}

fn number(size: Option<u64>, signed: bool) -> Result<Scalar, String> {
    match size.and_then(|size| u8::try_from(size).ok()).filter(|size| (1..=8).contains(size)) {
        Some(size) => Ok(Scalar { size, signed, object: false, text: None }),
        None => Err("a number of more than 64 bits".to_owned()),
    }
}

/// A structure with one member that is not empty, its own or of a class that it is derived from, is passed as that member.
fn newtype(debug: &Debug<'_, '_>, of: Die, size: Option<u64>, left: usize) -> Result<Scalar, String> {
    let structure = || "a structure".to_owned();
    let mut only: Option<Scalar> = None;
    for member in debug.children(of) {
        let tag = debug.entry(member).map(|entry| entry.tag());
        if tag == Some(DW_TAG_variant_part) {
            return Err("an enum with fields".to_owned());
        }
        if !matches!(tag, Some(DW_TAG_member | DW_TAG_inheritance)) {
            continue;
        }
        let of_member = debug.follow(member, DW_AT_type).ok_or_else(structure)?;
        if is_empty(debug, of_member, left) {
            continue;
        }
        if only.replace(within(debug, of_member, left)?).is_some() {
            return Err(structure());
        }
    }
    only.filter(|scalar| Some(u64::from(scalar.size)) == size).ok_or_else(structure)
}

fn is_empty(debug: &Debug<'_, '_>, of: Die, left: usize) -> bool {
    let Some(entry) = debug.entry(of).filter(|_| left > 0) else { return false };
    match entry.attr_value(DW_AT_byte_size).and_then(|size| size.udata_value()) {
        Some(size) => size == 0,
        None => debug.follow(of, DW_AT_type).is_some_and(|inner| is_empty(debug, inner, left - 1)),
    }
}
