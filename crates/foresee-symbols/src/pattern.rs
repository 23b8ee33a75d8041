//! Patterns on names: `*` stands for anything.

/// A pattern: parts that must follow each other, with anything between.
#[derive(Clone, Debug)]
pub struct Pattern {
    parts: Vec<String>,
    at_start: bool,
    at_end: bool,
}

impl Pattern {
    /// A pattern as suppression files have it: of a part of the text, unless `^` or `$` say otherwise.
    pub fn new(text: &str) -> Pattern {
        let (text, at_start) = text.strip_prefix('^').map_or((text, false), |rest| (rest, true));
        let (text, at_end) = text.strip_suffix('$').map_or((text, false), |rest| (rest, true));
        Pattern { parts: text.split('*').map(str::to_owned).collect(), at_start, at_end }
    }

    /// Whether a text matches; an empty one does not.
    pub fn matches(&self, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        let mut rest = text;
        for (i, part) in self.parts.iter().enumerate() {
            let last = i + 1 == self.parts.len();
            if last && self.at_end {
                let anchored = i > 0 || !self.at_start || rest.len() == part.len();
                return anchored && rest.ends_with(part.as_str());
            }
            match rest.find(part.as_str()) {
                Some(at) if i > 0 || !self.at_start || at == 0 => rest = &rest[at + part.len()..],
                _ => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_as_in_thread_sanitizer() {
        let matches = |pattern, text| Pattern::new(pattern).matches(text);
        assert!(matches("foo", "my_foo_bar"));
        assert!(!matches("^foo", "my_foo_bar"));
        assert!(matches("^my*bar$", "my_foo_bar"));
        assert!(!matches("^my*fo$", "my_foo_bar"));
        assert!(matches("*", "anything") && matches("", "anything") && !matches("x", ""));
        assert!(matches("^foo$", "foo") && !matches("^foo$", "foofoo") && !matches("^foo$", "xfoo"));
        assert!(matches("a*b*c", "xaybzc") && !matches("a*b*c", "xaycb"));
    }
}
