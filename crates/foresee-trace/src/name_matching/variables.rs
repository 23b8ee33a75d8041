//! Which variables a name means: the rule for `var` of specs and for `--watch`.
//!
//! - A name is the end of a variable's path, at `::`: `OPENED` and `a::OPENED` are `app::a::OPENED`. Type arguments, impl brackets and the
//!   arguments of a function that the static is in do not count.
//! - Statics of C within functions have names that compilers add to: `count.0` and `work.count` both are `count`.
//! - Several files of C may have statics of one name. These are called `file.c:opened`; so may be all others.
//! - `*` stands for any text.

use super::function_path::function_path;
use super::path_pattern::PathPattern;

/// A name that means variables: the end of a path, perhaps with the file before a `:`.
#[derive(Clone, Debug)]
pub struct VariablePattern {
    /// The end of the path of the file it is in.
    file: Option<String>,
    path: PathPattern,
    /// As it was written.
    name: String,
}

impl VariablePattern {
    /// The variables that people mean by this.
    pub fn new(name: &str) -> VariablePattern {
        let (file, path) = of_file(name);
        let (file, path) = (file.map(str::to_owned), PathPattern::new(&plain(path)));
        VariablePattern { file, path, name: name.to_owned() }
    }

    /// Whether this is the variable's whole name. One whose name this is comes before those whose names end so: a global has no longer name.
    pub fn is_whole(&self, variable: &str) -> bool {
        self.name == variable
    }

    /// Whether a variable is meant, by its demangled name.
    pub fn matches(&self, variable: &str) -> bool {
        let (file, path) = of_file(variable);
        let is_file = |wanted: &String, found: &str| {
            found
                .strip_suffix(wanted.as_str())
                .is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        // A variable that does not say its file is the only one of its name.
        let same_file = match (&self.file, file) {
            (Some(wanted), Some(found)) => is_file(wanted, found),
            _ => true,
        };
        let path = plain(path);
        let ends_so = |path: &str| self.path.is_end_of(path, is_start);
        same_file && (ends_so(&path) || without_number(&path).is_some_and(ends_so))
    }
}

/// The file before a single `:`.
fn of_file(name: &str) -> (Option<&str>, &str) {
    let single = name
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|&at| !name[at + 1..].starts_with(':') && !name[..at].ends_with(':'));
    single.map_or((None, name), |at| (Some(&name[..at]), &name[at + 1..]))
}

/// The path of a variable, that may be within a function.
fn plain(path: &str) -> String {
    match path.rsplit_once(")::") {
        Some((function, rest)) => format!("{}::{rest}", function_path(&format!("{function})"))),
        None => function_path(path),
    }
}

/// `count` of `count.0`.
fn without_number(path: &str) -> Option<&str> {
    let (name, number) = path.rsplit_once('.')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

fn is_start(before: &str) -> bool {
    before.is_empty() || before.ends_with("::") || before.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_parts() {
        let cases = [
            ("radio", "radio", true),
            ("radio", "tower::radio", true),
            ("b::c", "a::b::c", true),
            ("count", "count.0", true),
            ("count.12", "count.12", true),
            ("count", "work.count", true),
            ("work.count", "work.count", true),
            ("Bank::TOTAL", "<app::Bank<u8>>::TOTAL", true),
            ("Bank::get::count", "Bank::get(int)::count", true),
            ("a.c:opened", "a.c:opened", true),
            ("a.c:opened", "src/a.c:opened", true),
            ("a.c:opened", "aa.c:opened", false),
            ("a.c:opened", "b.c:opened", false),
            ("a.c:opened", "opened", true),
            ("opened", "a.c:opened", true),
            ("a::*", "app::a::OPENED", true),
            ("radio", "myradio", false),
            ("radio", "radio2", false),
            ("radio", "radio.x", false),
            ("radio", "radio::inner", false),
            ("", "x", false),
        ];
        for (name, variable, expected) in cases {
            assert_eq!(VariablePattern::new(name).matches(variable), expected, "{name} {variable}");
        }
    }
}
