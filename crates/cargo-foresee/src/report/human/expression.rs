//! How far an expression of Rust, C or C++ goes, as far as its line alone shows.
//!
//! Line tables say where an access begins. To mark `COUNTER += 1` and not just its first letter, a glance is enough:
//! names with their fields and indices, one call with its arguments, or an assignment with what is assigned.

/// Where the expression begins, of which a compiler names the place `at` in `text`: gcc means `a[i]++` by its bracket or its sign.
pub(super) fn start(text: &str, at: usize) -> usize {
    let (before, rest) = text.split_at(at);
    let is_sign = rest.starts_with(['+', '-', '*', '/', '=', '[', ']', '.']);
    let place = if is_assigned(rest) { before.trim_end() } else { before };
    let begin = place.trim_end_matches(|c: char| c.is_alphanumeric() || "_.:[]->".contains(c));
    if is_sign && place.ends_with(|c: char| c.is_alphanumeric() || "_]".contains(c)) {
        begin.len()
    } else {
        at
    }
}

/// The length in bytes of the expression that `text` begins with; all of it if it is not closed in this line.
pub(super) fn length(text: &str) -> usize {
    let end = place_or_call(text);
    let rest = &text[end..];
    let is_call = text[..end].ends_with(')');
    let end = if is_assigned(rest.trim_start()) && !is_call { end + statement(rest) } else { end };
    let first = text.chars().next().map_or(0, char::len_utf8);
    text[..end].trim_end().len().max(first)
}

/// A name with fields and indices, or up to the end of a first call.
fn place_or_call(text: &str) -> usize {
    let mut end = text.len() - text.trim_start_matches(['*', '&', '!', '+', '-']).len();
    while let Some(next) = text[end..].chars().next() {
        let rest = &text[end..];
        match next {
            '(' => return end + bracketed(rest),
            '[' => end += bracketed(rest),
            _ if next.is_alphanumeric() || next == '_' => end += next.len_utf8(),
            '.' if !rest.starts_with("..") => end += 1,
            '!' if rest.starts_with("!(") => end += 1,
            _ => match ["::", "->", "++", "--"].iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => end += sign.len(),
                None => break,
            },
        }
    }
    end
}

/// Whether what comes next makes an assignment of it: `=`, `+=`, `<<=`, but not `==` nor `=>`.
fn is_assigned(rest: &str) -> bool {
    let operator = ["<<", ">>"].iter().find_map(|shift| rest.strip_prefix(shift));
    let operator = operator
        .unwrap_or_else(|| rest.strip_prefix(['+', '-', '*', '/', '%', '&', '|', '^']).unwrap_or(rest));
    operator.strip_prefix('=').is_some_and(|after| !after.starts_with(['=', '>']))
}

/// Up to the end of the statement, or of what it stands in.
fn statement(text: &str) -> usize {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        match next {
            ';' | ',' | ')' | ']' | '}' => break,
            '(' | '[' | '{' => at += bracketed(&text[at..]),
            _ if text[at..].starts_with("//") => break,
            _ => at += next.len_utf8(),
        }
    }
    at
}

/// From a bracket to the one that closes it; what is in quotes does not count.
fn bracketed(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, next) in text.char_indices() {
        match next {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{length, start};

    #[test]
    fn expressions_begin_where_they_begin() {
        for (text, at, expected) in [
            ("f(); shared[2]++;", 13, 5),
            ("f(); shared[2]++;", 14, 5),
            ("  a.b = 7;", 6, 2),
            ("to.lock()", 3, 3),
            ("x + y", 4, 4),
            ("-x", 0, 0),
            ("f(*x)", 2, 2),
            ("", 0, 0),
        ] {
            assert_eq!(start(text, at), expected, "{text} at {at}");
        }
    }

    #[test]
    fn expressions_end_where_they_end() {
        for (expected, rest) in [
            ("COUNTER += 1", ";"),
            ("COUNTER", ");"),
            ("lock()", ".unwrap();"),
            ("lock()", " += 1;"),
            ("pthread_mutex_lock(&first)", ";"),
            ("counter++", ";"),
            ("*total = f(a, b) + 2", "; // = 7"),
            ("a.b[i].c", " == 3"),
            ("x <<= 2", " }"),
            ("x", " => 7,"),
            ("bank::Bank::total", ", 1)"),
            ("p->next = q->next", ";"),
            ("println!(\"a) {}\", x)", ";"),
            ("0", "..n"),
            ("call(first,", ""),
            ("{", " x }"),
            ("ü", " "),
            ("", ""),
        ] {
            assert_eq!(&format!("{expected}{rest}")[..length(&format!("{expected}{rest}"))], expected);
        }
    }
}
