//! Where events come from and where they go: what every reader and every writer of traces offers.

use crate::batch::EventBatch;
use crate::error::{Damage, TraceError};
use crate::event::Event;
use crate::names::Names;
use crate::trust::Trust;

/// Facts about a recorded run: its command line, host, time, …, in the order they were written. They are for people: nothing
/// that is concluded from a trace depends on them.
pub type Facts = Vec<(String, String)>;

/// A stream of events in the observed order.
///
/// ```
/// # use foresee_trace::{EventSource, text::TextReader};
/// let mut source = TextReader::new("T1|w(x)|3\nT1|fork(T2)|4\nT2|r(x)|9\n".as_bytes());
/// while source.advance()? {
///     let event = source.event();
///     println!("{:?} by {}", event.op, source.names().thread_name(event.thread));
/// }
/// # Ok::<(), foresee_trace::TraceError>(())
/// ```
pub trait EventSource {
    /// Goes to the next event; `false` at the end of what can be read.
    fn advance(&mut self) -> Result<bool, TraceError>;

    /// The event that the last [`advance`](EventSource::advance) reached. Call it only after that returned `true`.
    fn event(&self) -> Event<'_>;

    /// Goes past the next events, `most` at most, and appends them to a batch: fewer if others would have to be waited for, and at the end, of which `false` tells.
    fn take_many(&mut self, batch: &mut EventBatch, most: usize) -> Result<bool, TraceError> {
        let full = batch.len() + most;
        loop {
            self.take_run(batch, full - batch.len());
            if batch.len() == full {
                return Ok(true);
            }
            if !self.advance()? {
                return Ok(false);
            }
            batch.push(&self.event());
        }
    }

    /// Goes past the next events as long as that can be done for many of them in less time than one by one, `most` at most, and appends them to a batch.
    fn take_run(&mut self, _batch: &mut EventBatch, _most: usize) {}

    /// The names known so far; complete at the end.
    fn names(&self) -> &Names;

    /// What is known about the recorded run.
    fn facts(&self) -> &Facts;

    /// What of the run is missing in the trace; complete at the end.
    fn trust(&self) -> Trust;

    /// Where the trace was damaged, if it was; known at the end.
    fn damage(&self) -> Option<&Damage> {
        None
    }

    /// Passes over the next `count` events, or as many as there are; faster than reading them where the format allows it.
    fn skip(&mut self, count: u64) -> Result<(), TraceError> {
        for _ in 0..count {
            if !self.advance()? {
                break;
            }
        }
        Ok(())
    }

    /// What is known of the file without reading its events; `None` for what is no binary trace.
    fn file_info(&self) -> Option<FileInfo> {
        None
    }

    /// When the event that was reached happened, in nanoseconds since any moment; `None` where that is not known.
    fn time(&self) -> Option<u64> {
        None
    }

    /// The line of the event that was reached, counted from 1; `None` for what has no lines.
    fn line(&self) -> Option<u64> {
        None
    }

    /// Whether the next event may have to be waited for: whoever reports at once should do it now.
    fn may_wait(&self) -> bool {
        false
    }

    /// How far reading has come, and how far it has to go, in bytes; the total may be unknown (a pipe).
    fn progress(&self) -> (u64, Option<u64>);
}

/// What is known of a trace file without reading its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileInfo {
    /// Format version.
    pub version: u16,
    /// The file's size.
    pub bytes: u64,
    /// How many blocks of any kind.
    pub blocks: u64,
    /// How many events the blocks announce.
    pub events: u64,
    /// How many bytes of the file are events; the rest is names, index and the like.
    pub event_bytes: u64,
}

/// Takes a stream of events.
pub trait EventSink {
    /// Appends an event whose ids are in `names`. Names may only grow from one call to the next.
    fn push(&mut self, names: &Names, event: &Event<'_>) -> Result<(), TraceError>;

    /// Appends all events of a batch.
    fn push_all(&mut self, names: &Names, batch: &EventBatch) -> Result<(), TraceError> {
        batch.iter().try_for_each(|event| self.push(names, &event))
    }

    /// Adds a fact about the run that became known only now.
    fn fact(&mut self, key: &str, value: &str) -> Result<(), TraceError>;

    /// Completes the output, and says what of the run is missing in it. Without this call the output is readable, but
    /// incomplete.
    fn finish(&mut self, names: &Names, trust: &Trust) -> Result<(), TraceError>;
}
