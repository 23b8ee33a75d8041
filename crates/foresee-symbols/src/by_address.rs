//! Which classes of C++ are passed by their address: those with copy constructors, move constructors or destructors that do something, of their own or of what is in them (Itanium C++ ABI,
//! "non-trivial for the purposes of calls"). clang says so itself, gcc does not.
#![expect(non_upper_case_globals, reason = "the names of the standard")]

use gimli::{
    AttributeValue, DW_AT_artificial, DW_AT_calling_convention, DW_AT_defaulted, DW_AT_deleted,
    DW_AT_external, DW_AT_name, DW_AT_type, DW_AT_virtuality, DW_CC_pass_by_reference, DW_DEFAULTED_in_class,
    DW_TAG_array_type, DW_TAG_class_type, DW_TAG_const_type, DW_TAG_formal_parameter, DW_TAG_inheritance,
    DW_TAG_member, DW_TAG_reference_type, DW_TAG_rvalue_reference_type, DW_TAG_structure_type,
    DW_TAG_subprogram, DW_TAG_typedef, DW_TAG_union_type, DW_TAG_volatile_type, DwAt,
};

use crate::debug_info::{Debug, Die};

/// How deep classes may be in each other: no program needs more.
const DEPTH: usize = 32;
/// How the member is called that leads to virtual functions.
const VIRTUAL_TABLE: &str = "_vptr";

/// Whether arguments and results of this type are addresses of objects that caller and function have for them.
pub(crate) fn is_passed_so(debug: &Debug<'_, '_>, of: Die) -> bool {
    within(debug, of, DEPTH, &mut Vec::new())
}

/// `seen` are the classes that were looked at.
fn within(debug: &Debug<'_, '_>, of: Die, left: usize, seen: &mut Vec<Die>) -> bool {
    let Some(entry) = debug.entry(of).filter(|_| left > 0 && !seen.contains(&of)) else { return false };
    match entry.tag() {
        DW_TAG_typedef | DW_TAG_const_type | DW_TAG_volatile_type | DW_TAG_array_type => {
            debug.follow(of, DW_AT_type).is_some_and(|inner| within(debug, inner, left - 1, seen))
        }
        DW_TAG_structure_type | DW_TAG_class_type | DW_TAG_union_type => {
            let convention = entry.attr_value(DW_AT_calling_convention);
            if let Some(AttributeValue::CallingConvention(convention)) = convention {
                return convention == DW_CC_pass_by_reference;
            }
            seen.push(of);
            let parts = debug.children(of);
            let mut of_part = |part: Die| {
                debug.follow(part, DW_AT_type).is_some_and(|of| within(debug, of, left - 1, seen))
            };
            let is_by_address = |part: &Die| match debug.entry(*part).map(|entry| entry.tag()) {
                Some(DW_TAG_inheritance) => has(debug, *part, DW_AT_virtuality) || of_part(*part),
                // What is static is in no object.
                Some(DW_TAG_member) if !has(debug, *part, DW_AT_external) => {
                    let name = debug.text(*part, DW_AT_name).unwrap_or_default();
                    name.starts_with(VIRTUAL_TABLE) || of_part(*part)
                }
                _ => false,
            };
            does_something(debug, of, &parts) || parts.iter().any(is_by_address)
        }
        _ => false,
    }
}

/// What the source says of a function that copies, moves or destroys an object.
#[derive(PartialEq, Eq)]
enum Said {
    /// Nothing, or that it is the usual one: what it does is what is done for the parts.
    Usual,
    /// It must not be called.
    Deleted,
    /// What it does.
    Code,
}

/// Whether the class itself says what is done when its objects are copied, moved or destroyed, or that they cannot be.
fn does_something(debug: &Debug<'_, '_>, class: Die, parts: &[Die]) -> bool {
    let Some(class) = debug.text(class, DW_AT_name) else { return false };
    let (mut is_deleted, mut is_usual) = (false, false);
    for &part in parts {
        let is_function = debug.entry(part).is_some_and(|entry| entry.tag() == DW_TAG_subprogram);
        let Some(name) = debug.text(part, DW_AT_name).filter(|_| is_function) else { continue };
        let is_destructor = name.starts_with('~');
        let is_constructor = without_arguments(&name) == without_arguments(&class);
        if !(is_destructor || is_constructor && takes_its_like(debug, part, &class)) {
            continue;
        }
        match said(debug, part) {
            Said::Code => return true,
            Said::Deleted => is_deleted |= !is_destructor,
            Said::Usual => is_usual |= !is_destructor,
        }
    }
    is_deleted && !is_usual
}

fn said(debug: &Debug<'_, '_>, function: Die) -> Said {
    let defaulted = debug.attribute(function, DW_AT_defaulted).map(|(_, value)| value);
    let is_default = defaulted.and_then(|how| how.udata_value()) == Some(u64::from(DW_DEFAULTED_in_class.0));
    match (has(debug, function, DW_AT_deleted), is_default || has(debug, function, DW_AT_artificial)) {
        (true, _) => Said::Deleted,
        (false, true) => Said::Usual,
        (false, false) => Said::Code,
    }
}

/// Whether the first argument of a constructor is a reference to an object of its class.
fn takes_its_like(debug: &Debug<'_, '_>, constructor: Die, class: &str) -> bool {
    let parameters = debug.children(constructor).into_iter();
    let mut declared = parameters.filter(|die| {
        let is_parameter = debug.entry(*die).is_some_and(|entry| entry.tag() == DW_TAG_formal_parameter);
        is_parameter && !has(debug, *die, DW_AT_artificial)
    });
    let mut of = declared.next().and_then(|first| debug.follow(first, DW_AT_type));
    let mut is_reference = false;
    for _ in 0..DEPTH {
        let Some((die, entry)) = of.and_then(|die| Some((die, debug.entry(die)?))) else { return false };
        match entry.tag() {
            DW_TAG_reference_type | DW_TAG_rvalue_reference_type => is_reference = true,
            DW_TAG_const_type | DW_TAG_volatile_type | DW_TAG_typedef => {}
            _ => return is_reference && debug.text(die, DW_AT_name).is_some_and(|name| name == class),
        }
        of = debug.follow(die, DW_AT_type);
    }
    false
}

fn has(debug: &Debug<'_, '_>, of: Die, attribute: DwAt) -> bool {
    match debug.attribute(of, attribute) {
        Some((_, AttributeValue::Flag(is_so))) => is_so,
        found => found.is_some(),
    }
}

/// A name without the arguments of its template.
fn without_arguments(name: &str) -> &str {
    name.split('<').next().unwrap_or_default()
}
