//! The one escape of the text form: `\u{…}`, the hexadecimal number of a character, or nothing for no character.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::is_printable;

/// What stands for an empty name.
pub(super) const EMPTY: &str = "\\u{}";

/// The name that a piece of a line means. What is no escape stays as it is.
#[inline]
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\\', text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(unescape_all(text)),
    }
}

fn unescape_all(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u{") {
        name.push_str(before);
        match leading_code(after) {
            Some((character, after)) => {
                name.extend(character);
                rest = after;
            }
            None => {
                name.push_str("\\u{");
                rest = after;
            }
        }
    }
    name.push_str(rest);
    name
}

/// The character (or none) of an escape whose `\u{` was read already, and what comes after the escape.
fn leading_code(text: &str) -> Option<(Option<char>, &str)> {
    let (code, after) = text.split_once('}')?;
    if code.is_empty() {
        return Some((None, after));
    }
    let is_code = code.len() <= 6 && code.bytes().all(|b| b.is_ascii_hexdigit());
    let character = u32::from_str_radix(code, 16).ok().and_then(char::from_u32)?;
    is_code.then_some((Some(character), after))
}

/// Appends a name so that it reads back: escapes what is special anywhere in a line, and the characters for which
/// `special` (given the position in bytes) says so. An empty name becomes [`EMPTY`].
pub(super) fn escape(out: &mut String, name: &str, special: impl Fn(usize, char) -> bool) {
    if name.is_empty() {
        out.push_str(EMPTY);
    }
    for (at, c) in name.char_indices() {
        let looks_like_escape = c == '\\' && name[at..].starts_with("\\u{");
        if c == '|' || !is_printable(c) || looks_like_escape || special(at, c) {
            push_escaped(out, c);
        } else {
            out.push(c);
        }
    }
}

/// Appends a character as an escape.
pub(super) fn push_escaped(out: &mut String, c: char) {
    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_escapes_are_escapes() {
        assert_eq!(unescape("a\\u{7c}b\\u{}"), "a|b");
        for literal in [
            "C:\\new\\u",
            "\\u{zz}",
            "\\u{110000}",
            "\\u{d800}",
            "\\u{+41}",
            "\\u{41",
            "\\\\",
            "\\u{0000041}",
        ] {
            assert_eq!(unescape(literal), literal);
        }
        assert_eq!(unescape("\\u{x\\u{41}"), "\\u{xA");
    }

    #[test]
    fn escaped_names_read_back() {
        for name in ["", "|", "\\", "\\u{41}", "\\u{\\u{}", "a\nb\r", "\u{feff}T", "é|∀", "\\u{5c}"] {
            let mut text = String::new();
            escape(&mut text, name, |_, _| false);
            assert!(!text.is_empty() && !text.contains(['|', '\n', '\r']));
            assert_eq!(unescape(&text), name, "written as {text}");
        }
    }
}
