//! What is wrong with a spec, reported so that a person can fix it.

use std::fmt::Write as _;
use std::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The spec works, but probably not as meant.
    Warning,
    /// The spec cannot be used.
    Error,
}

/// A part of the spec's text, in bytes.
pub type Span = Range<usize>;

/// An error or warning about a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to write below the caret: what was expected there.
    pub label: String,
    /// What to do about it, if that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Something that makes the spec unusable.
    pub fn error(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        let (message, label) = (message.into(), label.into());
        Diagnostic { severity: Severity::Error, message, span, label, help: None }
    }

    /// Something that is probably not intended.
    pub fn warning(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message, label) }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// Adds "did you mean", if one of the known names is close to what was written.
    #[must_use]
    pub fn with_suggestion<'a>(self, written: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        match closest(written, known) {
            Some(name) => self.with_help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Line and column of the start, both from 1; columns count characters.
    pub fn position(&self, source: &str) -> (usize, usize) {
        let before = source.get(..self.span.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The message, the line with the place marked, and what to do; `file` is what the spec is called.
    pub fn rendered(&self, file: &str, source: &str) -> String {
        let (line, column) = self.position(source);
        let written = source.lines().nth(line - 1).unwrap_or_default();
        // Of a very long line, what is around the place.
        let before = if column > LONG { column - LONG / 2 } else { 0 };
        let written: String = written.chars().skip(before).take(LONG).collect();
        let width = line.to_string().len();
        let marked = source.get(self.span.clone()).unwrap_or_default();
        let within_line = marked.lines().next().unwrap_or_default().chars().count().clamp(1, LONG);
        let mut out = self.message.clone();
        let mut push = |text: std::fmt::Arguments<'_>| {
            let _ = out.write_fmt(text);
        };
        push(format_args!("\n {:width$} ┌─ {file}:{line}:{column}", ""));
        push(format_args!("\n {line} │ {written}"));
        let (blank, marks) = (" ".repeat(column - 1 - before), "^".repeat(within_line));
        push(format_args!("\n {:width$} │ {blank}{marks} {}", "", self.label));
        if let Some(help) = &self.help {
            push(format_args!("\n {:width$} = help: {help}", ""));
        }
        out
    }
}

/// The known name that needs the fewest edits, if that is at most a third of its letters (or one).
pub fn closest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |name: &'a str| {
        if written.len().max(name.len()) > LONG {
            return None;
        }
        let edits = distance(written, name);
        (edits <= (name.chars().count() / 3).max(1)).then_some((edits, name))
    };
    known.into_iter().filter_map(near).min().map(|(_, name)| name)
}

/// Of longer lines only a part is shown, and longer names are not compared.
const LONG: usize = 240;

/// How many letters must be added, dropped, changed or swapped with their neighbour; case does not count.
fn distance(left: &str, right: &str) -> usize {
    let [left, right] = [left, right].map(|text| text.to_lowercase().chars().collect::<Vec<char>>());
    let mut rows = vec![(0..=right.len()).collect::<Vec<usize>>()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let change = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut least = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_shown_where_they_are() {
        let text = "property P {\n    event a;\n}\n";
        let problem = Diagnostic::error(23..24, "what is `a`?", "not this").with_help("use `b`");
        let expected =
            "what is `a`?\n   ┌─ x.rv:2:11\n 2 │     event a;\n   │           ^ not this\n   = help: use `b`";
        assert_eq!(problem.rendered("x.rv", text), expected);
    }
}
