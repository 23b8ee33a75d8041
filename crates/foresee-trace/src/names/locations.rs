//! Places in the source, and how they are written.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::strings::{ByString, Strings};
use crate::ids::{LocId, StrId};

/// A place in the source. Empty parts are unknown: a text trace's `345` is a line without a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Location {
    /// The file's path, or any label the trace gives.
    pub file: StrId,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The function, demangled.
    pub function: StrId,
}

/// The locations of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Locations {
    all: Vec<Location>,
    ids: FxHashMap<Location, LocId>,
    of_text: ByString,
}

impl Locations {
    /// All of them, by id.
    pub(super) fn all(&self) -> &[Location] {
        &self.all
    }

    /// The id of a location.
    pub(super) fn id(&mut self, location: Location) -> LocId {
        let next = LocId(self.all.len() as u32);
        let id = *self.ids.entry(location).or_insert(next);
        if id == next {
            self.all.push(location);
        }
        id
    }

    /// The id of a location that is written like this.
    #[inline]
    pub(super) fn of_text(&mut self, text: &str, strings: &mut Strings) -> LocId {
        let key = strings.intern(text);
        match self.of_text.get(key) {
            Some(id) => LocId(id),
            None => {
                let id = self.id(parse(text, strings));
                self.of_text.set(key, id.0);
                id
            }
        }
    }

    /// How a location is written.
    pub(super) fn text(&self, id: LocId, strings: &Strings) -> String {
        let Some(at) = self.all.get(id.index()) else { return String::new() };
        let mut text = strings.get(at.file).to_owned();
        if at.line != 0 {
            let colon = if text.is_empty() { "" } else { ":" };
            let _ = write!(text, "{colon}{}", at.line);
            if at.column != 0 {
                let _ = write!(text, ":{}", at.column);
            }
        }
        if at.function != StrId::EMPTY {
            let _ = write!(text, " in {}", strings.get(at.function));
        }
        text
    }
}

fn parse(text: &str, strings: &mut Strings) -> Location {
    let (place, function) = match text.rsplit_once(" in ") {
        Some((place, function)) if !function.is_empty() => (place, function),
        _ => (text, ""),
    };
    let function = strings.intern(function);
    // Only numbers that print the same way are numbers: `007` stays a label.
    let number = |s: &str| s.parse::<u32>().ok().filter(|&n| n > 0 && n.to_string() == s);
    if let Some(line) = number(place) {
        return Location { line, function, ..Location::default() };
    }
    let (file, line, column) = match place.rsplit_once(':').map(|(rest, last)| (rest, number(last))) {
        Some((rest, Some(last))) if !rest.is_empty() => match rest.rsplit_once(':') {
            Some((file, line)) if !file.is_empty() && number(line).is_some() => {
                (file, number(line).unwrap_or(0), last)
            }
            _ => (rest, last, 0),
        },
        _ => (place, 0, 0),
    };
    Location { file: strings.intern(file), line, column, function }
}
