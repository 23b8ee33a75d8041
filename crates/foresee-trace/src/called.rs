//! What people call a variable or function of a program.

/// Whether that with this path is what people call `name`, by its last parts: `tower::RADIO` is `RADIO`, too. Compilers add to the
/// names of statics within functions: `count.0` and `work.count` are both `count`.
pub fn is_called(path: &str, name: &str) -> bool {
    let Some(start) = path.rfind(name) else { return false };
    let (before, after) = (&path[..start], &path[start + name.len()..]);
    let numbered = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    (before.is_empty() || before.ends_with("::") || before.ends_with('.'))
        && (after.is_empty() || after.strip_prefix('.').is_some_and(numbered))
}

#[cfg(test)]
mod tests {
    use super::is_called as called;

    #[test]
    fn names_are_whole_parts() {
        assert!(called("radio", "radio") && called("tower::radio", "radio") && called("a::b::c", "b::c"));
        assert!(
            called("count.0", "count") && called("count.12", "count.12") && called("work.count", "count")
        );
        assert!(!called("myradio", "radio") && !called("radio2", "radio") && !called("radio.x", "radio"));
        assert!(!called("radio::inner", "radio") && !called("x", ""));
    }
}
