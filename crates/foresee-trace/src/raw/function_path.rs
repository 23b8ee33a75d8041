//! Paths of functions: a demangled name without what differs from one use of the function to the next, and what it shows.

/// Crates whose code is between the user's and the lock: not what a report should point at.
const LIBRARIES: &[&str] = &["std", "core", "alloc", "lock_api", "parking_lot", "parking_lot_core", "spin"];

/// Whether a function, by its path, is of a library that stands between the user and what happens.
pub(crate) fn is_library_path(path: &str) -> bool {
    LIBRARIES.contains(&crate_of(path))
}

/// The type of a lock, from a function of a lock library: `<std::sync::poison::mutex::Mutex<a::B>>::lock` is of `Mutex<B>`.
pub(crate) fn lock_type(function: &str) -> Option<String> {
    let inner = function.strip_prefix('<')?;
    let of = before_as(&inner[..closing(inner)?]);
    let mut short = String::new();
    let mut word = 0;
    for (at, c) in of.char_indices() {
        if !c.is_alphanumeric() && c != '_' && c != ':' {
            short.push_str(of[word..at].rsplit("::").next().unwrap_or_default());
            short.push(c);
            word = at + c.len_utf8();
        }
    }
    short.push_str(of[word..].rsplit("::").next().unwrap_or_default());
    // The kind of lock is in the name already.
    Some(short.replace("<RawMutex, ", "<").replace("<RawRwLock, ", "<"))
}

/// Whether a function is of a library that stands between the user and what happens: Rust's own, or one of locks.
pub fn is_library_function(function: &str) -> bool {
    is_library_path(&function_path(function))
}

/// The crate of a function, by its path.
pub(crate) fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or(path).trim_start_matches('&')
}

/// The path of a demangled function without type arguments, and with the type in place of `<Type as Trait>`:
/// `<spin::Guard<u8> as core::ops::Drop>::drop` becomes `spin::Guard::drop`.
pub fn function_path(function: &str) -> String {
    let mut path = String::with_capacity(function.len());
    push_plain(function, &mut path);
    path
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
    while let Some(open) = rest.find(['<', '(']) {
        path.push_str(rest[..open].trim_end_matches("::"));
        if rest[open..].starts_with('(') {
            // The arguments of a C++ function.
            return;
        }
        let Some(end) = closing(&rest[open + 1..]) else { return };
        rest = &rest[open + 1 + end + 1..];
    }
    path.push_str(rest);
}

/// Where the bracket is that closes one before `text`.
fn closing(text: &str) -> Option<usize> {
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
fn before_as(text: &str) -> &str {
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
            ("operator<", "operator"),
            ("<a as", ""),
            ("<é<ü", ""),
        ];
        for (function, path) in cases {
            assert_eq!(function_path(function), path, "{function}");
        }
    }

    #[test]
    fn locks_have_types() {
        let of = |function| lock_type(function).unwrap_or_default();
        assert_eq!(of("<std::sync::poison::mutex::Mutex<alloc::vec::Vec<u8>>>::lock"), "Mutex<Vec<u8>>");
        let parking = "<lock_api::mutex::Mutex<parking_lot::raw_mutex::RawMutex, (a::B, [u8; 2])>>::lock";
        assert_eq!(of(parking), "Mutex<(B, [u8; 2])>");
        assert_eq!(of("main"), "");
        assert_eq!(of("<é<"), "");
    }
}
