//! Reads text traces.

use std::io::Read;

use super::fault::quoted;
use super::lines::{LONGEST_LINE, LineError, Lines};
use super::parser::Parser;
use crate::TraceError;
use crate::event::Event;
use crate::names::Names;
use crate::source::{EventSource, Facts};
use crate::trust::Trust;

/// Reads a text trace; see the [module](super) for its form.
///
/// The lines up to the first event are read when the reader is made, so that the facts which a trace begins with are
/// known at once. A wrong line is an error of [`advance`](EventSource::advance); nothing can be read after it.
pub struct TextReader<R> {
    lines: Lines<R>,
    parser: Parser,
    total: Option<u64>,
    /// The outcome of reading up to the first event, until it is asked for.
    first: Option<Result<bool, TraceError>>,
    begun: bool,
    failed: bool,
}

impl<R: Read> TextReader<R> {
    /// A reader of a trace of unknown length.
    pub fn new(reader: R) -> Self {
        TextReader::start(reader, None)
    }

    /// A reader of a trace of `total` bytes, for [`progress`](EventSource::progress).
    pub fn with_length(reader: R, total: u64) -> Self {
        TextReader::start(reader, Some(total))
    }

    fn start(reader: R, total: Option<u64>) -> Self {
        let (lines, parser) = (Lines::new(reader), Parser::new());
        let mut reader = TextReader { lines, parser, total, first: None, begun: false, failed: false };
        let first = reader.next_event();
        reader.first = Some(first);
        reader
    }

    #[inline]
    fn next_event(&mut self) -> Result<bool, TraceError> {
        if self.failed {
            return Ok(false);
        }
        loop {
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => return Err(self.line_error(error)),
            }
            let line = self.lines.current();
            match self.parser.line(line) {
                Ok(true) => {
                    self.begun = true;
                    return Ok(true);
                }
                Ok(false) => {}
                Err(fault) => {
                    self.failed = true;
                    if !self.begun && !line.starts_with('#') && !line.contains('|') {
                        return Err(no_text_trace(self.lines.start(), &quoted(line)));
                    }
                    return Err(fault.into_error(line, self.lines.number()));
                }
            }
        }
    }

    #[cold]
    fn line_error(&mut self, error: LineError) -> TraceError {
        self.failed = true;
        let line = self.lines.number() + 1;
        match error {
            LineError::Io(error) => TraceError::Io(error),
            LineError::TooLong if !self.begun => {
                no_text_trace(self.lines.start(), &format!("a line of more than {LONGEST_LINE} bytes"))
            }
            LineError::TooLong => TraceError::Text {
                line,
                column: 1,
                expected: format!("a line of at most {LONGEST_LINE} bytes"),
                found: "a longer one".to_owned(),
            },
            LineError::NotUtf8 { byte, has_bar: false, .. } if !self.begun => {
                no_text_trace(self.lines.start(), &format!("a line with the byte {byte:#04x}"))
            }
            LineError::NotUtf8 { column, byte, .. } => TraceError::Text {
                line,
                column,
                expected: "UTF-8 text".to_owned(),
                found: format!("the byte {byte:#04x}"),
            },
        }
    }
}

fn no_text_trace(offset: u64, found: &str) -> TraceError {
    let why = format!(
        "neither a foresee trace nor a text trace (lines of the form `thread|operation|location`): found {found}"
    );
    TraceError::NotATrace { offset, why }
}

impl<R: Read> EventSource for TextReader<R> {
    #[inline]
    fn advance(&mut self) -> Result<bool, TraceError> {
        match self.first.take() {
            Some(first) => first,
            None => self.next_event(),
        }
    }

    #[inline]
    fn event(&self) -> Event<'_> {
        self.parser.event()
    }

    fn names(&self) -> &Names {
        &self.parser.names
    }

    fn facts(&self) -> &Facts {
        &self.parser.facts
    }

    fn trust(&self) -> Trust {
        self.parser.trust.clone()
    }

    fn time(&self) -> Option<u64> {
        self.parser.time
    }

    fn line(&self) -> Option<u64> {
        Some(self.lines.number())
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (self.lines.used(), self.total)
    }
}
