//! How memory is written: `name`, `name[4..8]`, `[0x7ffe10..0x7ffe14]`, each with `=value` or without.
//!
//! The functions that take such text apart are also what the writer asks whether a name needs an escape, so that both
//! agree on what is a name.

use super::escape::escape;
use super::number::is_number;

/// Takes `text=value` apart; without a value, all of it is the rest.
#[inline]
pub(super) fn split_value(text: &str) -> (&str, Option<&str>) {
    match rsplit_at_byte(text, b'=') {
        Some((rest, value)) if is_number(value) || split_pair(value).is_some() => (rest, Some(value)),
        _ => (text, None),
    }
}

/// The two numbers of `1->2`.
pub(super) fn split_pair(value: &str) -> Option<(&str, &str)> {
    value.split_once("->").filter(|(a, b)| is_number(a) && is_number(b))
}

/// Takes `name[from..to]` apart.
#[inline]
pub(super) fn split_range(text: &str) -> Option<(&str, &str, &str)> {
    let (name, range) = text.strip_suffix(']')?.rsplit_once('[')?;
    let (from, to) = range.split_once("..")?;
    (is_number(from) && is_number(to)).then_some((name, from, to))
}

/// The text at both sides of the last `byte` (an ASCII one).
#[inline]
fn rsplit_at_byte(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.as_bytes().iter().rposition(|&b| b == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Appends a variable's name so that no part of it is taken for a value or a range.
pub(super) fn escape_variable(out: &mut String, name: &str) {
    let special = match (split_value(name), split_range(name)) {
        ((rest, Some(_)), _) => Some(rest.len()),
        (_, Some((rest, _, _))) => Some(rest.len()),
        _ => None,
    };
    escape(out, name, |at, _| Some(at) == special);
}

#[cfg(test)]
mod tests {
    use super::super::escape::unescape;
    use super::*;

    #[test]
    fn only_numbers_are_values_and_ranges() {
        assert_eq!(split_value("x=1=-2"), ("x=1", Some("-2")));
        assert_eq!(split_value("x=1->0x2"), ("x", Some("1->0x2")));
        for name in ["a=b", "x=", "x==", "x=1->", "f(a=1)"] {
            assert_eq!(split_value(name), (name, None));
        }
        assert_eq!(split_range("buf[4..0x8]"), Some(("buf", "4", "0x8")));
        assert_eq!(split_range("[1..2]"), Some(("", "1", "2")));
        for name in ["V[0]", "V[a..b]", "V[1..]", "[1..2", "[1..2]]"] {
            assert_eq!(split_range(name), None);
        }
    }

    #[test]
    fn escaped_variables_are_just_names() {
        for name in [
            "x=1",
            "x=1=2",
            "x[1..2]",
            "[0x1..0x2]",
            "[0..1[2..3]",
            "x[1..2]=3",
            "x=1[1..2]",
            "=1->2",
            "=1",
            "",
        ] {
            let mut text = String::new();
            escape_variable(&mut text, name);
            assert_eq!((split_value(&text), split_range(&text)), ((text.as_str(), None), None), "{name}");
            assert_eq!(unescape(&text), name);
        }
    }
}
