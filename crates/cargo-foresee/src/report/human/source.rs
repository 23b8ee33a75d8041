//! Source lines to quote.

use std::collections::HashMap;

use foresee_trace::printable;

use super::expression;
use crate::report::model::Location;
use crate::report::source_roots::SourceRoots;

/// Files that were read, by path as the trace names it; `None` for what cannot be read.
pub(crate) struct Sources<'a> {
    roots: &'a SourceRoots,
    files: HashMap<String, Option<Vec<String>>>,
}

/// A line of source, and what in it is meant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u32,
    pub(crate) text: String,
    /// How many characters come before what is meant, and how many it has.
    pub(crate) before: usize,
    pub(crate) marked: usize,
}

/// So many characters of a line are shown.
const MAX_CHARACTERS: usize = 400;

impl<'a> Sources<'a> {
    /// Files below these folders.
    pub(crate) fn new(roots: &'a SourceRoots) -> Sources<'a> {
        Sources { roots, files: HashMap::new() }
    }

    /// The line at a location, if its file is here.
    pub(crate) fn line(&mut self, location: &Location) -> Option<Line> {
        let (file, line) = (location.file.as_deref()?, location.line?);
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| {
            let text = self.roots.read(file)?;
            Some(text.lines().map(str::to_owned).collect())
        });
        let text = lines.as_ref()?.get((line as usize).checked_sub(1)?)?;
        Some(marked(line, text.trim_end(), location.column.unwrap_or(0)))
    }
}

/// Marks what is at a column, which compilers count in bytes, from 1; with 0 the whole line.
fn marked(number: u32, text: &str, column: u32) -> Line {
    let indent = text.len() - text.trim_start().len();
    let at = (column as usize).checked_sub(1).filter(|&at| at < text.len() && text.is_char_boundary(at));
    let (before, meant) = match at {
        Some(at) => {
            let (before, rest) = text.split_at(expression::start(text, at));
            (before, &rest[..expression::length(rest)])
        }
        None => text.split_at(indent),
    };
    let shown = |part: &str| printable(&part.replace('\t', "    ")).into_owned();
    let (before, marked) = (shown(before).chars().count(), shown(meant).chars().count());
    let text: String = shown(text).chars().take(MAX_CHARACTERS).collect();
    let before = before.min(MAX_CHARACTERS);
    Line { number, text, before, marked: marked.min(MAX_CHARACTERS - before).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_bytes_and_tabs_are_wide() {
        let line = marked(7, "\t\"ü\"; x += 1;", 8);
        assert_eq!((line.before, line.marked, line.text.as_str()), (9, 6, "    \"ü\"; x += 1;"));
        assert_eq!((marked(7, "  x = 1;", 0).before, marked(7, "  x = 1;", 0).marked), (2, 6));
        // No such column, or one within a character.
        for column in [3, 4, 99] {
            let line = marked(7, " ü", column);
            assert_eq!((line.before, line.marked), (1, 1));
        }
        let long = marked(7, &"x".repeat(1 << 20), 0);
        assert_eq!((long.text.len(), long.before, long.marked), (MAX_CHARACTERS, 0, MAX_CHARACTERS));
        assert_eq!(marked(7, "", 1), Line { number: 7, text: String::new(), before: 0, marked: 1 });
    }
}
