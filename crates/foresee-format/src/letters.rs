//! Texts of programs, which are bytes, as letters.

/// How a text begins that is written as bytes.
const BYTES: &str = "b\"";
const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];

/// The letters of a text. What is not UTF-8 is written as bytes, `b"r\xe4t"`, so that different texts stay different.
pub fn letters(text: &[u8]) -> impl Iterator<Item = char> {
    let is_plain = core::str::from_utf8(text).is_ok_and(|text| !text.starts_with(BYTES));
    let around = move |with: &'static str| with.chars().filter(move |_| !is_plain);
    let valid = move |letter: char| {
        let escape = (matches!(letter, '\\' | '"') && !is_plain).then_some('\\');
        escape.into_iter().chain([letter])
    };
    let invalid = |byte: &u8| ['\\', 'x', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
    let chunks = text.utf8_chunks();
    let inside = chunks.flat_map(move |chunk| {
        chunk.valid().chars().flat_map(valid).chain(chunk.invalid().iter().flat_map(invalid))
    });
    around(BYTES).chain(inside).chain(around("\""))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;

    use super::letters;

    #[test]
    fn different_texts_have_different_letters() {
        let text = |bytes: &[u8]| -> String { letters(bytes).collect() };
        assert_eq!(text("rät \\x".as_bytes()), "rät \\x");
        assert_eq!(text(b"r\xe4t"), "b\"r\\xe4t\"");
        assert_eq!(text(b"\\\xff"), "b\"\\\\\\xff\"");
        assert_eq!(text(b"b\"r\\xe4t\""), "b\"b\\\"r\\\\xe4t\\\"\"");
        assert_ne!(text(b"\xff"), text(b"\xfe"));
        assert_ne!(text(b"\xff"), text("\u{fffd}".as_bytes()));
        assert_eq!(text(b""), "");
    }
}
