//! Paths of functions: a demangled name without what differs from one use of the function to the next.

/// What compilers write for a namespace without a name.
const UNNAMED_NAMESPACE: &str = "(anonymous namespace)";

/// A name's path, and the type arguments that were written in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WithArguments {
    pub(super) path: String,
    /// Each list with the place in the path that it stands at, in order.
    pub(super) arguments: Vec<(usize, String)>,
}

impl WithArguments {
    pub(super) fn of(function: &str) -> WithArguments {
        let mut path = WithArguments::default();
        path.push(function);
        path
    }
}

/// The path of a demangled function without type arguments, and with the type in place of `<Type as Trait>`:
/// `<spin::Guard<u8> as core::ops::Drop>::drop` becomes `spin::Guard::drop`. Namespaces without a name and the arguments of C++
/// functions are left out, also of those in which others are: `user(int)::{lambda(int)#1}::operator()(int)` becomes `user::{lambda#1}::operator()`.
pub fn function_path(function: &str) -> String {
    WithArguments::of(function).path
}

/// A [`function_path`] without what a C++ function returns, which stands in front of those that templates have made: `int& std::vector::emplace_back`. What an operator converts to is
/// part of its name.
pub fn without_result(path: &str) -> &str {
    let operator = path.rfind("operator ").unwrap_or(path.len());
    path[..operator].rfind(' ').map_or(path, |space| &path[space + 1..])
}

/// What follows a C++ function's path: its arguments in parentheses, and what stands behind them.
pub(super) fn signature(function: &str) -> Option<&str> {
    let mut rest = function;
    let mut braces = 0;
    loop {
        let (before, from) = rest.split_at(bracket(rest)?);
        braces += before.matches('{').count() as i64 - before.matches('}').count() as i64;
        rest = match from.strip_prefix(UNNAMED_NAMESPACE) {
            Some(after) => after,
            None if from.starts_with('(') => match within(from, braces > 0) {
                Some(inner) => inner,
                None => return Some(from),
            },
            None => &from[1 + closing(&from[1..])? + 1..],
        };
    }
}

/// What of the path follows arguments in parentheses: they are those of a lambda, or of a function that the one meant is in.
fn within(arguments: &str, is_lambda: bool) -> Option<&str> {
    let mut depth = 0;
    let end = arguments.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(at + 1)
    })?;
    let after = &arguments[end..];
    if is_lambda {
        return Some(after);
    }
    let behind = after.strip_prefix(" const").unwrap_or(after);
    behind.starts_with("::").then_some(behind)
}

/// Types as they are compared: without spaces, and with `const` behind what it is about (`const char *` is `char const*`).
pub(super) fn types(text: &str) -> String {
    const CONST: &str = "const ";
    let mut plain = String::with_capacity(text.len());
    let (mut is_constant, mut around) = (false, Vec::new());
    let mut rest = text;
    let mut begins = true;
    while let Some(c) = rest.chars().next() {
        if begins {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(CONST) {
                (is_constant, rest) = (true, after);
                continue;
            }
            begins = false;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let is_end = matches!(c, '>' | ',' | '(' | ')' | '[' | '*' | '&') && !plain.ends_with('-');
        if is_end && std::mem::take(&mut is_constant) {
            plain.push_str(CONST.trim_end());
        }
        match c {
            '<' => around.push(std::mem::take(&mut is_constant)),
            '>' if is_end => is_constant = around.pop().unwrap_or(false),
            _ => {}
        }
        begins = matches!(c, '<' | ',' | '(');
        if !c.is_whitespace() {
            plain.push(c);
        }
    }
    if is_constant {
        plain.push_str(CONST.trim_end());
    }
    plain
}

impl WithArguments {
    fn push(&mut self, text: &str) {
        let mut rest = text;
        if let Some(inner) = text.strip_prefix('<')
            && let Some(end) = closing(inner)
        {
            let (of, after) = inner.split_at(end);
            self.push(before_as(of));
            rest = &after[1..];
        }
        while let Some(open) = bracket(rest) {
            let (before, from) = rest.split_at(open);
            if let Some(after) = from.strip_prefix(UNNAMED_NAMESPACE) {
                self.path.push_str(before);
                rest = after.strip_prefix("::").unwrap_or(after);
                continue;
            }
            self.path.push_str(before.trim_end_matches("::"));
            if from.starts_with('(') {
                // The arguments of a C++ function.
                let is_lambda = self.path.rfind('{') > self.path.rfind('}');
                let Some(inner) = within(from, is_lambda) else { return };
                rest = inner;
                continue;
            }
            let Some(end) = closing(&from[1..]) else { return };
            let arguments = &from[1..][..end];
            if !arguments.trim().is_empty() {
                self.arguments.push((self.path.len(), arguments.to_owned()));
            }
            rest = &from[1 + end + 1..];
        }
        self.path.push_str(rest);
    }
}

/// Where the first bracket is that is not part of the name of an operator.
fn bracket(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find(['<', '('])?;
        let before = text[..open].strip_suffix("operator");
        let is_operator = before
            .is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_'));
        if !is_operator {
            return Some(open);
        }
        let sign = &text[open..];
        let signs = sign.find(|c| !"<>=".contains(c)).unwrap_or(sign.len());
        from = open + if sign.starts_with("()") { 2 } else { signs.max(1) };
    }
}

/// Where the bracket is that closes one before `text`.
pub(crate) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if last == '-' => {}
            '>' if depth == 0 => return Some(at),
            '>' => depth -= 1,
            _ => {}
        }
        last = c;
    }
    None
}

/// `Type` of `Type as Trait`.
pub(crate) fn before_as(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ' ' if depth == 0 && text[at..].starts_with(" as ") => return &text[..at],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_front_of_paths() {
        for (path, expected) in [
            ("int& std::vector::emplace_back", "std::vector::emplace_back"),
            ("unsigned long const& std::max", "std::max"),
            ("void a::B::operator unsigned long", "a::B::operator unsigned long"),
            ("a::B::operator bool", "a::B::operator bool"),
            ("a::b", "a::b"),
        ] {
            assert_eq!(without_result(path), expected);
        }
    }

    #[test]
    fn signatures_are_those_of_the_function_itself() {
        for (function, expected) in [
            ("user(int)::{lambda(long)#1}::operator()(long) const", Some("(long) const")),
            ("user(int)::{lambda(long)#1}::operator()", None),
            ("user::{lambda#1}::operator()", None),
            ("a::(anonymous namespace)::b<int>(int)", Some("(int)")),
        ] {
            assert_eq!(signature(function), expected, "{function}");
        }
    }

    #[test]
    fn types_are_compared_without_spaces_and_with_const_behind() {
        for (text, expected) in [
            ("(const char *, unsigned long)", "(charconst*,unsignedlong)"),
            ("(char const*)", "(charconst*)"),
            ("const std::vector<const int, A<b> >&", "std::vector<intconst,A<b>>const&"),
            ("const int", "intconst"),
            ("fn(u8) -> *const u8", "fn(u8)->*constu8"),
            ("constant, my_const x", "constant,my_constx"),
            ("", ""),
        ] {
            assert_eq!(types(text), expected);
        }
    }

    #[test]
    fn arguments_know_their_place() {
        let arguments = |text: &str| {
            let WithArguments { path, arguments } = WithArguments::of(text);
            arguments.into_iter().map(|(at, text)| format!("{}<{text}>", &path[..at])).collect::<Vec<_>>()
        };
        assert_eq!(arguments("<a::Box<u8> as b::T<i8>>::put::<i32>"), ["a::Box<u8>", "a::Box::put<i32>"]);
        assert_eq!(
            arguments("int Box<char>::operator<< <long>(A<int>)"),
            ["int Box<char>", "int Box::operator<< <long>"]
        );
        assert_eq!(arguments("plain"), [""; 0]);
    }

    #[test]
    fn paths_lose_arguments_and_traits() {
        let cases = [
            ("<std::sys::sync::mutex::futex::Mutex>::lock", "std::sys::sync::mutex::futex::Mutex::lock"),
            ("std::sys::sync::mutex::futex::Mutex::lock", "std::sys::sync::mutex::futex::Mutex::lock"),
            ("<a::Guard<u8, b::C<d>> as core::ops::drop::Drop>::drop", "a::Guard::drop"),
            ("core::sync::atomic::atomic_add::<usize, usize>", "core::sync::atomic::atomic_add"),
            (
                "<<a::B<u8>>::c::{closure#0} as core::ops::FnOnce<()>>::call_once",
                "a::B::c::{closure#0}::call_once",
            ),
            ("a::b::<fn(u8) -> u8>::c", "a::b::c"),
            ("my::Lock::lock(int)", "my::Lock::lock"),
            ("main", "main"),
            ("<", ""),
            ("user(int)::{lambda(int)#1}::operator()(int) const", "user::{lambda#1}::operator()"),
            (
                "a::B<int>::user(int) const::{lambda(int, std::function<int (int)>)#2}::operator()(int, std::function<int (int)>) const",
                "a::B::user::{lambda#2}::operator()",
            ),
            ("main::{lambda()#1}::_FUN()", "main::{lambda#1}::_FUN"),
            ("a::(anonymous namespace)::b(int)", "a::b"),
            ("(anonymous namespace)::b(int)", "b"),
            ("a::operator<", "a::operator<"),
            ("a::F::operator()(int) const", "a::F::operator()"),
            ("a::operator<< <int>(int)", "a::operator<< "),
            ("a::operator->()", "a::operator->"),
            ("a::my_operator<int>::b", "a::my_operator::b"),
            ("<a as", ""),
            ("<é<ü", ""),
        ];
        for (function, path) in cases {
            assert_eq!(function_path(function), path, "{function}");
        }
    }
}
