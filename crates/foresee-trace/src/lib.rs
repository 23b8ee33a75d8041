//! Events, executions and trace files.
//!
//! This crate knows what an event is and how to get it from and to disk; it knows nothing of analysis.
//!
//! | module | holds |
//! |---|---|
//! | [`event`](Event) | the event model |
//! | [`names`](Names) | the names behind the ids that events carry |
//! | [`execution`](Execution) | a whole trace in memory, 16 bytes per event |
//! | [`mod@file`] | the binary trace file: per-thread streams, compressed blocks, merge |
//! | [`text`] | the STD text form of the field, extended to every event |
//! | [`raw`] | what the runtime writes while a program runs |
//! | [`open`](open()) | any of the above from a path |
//! | [`trust`](Trust) | what a trace says of its own completeness |
//! | [`synchronisation`] | what events mean for locks, forks, joins and conditions |
//! | [`validate`] | is a trace a possible run? what is in it? |
//! | [`generate`] | seedable synthetic executions of any size |
//!
//! Readers are [`EventSource`]s, writers are [`EventSink`]s; a new input format is one file that implements
//! `EventSource` and one line in [`open`](open()).

mod called;
mod error;
mod event;
mod execution;
pub mod file;
mod flat;
pub mod generate;
mod ids;
mod names;
mod open;
pub mod raw;
pub mod synchronisation;
pub mod text;
mod trust;
pub mod validate;

pub use called::is_called;
pub use error::{Damage, TraceError};
pub use event::{Access, Arg, Event, Mem, Mode, Op, Order, bits, signed};
pub use execution::{Execution, ExecutionBuilder};
pub use ids::{EventId, LocId, LockId, StrId, ThreadId, VarId};
pub use names::{DEFAULT_SYMBOL_SIZE, Location, Names, Symbol, UnnamedLock};
pub use open::{Format, open, open_with};
pub use trust::{Gap, NoEnd, Spoils, Trust};

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
    fn file_info(&self) -> Option<file::FileInfo> {
        None
    }

    /// The line of the event that was reached, counted from 1; `None` for what has no lines.
    fn line(&self) -> Option<u64> {
        None
    }

    /// Whether the next event may have to be waited for: then what is to be told at once is to be told now.
    fn may_wait(&self) -> bool {
        false
    }

    /// How far reading has come, and how far it has to go, in bytes; the total may be unknown (a pipe).
    fn progress(&self) -> (u64, Option<u64>);
}

/// Takes a stream of events.
pub trait EventSink {
    /// Appends an event whose ids are in `names`. Names may only grow from one call to the next.
    fn push(&mut self, names: &Names, event: &Event<'_>) -> Result<(), TraceError>;

    /// Adds a fact about the run that became known only now.
    fn fact(&mut self, key: &str, value: &str) -> Result<(), TraceError>;

    /// Completes the output, and says what of the run is missing in it. Without this call the output is readable, but
    /// incomplete.
    fn finish(&mut self, names: &Names, trust: &Trust) -> Result<(), TraceError>;
}
