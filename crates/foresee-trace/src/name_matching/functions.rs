//! Which functions a name means: the one rule for specs (`enter`, `exit`), options (`--atomic`, `--only`, `--skip`), lock tables and
//! suppressions.
//!
//! - A name is the end of a function's path, at `::`: `File::write` is `files::File::write`, and not `MyFile::write`.
//! - Type arguments and impl brackets do not count, on either side: `<files::File<u8> as Write>::write` is `files::File::write`.
//! - The arguments of a C++ function may be given, and then count: `Log::put(int)`.
//! - `*` stands for any text: `Bank::*` are all functions of `Bank`.

use super::function_path::{function_path, signature};
use super::path_pattern::PathPattern;

/// A name that means functions: the end of a path, with `*` for any text; type arguments, impl brackets and, if not given, arguments do not count.
#[derive(Clone, Debug)]
pub struct FunctionPattern {
    path: PathPattern,
    /// The arguments, without spaces.
    signature: Option<String>,
}

impl FunctionPattern {
    /// The functions that people mean by this.
    pub fn new(name: &str) -> FunctionPattern {
        let path = PathPattern::new(function_path(name.trim()).trim());
        FunctionPattern { path, signature: signature(name).map(without_spaces) }
    }

    /// Whether a function is meant, by its demangled name.
    pub fn matches(&self, function: &str) -> bool {
        let same_signature = |wanted: &String| {
            // What follows the arguments (`const`) need not be given.
            signature(function).is_some_and(|found| without_spaces(found).starts_with(wanted.as_str()))
        };
        self.matches_path(&function_path(function)) && self.signature.as_ref().is_none_or(same_signature)
    }

    /// Whether a function is meant, by its [`function_path`]; arguments do not count.
    pub fn matches_path(&self, path: &str) -> bool {
        self.path.is_end_of(path.trim_end(), is_start)
    }
}

/// Whether a name may begin behind this: behind `::`, or behind a C++ function's type, or `&`, `dyn` and the like of a Rust type.
fn is_start(before: &str) -> bool {
    before.is_empty() || before.ends_with("::") || before.ends_with([' ', '&', '*', '('])
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_end_of_a_path() {
        let cases = [
            ("Bank::transfer", "Bank::transfer", true),
            ("Bank::transfer", "app::Bank::transfer", true),
            ("Bank::transfer", "<app::Bank>::transfer", true),
            ("Bank::transfer", "<app::Bank<u8> as app::Transfers>::transfer::<u8>", true),
            ("<app::Bank>::transfer", "<app::Bank>::transfer", true),
            ("Bank<T>::transfer", "app::Bank<int>::transfer(int)", true),
            ("Bank::transfer", "app::MyBank::transfer", false),
            ("Bank::transfer", "Bank::transfer_all", false),
            ("Bank::transfer", "Bank::transfer::{closure#0}", false),
            ("transfer", "int bank::transfer<int>(int, int)", true),
            ("bank::transfer", "int bank::transfer<int>(int, int)", true),
            ("Shape::area", "<dyn app::Shape>::area", true),
            ("Shape::area", "<&app::Shape as app::Area>::area", true),
            ("put", "(anonymous namespace)::Log::put(int)", true),
            ("Log::put(int)", "app::Log::put(int) const", true),
            ("Log::put( char const* )", "app::Log::put(char const*)", true),
            ("Log::put(int)", "app::Log::put(long)", false),
            ("Log::put(int)", "app::Log::put", false),
            ("operator()", "app::F::operator()(int) const", true),
            ("operator()", "app::F::operator<(int) const", false),
            ("Bank::*", "app::Bank::deposit", true),
            ("Bank::*", "app::Banks::deposit", false),
            ("*_atomically", "app::run_atomically", true),
            ("*_atomically", "app::run_atomically_not", false),
            ("*Bank*", "app::MyBanks::new", true),
            ("a*b*c", "xaybzc", false),
            ("a*b*c", "x::aybzc", true),
            ("ab*bc", "abc", false),
            ("*", "anything", true),
            ("*", "", false),
            ("", "anything", false),
            ("fn", "äfn", false),
        ];
        for (name, function, expected) in cases {
            assert_eq!(FunctionPattern::new(name).matches(function), expected, "{name} {function}");
        }
    }
}
