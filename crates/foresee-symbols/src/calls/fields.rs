//! Fields of the objects that parameters and results point to.
#![expect(non_upper_case_globals, reason = "the names of the standard")]

use gimli::{
    DW_AT_name, DW_AT_type, DW_TAG_const_type, DW_TAG_pointer_type, DW_TAG_reference_type,
    DW_TAG_restrict_type, DW_TAG_rvalue_reference_type, DW_TAG_typedef, DW_TAG_volatile_type,
};

use super::refusal::Refusal;
use crate::debug_info::{Debug, Die};
use crate::static_parts;
use crate::types::{self, Scalar};

/// How often a type may be another's name.
const INDIRECTIONS: usize = 32;

/// What is asked for: a field of a type, of what some parameter of a function points to.
pub(super) struct FieldOf<'a> {
    pub(super) function: &'a str,
    /// What people call the parameter.
    pub(super) object: String,
    pub(super) of_type: &'a str,
    pub(super) path: &'a str,
}

/// Where the field is in the object, and how it is read; `of` is the type of the parameter.
pub(super) fn find(
    debug: &Debug<'_, '_>,
    of: Option<Die>,
    asked: &FieldOf<'_>,
) -> Result<(u32, Scalar), Refusal> {
    let function = asked.function.to_owned();
    let (to, names) = pointee(debug, of);
    let is_it = names.iter().any(|name| name.split('<').next() == Some(asked.of_type));
    let Some(to) = to.filter(|_| is_it) else {
        let FieldOf { object, of_type, path, .. } = asked;
        let but = names.first().map(|to| format!(", but to `{to}`")).unwrap_or_default();
        let what =
            format!("{object} does not point to `{of_type}`, of which the field `{path}` is asked{but}");
        return Err(Refusal::NoObject { function, what });
    };
    let field = format!("{}.{}", asked.of_type, asked.path);
    let (offset, of) = static_parts::field(debug, to, asked.of_type, asked.path)
        .map_err(|why| Refusal::NoField { function: function.clone(), why })?;
    let refused =
        |what: String| Refusal::FieldType { function: function.clone(), field: field.clone(), what };
    let scalar = types::scalar(debug, of).map_err(refused)?;
    if offset % u64::from(scalar.size.max(1)) != 0 {
        return Err(refused("not aligned".to_owned()));
    }
    match (u32::try_from(offset), scalar) {
        (Ok(offset), Scalar { object: false, text: None, size: 1 | 2 | 4 | 8, .. }) => Ok((offset, scalar)),
        _ => Err(refused("no number".to_owned())),
    }
}

/// The type that a pointer or reference leads to, and all its names.
fn pointee(debug: &Debug<'_, '_>, of: Option<Die>) -> (Option<Die>, Vec<String>) {
    let mut names = Vec::new();
    let (mut at, mut is_behind) = (of, false);
    for _ in 0..INDIRECTIONS {
        let Some((die, entry)) = at.and_then(|die| Some((die, debug.entry(die)?))) else { break };
        let is_name = matches!(
            entry.tag(),
            DW_TAG_typedef | DW_TAG_const_type | DW_TAG_volatile_type | DW_TAG_restrict_type
        );
        let is_pointer =
            matches!(entry.tag(), DW_TAG_pointer_type | DW_TAG_reference_type | DW_TAG_rvalue_reference_type);
        if is_behind {
            names.extend(debug.text(die, DW_AT_name));
        }
        if is_name || is_pointer && !is_behind {
            is_behind |= is_pointer;
            at = debug.follow(die, DW_AT_type);
            continue;
        }
        return (is_behind.then_some(die), names);
    }
    (None, names)
}
