//! Traces by path, with errors that name the file and progress on a terminal.

use std::path::Path;

use foresee_trace::{Event, EventBatch, EventSource, Names};

use crate::config;
use crate::error::{self, CliError, Severity, display_name};
use crate::program_file;
use crate::progress::Progress;

/// How many events are taken at once.
pub(crate) const AT_ONCE: usize = 1 << 11;

/// A trace being read.
pub(crate) struct Input<'a> {
    path: &'a Path,
    source: Box<dyn EventSource + 'a>,
    progress: Progress,
}

impl<'a> Input<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, CliError> {
        let source = foresee_trace::open_with(path, program_file::symbols()?, config::lock_table()?)
            .map_err(|why| CliError::input(path, why))?;
        Ok(Input { path, source, progress: Progress::new() })
    }

    /// What `source` gives, for the trace at this path.
    pub(crate) fn of(path: &'a Path, source: Box<dyn EventSource + 'a>) -> Self {
        Input { path, source, progress: Progress::new() }
    }

    pub(crate) fn hide_progress(&mut self) {
        self.progress.hide();
    }

    pub(crate) fn source(&self) -> &dyn EventSource {
        &*self.source
    }

    /// Goes to the next event; `false` at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, CliError> {
        let more = self.source.advance().map_err(|why| CliError::input(self.path, why))?;
        if more {
            self.count(1);
        }
        Ok(more)
    }

    #[inline]
    fn count(&mut self, events: u64) {
        if self.progress.is_due(events) {
            let (done, total) = self.source.progress();
            self.progress.show(done, total);
        }
    }

    /// Goes past the next events, and has them in a batch alone; `false` at the end.
    pub(crate) fn take_many(&mut self, batch: &mut EventBatch) -> Result<bool, CliError> {
        batch.clear();
        let more = self.source.take_many(batch, AT_ONCE).map_err(|why| CliError::input(self.path, why))?;
        self.count(batch.len() as u64);
        Ok(more)
    }

    /// The event that was reached.
    #[inline]
    pub(crate) fn event(&self) -> Event<'_> {
        self.source.event()
    }

    /// The names it uses.
    #[inline]
    pub(crate) fn names(&self) -> &Names {
        self.source.names()
    }

    /// Passes over so many events.
    pub(crate) fn skip(&mut self, count: u64) -> Result<(), CliError> {
        self.source.skip(count).map_err(|why| CliError::input(self.path, why))
    }

    /// To be called before anything else is printed: removes the progress bar.
    pub(crate) fn end_progress(&self) {
        self.progress.end();
    }

    /// To be called at the end, as damage is known then.
    pub(crate) fn warn_of_damage(&self) {
        self.end_progress();
        if let Some(damage) = self.source.damage() {
            error::print(Severity::Warning, &format!("{}: {damage}", display_name(self.path)));
        }
    }
}
