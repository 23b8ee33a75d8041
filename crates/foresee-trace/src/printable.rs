//! What of a name may reach a terminal.
//!
//! Names, places and source lines come from whoever wrote the trace. Control characters move the cursor, change titles and
//! hide text; marks of direction and characters without a width let a line read as something else than it is. The text form escapes
//! them, everything that prints for people replaces them.

use std::borrow::Cow;

/// Whether a character shows as what it is, and does nothing else.
pub fn is_printable(c: char) -> bool {
    let does_something = c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !does_something
}

/// The text with U+FFFD for each character that is not [printable](is_printable).
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if is_printable(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_something_is_replaced() {
        for plain in ["", "a b", "Größe", "名前", "नमस्\u{200d}ते", "👩\u{200d}💻", "`<T as U>::f`"]
        {
            assert!(matches!(printable(plain), Cow::Borrowed(_)), "{plain}");
        }
        for odd in [
            "\x1b",
            "\n",
            "\r",
            "\t",
            "\x07",
            "\x7f",
            "\u{9b}",
            "\u{202e}",
            "\u{2066}",
            "\u{200b}",
            "\u{e0041}",
        ] {
            assert_eq!(printable(&format!("a{odd}b")), "a\u{fffd}b", "{odd:?}");
        }
    }
}
