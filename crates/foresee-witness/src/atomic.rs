//! Which functions are meant to be atomic, by patterns on their names.

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
