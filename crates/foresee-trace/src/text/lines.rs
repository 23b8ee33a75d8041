//! The lines of a stream: read in large pieces, each checked for UTF-8 at once, in bounded memory.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memrchr};

/// How much is read at a time.
const CHUNK: usize = 256 << 10;

/// The longest line that is accepted.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// Why there is no next line.
#[derive(Debug)]
pub(super) enum LineError {
    Io(io::Error),
    /// The next line is longer than [`LONGEST_LINE`].
    TooLong,
    /// The next line has a byte that is no UTF-8, after `column - 1` good characters.
    NotUtf8 {
        column: u64,
        byte: u8,
        has_bar: bool,
    },
}

/// Reads lines, without their ends and trailing blanks.
pub(super) struct Lines<R> {
    input: R,
    /// Whole lines (at the end of the input, the last may lack its end).
    text: String,
    /// What was read of the line after `text`.
    partial: Vec<u8>,
    /// The line that `advance` reached, and where the next one begins, in `text`.
    current: Range<usize>,
    next: usize,
    /// How many lines were reached, and how many bytes of input are before `text`.
    number: u64,
    offset: u64,
    ended: bool,
    /// What comes after `text` instead of more text.
    pending: Option<LineError>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Lines {
            input,
            text: String::new(),
            partial: Vec::new(),
            current: 0..0,
            next: 0,
            number: 0,
            offset: 0,
            ended: false,
            pending: None,
        }
    }

    /// Goes to the next line; `false` at the end. After an error, the input counts as ended.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool, LineError> {
        while self.next >= self.text.len() {
            if !self.refill()? {
                return Ok(false);
            }
        }
        let rest = &self.text.as_bytes()[self.next..];
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        if length > LONGEST_LINE {
            return Err(self.end_with(LineError::TooLong));
        }
        let mut end = self.next + length;
        self.number += 1;
        let start = self.next;
        self.next = end + 1;
        while end > start && matches!(self.text.as_bytes()[end - 1], b' ' | b'\t' | b'\r') {
            end -= 1;
        }
        self.current = start..end;
        Ok(true)
    }

    /// The line that the last [`advance`](Lines::advance) reached.
    #[inline]
    pub(super) fn current(&self) -> &str {
        let line = self.text.get(self.current.clone()).unwrap_or_default();
        if self.number == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line }
    }

    /// Its number, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Where it begins, in bytes from the start of the input.
    pub(super) fn start(&self) -> u64 {
        self.offset + self.current.start as u64
    }

    /// How many bytes of the input were used.
    pub(super) fn used(&self) -> u64 {
        self.offset + self.next.min(self.text.len()) as u64
    }

    fn end_with(&mut self, error: LineError) -> LineError {
        self.ended = true;
        self.offset = self.used();
        self.text.clear();
        self.next = 0;
        self.current = 0..0;
        error
    }

    /// Puts the next whole lines into `text`; `false` at the end.
    #[cold]
    fn refill(&mut self) -> Result<bool, LineError> {
        if let Some(error) = self.pending.take() {
            return Err(self.end_with(error));
        }
        if self.ended {
            return Ok(false);
        }
        self.offset += self.text.len() as u64;
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        bytes.append(&mut self.partial);
        self.next = 0;
        loop {
            let start = bytes.len();
            if let Err(error) = self.read_chunk(&mut bytes) {
                return Err(self.end_with(LineError::Io(error)));
            }
            let Some(read) = bytes.get(start..).filter(|read| !read.is_empty()) else {
                self.ended = true;
                break;
            };
            if let Some(newline) = memrchr(b'\n', read) {
                let whole = start + newline + 1;
                self.partial.extend_from_slice(&bytes[whole..]);
                bytes.truncate(whole);
                break;
            }
            if bytes.len() > LONGEST_LINE {
                return Err(self.end_with(LineError::TooLong));
            }
        }
        self.text = String::from_utf8(bytes).unwrap_or_else(|error| {
            let good = error.utf8_error().valid_up_to();
            self.keep_good_lines(error.into_bytes(), good)
        });
        Ok(true)
    }

    fn read_chunk(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let start = bytes.len();
        bytes.resize(start + CHUNK, 0);
        let read = loop {
            match self.input.read(&mut bytes[start..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        bytes.truncate(start + read.as_ref().map_or(0, |&n| n.min(CHUNK)));
        read.map(|_| ())
    }

    /// The lines before the one with the bad byte, which is at `bad`; that line's error comes after them.
    fn keep_good_lines(&mut self, mut bytes: Vec<u8>, bad: usize) -> String {
        let (good, rest) = bytes.split_at(bad);
        let line_start = memrchr(b'\n', good).map_or(0, |newline| newline + 1);
        let column = String::from_utf8_lossy(&good[line_start..]).chars().count() as u64 + 1;
        let line_rest = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
        let has_bar = memchr(b'|', &good[line_start..]).or(memchr(b'|', line_rest)).is_some();
        let byte = rest.first().copied().unwrap_or_default();
        self.pending = Some(LineError::NotUtf8 { column, byte, has_bar });
        bytes.truncate(line_start);
        String::from_utf8(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out its bytes a few at a time, with interruptions.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let n = (self.1 % 5 + 1).min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn all(input: impl Read) -> (Vec<String>, Option<LineError>) {
        let mut lines = Lines::new(input);
        let mut found = Vec::new();
        loop {
            match lines.advance() {
                Ok(true) => found.push(lines.current().to_owned()),
                Ok(false) => return (found, None),
                Err(error) => {
                    assert!(matches!(lines.advance(), Ok(false)));
                    return (found, Some(error));
                }
            }
        }
    }

    #[test]
    fn lines_do_not_depend_on_how_they_arrive() {
        let text = "\u{feff}one\r\n\n  two \t\nthrée∀\nlast";
        let expected = ["one", "", "  two", "thrée∀", "last"];
        assert_eq!(all(text.as_bytes()).0, expected);
        assert_eq!(all(Trickle(text.as_bytes(), 0)).0, expected);
    }

    #[test]
    fn bad_bytes_come_after_the_good_lines() {
        for input in [b"a|b\nc\xc3|\xff\nd".as_slice(), b"a|b\nc\xc3".as_slice()] {
            let (lines, error) = all(Trickle(input, 0));
            assert_eq!(lines, ["a|b"]);
            assert!(matches!(error, Some(LineError::NotUtf8 { column: 2, byte: 0xc3, .. })), "{error:?}");
        }
    }

    #[test]
    fn long_lines_are_refused_without_reading_on() {
        let longest = "x".repeat(LONGEST_LINE);
        assert!(all(longest.as_bytes()).1.is_none());
        assert!(matches!(all(format!("{longest}x\n").as_bytes()).1, Some(LineError::TooLong)));
        assert!(matches!(all(io::repeat(b'x')).1, Some(LineError::TooLong)));
    }
}
