//! What begins and ends an atomic block.
//!
//! An annotation (`BlockBegin`, `BlockEnd`), or entering and leaving a function that the configuration names:
//! `atomic = ["Bank::transfer"]`. Blocks nest, and only the outermost counts. An end without a begin is ignored.

use foresee_trace::{Names, Op, StrId};

/// The functions whose calls are atomic blocks, by patterns on their demangled names.
///
/// `Bank::transfer` is the function of that name in any module: `bank::Bank::transfer` too. A `*` at the start or the end
/// stands for any text: `Bank::*` are all functions of `Bank`, `*_atomically` all whose names end so.
#[derive(Clone, Debug, Default)]
pub struct AtomicFunctions {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    text: String,
    open_start: bool,
    open_end: bool,
}

impl AtomicFunctions {
    /// The functions that match one of the patterns.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Self {
        AtomicFunctions {
            patterns: patterns.into_iter().map(|pattern| Pattern::new(pattern.as_ref())).collect(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether the function of this name is atomic.
    pub fn matches(&self, function: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(function))
    }
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        let (open_start, rest) = match pattern.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let (open_end, text) = match rest.strip_suffix('*') {
            Some(text) => (true, text),
            None => (false, rest),
        };
        Pattern { text: text.to_owned(), open_start, open_end }
    }

    fn matches(&self, name: &str) -> bool {
        let starts_well = |before: &str| self.open_start || before.is_empty() || before.ends_with("::");
        let fits = |at| {
            let (before, from) = name.split_at(at);
            starts_well(before)
                && if self.open_end { from.starts_with(&self.text) } else { from == self.text }
        };
        (0..=name.len()).filter(|&at| name.is_char_boundary(at)).any(fits)
    }
}

/// The patterns applied to the names of a trace, each name once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    functions: AtomicFunctions,
    /// By the id of the name.
    is_atomic: Vec<bool>,
}

/// An end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    Begin(StrId),
    End,
}

impl Blocks {
    pub(crate) fn new(functions: AtomicFunctions) -> Self {
        Blocks { functions, is_atomic: Vec::new() }
    }

    /// Takes note of names that are new.
    pub(crate) fn learn(&mut self, names: &Names) {
        if self.functions.is_empty() {
            return;
        }
        let new = self.is_atomic.len()..names.string_count();
        self.is_atomic.extend(new.map(|id| self.functions.matches(names.str(StrId(id as u32)))));
    }

    pub(crate) fn is_atomic(&self, function: StrId) -> bool {
        self.is_atomic.get(function.index()).copied().unwrap_or(false)
    }

    /// Whether the operation begins or ends a block.
    #[inline]
    pub(crate) fn boundary(&self, op: &Op<'_>) -> Option<Boundary> {
        match *op {
            Op::BlockBegin { name } => Some(Boundary::Begin(name)),
            Op::BlockEnd { .. } => Some(Boundary::End),
            Op::Enter { function } if self.is_atomic(function) => Some(Boundary::Begin(function)),
            Op::Exit { function } if self.is_atomic(function) => Some(Boundary::End),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_path_segments() {
        let matches = |pattern: &str, name: &str| AtomicFunctions::new([pattern]).matches(name);
        for (pattern, name, expected) in [
            ("Bank::transfer", "Bank::transfer", true),
            ("Bank::transfer", "app::Bank::transfer", true),
            ("Bank::transfer", "app::MyBank::transfer", false),
            ("Bank::transfer", "Bank::transfer_all", false),
            ("Bank::*", "app::Bank::deposit", true),
            ("Bank::*", "app::Banks::deposit", false),
            ("*_atomically", "app::run_atomically", true),
            ("*_atomically", "app::run_atomically_not", false),
            ("*Bank*", "app::MyBanks::new", true),
            ("*", "anything", true),
            ("fn", "äfn", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
