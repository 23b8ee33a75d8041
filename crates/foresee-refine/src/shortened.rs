//! Values for people: of very long ones only the beginning, so that no text in a file makes a report, or a message, that nobody can read.

use std::fmt::{self, Display, Write};

/// So many bytes of a value are shown.
const LONGEST: usize = 1_000;

/// What is shown of a value: all of it, or its beginning and how long it is.
pub fn shortened(value: &impl Display) -> String {
    let mut shown = Beginning { text: String::new(), length: 0 };
    // It takes everything.
    let _ = write!(shown, "{value}");
    let Beginning { mut text, length } = shown;
    if length > text.len() {
        let _ = write!(text, "… ({length} bytes)");
    }
    text
}

/// The beginning of a text, and how long all of it is.
struct Beginning {
    text: String,
    length: usize,
}

impl Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let is_whole = self.length == self.text.len();
        self.length += more.len();
        if is_whole {
            let room = LONGEST.saturating_sub(self.text.len()).min(more.len());
            let end = (0..=room).rev().find(|end| more.is_char_boundary(*end)).unwrap_or(0);
            self.text.push_str(&more[..end]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_at_a_character() {
        assert_eq!(shortened(&"é"), "é");
        assert_eq!(shortened(&"x".repeat(LONGEST)), "x".repeat(LONGEST));
        let long = shortened(&format!("x{}", "é".repeat(LONGEST)));
        assert_eq!(long, format!("x{}… (2001 bytes)", "é".repeat(499)));
        // What follows a piece that was cut is not shown either.
        let pieces = shortened(&format_args!("{}{}", "é".repeat(LONGEST), 'y'));
        assert!(pieces.ends_with("é… (2001 bytes)"), "{pieces}");
    }
}
