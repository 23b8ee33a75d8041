//! Which functions a name means: the one rule for specs (`enter`, `exit`), options (`--atomic`, `--only`, `--skip`), lock tables and
//! suppressions.
//!
//! - A name is the end of a function's path, at `::`: `File::write` is `files::File::write`, and not `MyFile::write`.
//! - Impl brackets do not count, on either side, and type arguments only where they are written: `File::write` is `<files::File<u8> as Write>::write`, and so is `File<u8>::write`, but not `File<u16>::write`.
//! - The arguments of a C++ function may be given, and then count: `Log::put(int)`.
//! - `*` stands for any text: `Bank::*` are all functions of `Bank`.

use super::function_path::{WithArguments, function_path, signature, types};
use super::path_pattern::PathPattern;

/// A name that means functions: the end of a path, with `*` for any text; impl brackets and, if not given, arguments and type arguments do not count.
#[derive(Clone, Debug)]
pub struct FunctionPattern {
    path: PathPattern,
    /// The arguments, without spaces.
    signature: Option<String>,
}

impl FunctionPattern {
    /// The functions that people mean by this.
    pub fn new(name: &str) -> FunctionPattern {
        FunctionPattern {
            path: PathPattern::with_arguments(name.trim()),
            signature: signature(name).map(types),
        }
    }

    /// Whether a function is meant, by its demangled name.
    pub fn matches(&self, function: &str) -> bool {
        let same_signature = |wanted: &String| {
            // What follows the arguments (`const`) need not be given.
            signature(function).is_some_and(|found| types(found).starts_with(wanted.as_str()))
        };
        let same_path = match self.path.has_arguments() {
            true => self.path.is_end_with_arguments(&WithArguments::of(function), is_start),
            false => self.matches_path(&function_path(function)),
        };
        same_path && self.signature.as_ref().is_none_or(same_signature)
    }

    /// Whether a function is of this name, by its [`function_path`]; arguments and type arguments do not count.
    pub fn matches_path(&self, path: &str) -> bool {
        self.path.is_end_of(path.trim_end(), is_start)
    }
}

/// Whether a name may begin behind this: behind `::`, or behind a C++ function's type, or `&`, `dyn` and the like of a Rust type.
fn is_start(before: &str) -> bool {
    before.is_empty() || before.ends_with("::") || before.ends_with([' ', '&', '*', '('])
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
            ("Bank<T>::transfer", "app::Bank<int>::transfer(int)", false),
            ("Bank<int>::transfer", "app::Bank<int>::transfer(int)", true),
            ("Bank< int >::transfer", "app::Bank<int, std::less<int> >::transfer(int)", true),
            ("Bank<int, long>::transfer", "app::Bank<int>::transfer(int)", false),
            ("Bank<*, long>::transfer", "app::Bank<int, long>::transfer(int)", true),
            ("Bank<const char*>::transfer", "app::Bank<char const*>::transfer(int)", true),
            ("Bank<int>::transfer", "app::Bank::transfer(int)", false),
            ("Bank<int>::*", "app::Bank<int>::transfer<long>(int)", true),
            ("Bank<int>::*", "app::Bank<long>::transfer<int>(int)", false),
            ("*Bank<int>*", "app::MyBank<int>::transfer(int)", true),
            ("*<int>::*", "app::Bank<long>::Part<int>::transfer(int)", true),
            ("*<char>::*", "app::Bank<long>::Part<int>::transfer(int)", false),
            ("generic::<i32>", "app::generic::<i32>", true),
            ("generic<i32>", "app::generic::<u8>", false),
            ("generic<nonsense>", "app::generic::<u8>", false),
            (
                "<app::Bank<u8> as app::Transfers>::transfer",
                "<app::Bank<u8> as app::Transfers>::transfer::<i8>",
                true,
            ),
            ("<app::Bank<u8>>::transfer", "<app::Bank<u16>>::transfer", false),
            ("transfer<int>", "int bank::transfer<int>(int, int)", true),
            ("transfer<int>", "int bank::transfer<long>(int, int)", false),
            ("operator()", "user(int)::{lambda(int)#1}::operator()(int) const", true),
            ("user::{lambda#1}::operator()", "user(int)::{lambda(int)#1}::operator()(int) const", true),
            ("user::{lambda#2}::operator()", "user(int)::{lambda(int)#1}::operator()(int) const", false),
            ("user", "user(int)::{lambda(int)#1}::operator()(int) const", false),
            ("Log::put(const char*)", "app::Log::put(char const*)", true),
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
