//! The end of a path, with `*` for any text.

/// What stands between the `*`.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    parts: Vec<String>,
}

impl PathPattern {
    pub(super) fn new(text: &str) -> PathPattern {
        PathPattern { parts: text.split('*').map(str::to_owned).collect() }
    }

    /// Whether the path ends like this, from a place on at which a name may start.
    pub(super) fn is_end_of(&self, path: &str, may_start_behind: fn(&str) -> bool) -> bool {
        let starts = path.char_indices().map(|(at, _)| at).filter(|&at| may_start_behind(&path[..at]));
        starts.into_iter().any(|start| self.is_whole(&path[start..]))
    }

    fn is_whole(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.parts.as_slice() else {
            return self.parts.first().is_some_and(|only| only == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            let Some(at) = rest.find(part.as_str()) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last.as_str())
    }
}
