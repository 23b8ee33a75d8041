//! Which names people may use for a variable or function of a program.

/// Whether people may write `name` for what has this path: its last parts, or all of them. `tower::RADIO` matches `RADIO`, too.
/// Compilers add to the names of statics within functions: `count.0` and `work.count` both match `count`.
pub fn matches_name(path: &str, name: &str) -> bool {
    let Some(start) = path.rfind(name) else { return false };
    let (before, after) = (&path[..start], &path[start + name.len()..]);
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    (before.is_empty() || before.ends_with("::") || before.ends_with('.'))
        && (after.is_empty() || after.strip_prefix('.').is_some_and(is_number))
}

#[cfg(test)]
mod tests {
    use super::matches_name as matches;

    #[test]
    fn names_are_whole_parts() {
        assert!(matches("radio", "radio") && matches("tower::radio", "radio") && matches("a::b::c", "b::c"));
        assert!(
            matches("count.0", "count") && matches("count.12", "count.12") && matches("work.count", "count")
        );
        assert!(!matches("myradio", "radio") && !matches("radio2", "radio") && !matches("radio.x", "radio"));
        assert!(!matches("radio::inner", "radio") && !matches("x", ""));
    }
}
