//! Libraries that stand between the user's code and what happens, and what their functions' names show.

use crate::name_matching::{before_as, closing, function_path};

/// Crates whose code is between the user's and the lock, or calls the user's (the runtime): not what a report should point at.
const LIBRARIES: &[&str] =
    &["std", "core", "alloc", "lock_api", "parking_lot", "parking_lot_core", "spin", "foresee_rt"];

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

#[cfg(test)]
mod tests {
    use super::*;

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
