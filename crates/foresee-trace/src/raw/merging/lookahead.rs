//! A look at what a thread does next, without taking it.

use std::cell::Cell;

use super::record::Record;
use super::stream::Stream;
use crate::raw::raw_files::RawFiles;

/// The records of a thread that follow the one that was taken last.
#[derive(Clone, Copy)]
pub(crate) struct Lookahead<'a> {
    pub(super) stream: &'a Stream,
    pub(super) files: &'a RawFiles,
    /// For a trace that is still written: to be set if the answer depends on what comes later.
    pub(super) saw_the_end: Option<&'a Cell<bool>>,
}

impl Lookahead<'_> {
    /// What the thread does next, up to what is recorded.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        let mut later = None;
        let more = std::iter::from_fn(move || {
            // Most do not need what is not decoded yet.
            let stream = later.get_or_insert_with(|| self.stream.without_ready());
            if stream.peek().is_none() && !matches!(stream.refill(self.files, None), Ok(Ok(()))) {
                self.saw_the_end.inspect(|saw| saw.set(true));
                return None;
            }
            stream.take().copied()
        });
        self.stream.ready().iter().copied().chain(more)
    }
}
