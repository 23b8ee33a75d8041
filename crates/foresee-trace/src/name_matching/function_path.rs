//! Paths of functions: a demangled name without what differs from one use of the function to the next.

/// What compilers write for a namespace without a name.
const UNNAMED_NAMESPACE: &str = "(anonymous namespace)";

/// The path of a demangled function without type arguments, and with the type in place of `<Type as Trait>`:
/// `<spin::Guard<u8> as core::ops::Drop>::drop` becomes `spin::Guard::drop`. Namespaces without a name and the arguments of C++
/// functions are left out.
pub fn function_path(function: &str) -> String {
    let mut path = String::with_capacity(function.len());
    push_plain(function, &mut path);
    path
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
    loop {
        let open = bracket(rest)?;
        let from = &rest[open..];
        rest = match from.strip_prefix(UNNAMED_NAMESPACE) {
            Some(after) => after,
            None if from.starts_with('(') => return Some(from),
            None => &from[1 + closing(&from[1..])? + 1..],
        };
    }
}

fn push_plain(text: &str, path: &mut String) {
    let mut rest = text;
    if let Some(inner) = text.strip_prefix('<')
        && let Some(end) = closing(inner)
    {
        let (of, after) = inner.split_at(end);
        push_plain(before_as(of), path);
        rest = &after[1..];
    }
    while let Some(open) = bracket(rest) {
        let (before, from) = rest.split_at(open);
        if let Some(after) = from.strip_prefix(UNNAMED_NAMESPACE) {
            path.push_str(before);
            rest = after.strip_prefix("::").unwrap_or(after);
            continue;
        }
        path.push_str(before.trim_end_matches("::"));
        if from.starts_with('(') {
            // The arguments of a C++ function.
            return;
        }
        let Some(end) = closing(&from[1..]) else { return };
        rest = &from[1 + end + 1..];
    }
    path.push_str(rest);
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
