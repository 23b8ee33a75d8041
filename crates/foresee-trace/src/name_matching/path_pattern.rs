//! The end of a path, with `*` for any text, and with type arguments where these are written.

use super::function_path::{WithArguments, types};

/// What a path ends in.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    path: String,
    /// The type arguments that are written, each list with its place in the path.
    arguments: Vec<(usize, Vec<String>)>,
}

impl PathPattern {
    pub(super) fn new(text: &str) -> PathPattern {
        PathPattern { path: text.to_owned(), arguments: Vec::new() }
    }

    /// Of a name in which type arguments may be written.
    pub(super) fn with_arguments(name: &str) -> PathPattern {
        let WithArguments { path, arguments } = WithArguments::of(name);
        let path = path.trim();
        let arguments = arguments.iter().map(|(at, list)| (*at.min(&path.len()), each(list))).collect();
        PathPattern { path: path.to_owned(), arguments }
    }

    /// Whether type arguments are written.
    pub(super) fn has_arguments(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// Whether the path ends like this, from a place on at which a name may start; type arguments do not count.
    pub(super) fn is_end_of(&self, path: &str, may_start_behind: fn(&str) -> bool) -> bool {
        self.is_end(path, may_start_behind, |_, _| true)
    }

    /// The same, and where type arguments are written it has these.
    pub(super) fn is_end_with_arguments(
        &self,
        whole: &WithArguments,
        may_start_behind: fn(&str) -> bool,
    ) -> bool {
        let path = whole.path.trim_end();
        let found: Vec<(usize, Vec<String>)> =
            whole.arguments.iter().map(|(at, list)| (*at.min(&path.len()), each(list))).collect();
        self.is_end(path, may_start_behind, |at, in_path| {
            let mut written = self.arguments.iter().filter(|(place, _)| *place == at);
            written.all(|(_, written)| {
                found.iter().any(|(place, found)| *place == in_path && are_these(written, found))
            })
        })
    }

    /// `fits` is asked of each two places that would come together.
    fn is_end(
        &self,
        path: &str,
        may_start_behind: fn(&str) -> bool,
        fits: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let starts = path.char_indices().map(|(at, _)| at).filter(|&at| may_start_behind(&path[..at]));
        starts.into_iter().any(|start| self.is_whole(path, start, &fits))
    }

    /// Whether this is all of the path from a place on. What is between two `*` is taken where it is met first: what follows then has most to choose from.
    fn is_whole(&self, path: &str, start: usize, fits: &impl Fn(usize, usize) -> bool) -> bool {
        let (wanted, found) = (self.path.as_bytes(), path.as_bytes());
        let (mut at, mut in_path) = (0, start);
        // Behind the last `*`, and up to where that is taken for text so far.
        let mut star: Option<(usize, usize)> = None;
        loop {
            let is_star = wanted.get(at) == Some(&b'*');
            let is_same = wanted.get(at) == found.get(in_path);
            match (fits(at, in_path), star) {
                (true, _) if is_star => {
                    at += 1;
                    star = Some((at, in_path));
                }
                (true, _) if is_same && at == wanted.len() => return true,
                (true, _) if is_same => (at, in_path) = (at + 1, in_path + 1),
                (_, Some((behind, taken))) if taken < found.len() => {
                    star = Some((behind, taken + 1));
                    (at, in_path) = (behind, taken + 1);
                }
                _ => return false,
            }
        }
    }
}

/// The arguments of a list, as they are compared.
fn each(list: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut depth = 0;
    for c in types(list).chars() {
        depth += i32::from(matches!(c, '<' | '(' | '[')) - i32::from(matches!(c, '>' | ')' | ']'));
        match (c, depth, all.last_mut()) {
            (',', 0, _) => all.push(String::new()),
            (_, _, Some(last)) => last.push(c),
            _ => {}
        }
    }
    all
}

/// Whether these are the first arguments of a list: others have a default, or were left out. `*` stands for any.
fn are_these(written: &[String], found: &[String]) -> bool {
    let is_it = |(written, found): (&String, &String)| written == "*" || written == found;
    written.len() <= found.len() && written.iter().zip(found).all(is_it)
}
