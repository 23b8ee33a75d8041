//! What is wrong with a line, before it is known which line that is.

use std::borrow::Cow;

use crate::{TraceError, is_printable};

/// A mistake in a line: `at` is the piece of the line that is not what was expected.
#[derive(Debug)]
pub(super) struct Fault<'a> {
    pub(super) at: &'a str,
    pub(super) expected: Cow<'static, str>,
    /// What the writer may have meant.
    pub(super) suggestion: Option<&'static str>,
}

/// A fault without a suggestion.
pub(super) fn fault<'a>(at: &'a str, expected: impl Into<Cow<'static, str>>) -> Fault<'a> {
    Fault { at, expected: expected.into(), suggestion: None }
}

impl Fault<'_> {
    /// The error to report; `self.at` is a piece of `line`.
    pub(super) fn into_error(self, line: &str, number: u64) -> TraceError {
        let start = (self.at.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
        let before = line.get(..start).unwrap_or(line);
        let mut found = match (self.at, line[before.len()..].chars().next()) {
            ("", None) => "the end of the line".to_owned(),
            ("", Some(next)) => format!("`{next}`"),
            (at, _) => quoted(at),
        };
        if let Some(suggestion) = self.suggestion {
            found.push_str(&format!(" (did you mean `{suggestion}`?)"));
        }
        let column = before.chars().count() as u64 + 1;
        TraceError::Text { line: number, column, expected: self.expected.into_owned(), found }
    }
}

/// A piece of a line as part of a message: short, and without characters that would harm a terminal.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut quoted = String::from("`");
    for c in text.chars().take(LONGEST) {
        if !is_printable(c) {
            quoted.extend(c.escape_default());
        } else {
            quoted.push(c);
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        quoted.push('…');
    }
    quoted.push('`');
    quoted
}
