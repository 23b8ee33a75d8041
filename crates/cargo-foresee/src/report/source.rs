//! Source lines to quote.

use std::collections::HashMap;
use std::path::Path;

use foresee_trace::{LocId, Names};

/// Files that were read, by path as the trace names it; `None` for what cannot be read.
#[derive(Default)]
pub(crate) struct Sources {
    files: HashMap<String, Option<Vec<String>>>,
}

/// A line of source.
pub(crate) struct Line {
    pub(crate) number: u32,
    /// From 1; 0 if unknown.
    pub(crate) column: u32,
    pub(crate) text: String,
}

/// Files larger than this are not source.
const MAX_BYTES: u64 = 16 << 20;

impl Sources {
    /// The line at a location, if its file is here.
    pub(crate) fn line(&mut self, names: &Names, loc: LocId) -> Option<Line> {
        let at = names.location_at(loc);
        let file = names.str(at.file);
        if at.line == 0 || file.is_empty() {
            return None;
        }
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| read(Path::new(file)));
        let text = lines.as_ref()?.get(at.line as usize - 1)?;
        Some(Line { number: at.line, column: at.column, text: text.replace('\t', "    ") })
    }
}

fn read(path: &Path) -> Option<Vec<String>> {
    let known = path.metadata().ok()?;
    if !known.is_file() || known.len() > MAX_BYTES {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}
