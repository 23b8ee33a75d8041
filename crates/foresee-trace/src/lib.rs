//! Events, executions and trace files.
//!
//! This crate knows what an event is and how to get it from and to disk; it knows nothing of analysis.
//!
//! | module | holds |
//! |---|---|
//! | [`event`](Event) | the event model |
//! | [`names`](Names) | the names behind the ids that events carry |
//! | [`execution`](Execution) | a whole trace in memory, 16 bytes per event |
//! | [`source`](EventSource) | what every reader and writer of traces offers |
//! | [`mod@file`] | the binary trace file: per-thread streams, compressed blocks, merge |
//! | [`text`] | the STD text form of the field, extended to every event |
//! | [`raw`] | what the runtime writes while a program runs |
//! | [`open`](open()) | any of the above from a path |
//! | [`trust`](Trust) | what a trace says of its own completeness |
//! | [`synchronisation`] | what events mean for locks, forks, joins and conditions |
//! | [`thread_table`](ThreadTable) | tables of threads that come and go |
//! | [`validate`] | is a trace a possible run? what is in it? |
//! | [`generate`] | seedable synthetic executions of any size |
//!
//! Readers are [`EventSource`]s, writers are [`EventSink`]s; a new input format is one file that implements
//! `EventSource` and one line in [`open`](open()).

mod batch;
mod error;
mod event;
mod execution;
pub mod file;
mod flat;
pub mod generate;
mod ids;
mod name_matching;
mod names;
mod open;
mod printable;
pub mod raw;
mod source;
pub mod synchronisation;
pub mod text;
mod thread_table;
mod trust;
pub mod validate;

pub use batch::EventBatch;
pub use error::{Damage, TraceError};
pub use event::{Access, Arg, Event, Mem, Mode, Op, Order, bits, signed, unsigned};
pub use execution::{Execution, ExecutionBuilder};
pub use ids::{EventId, LocId, LockId, StrId, ThreadId, VarId};
pub use name_matching::{FunctionPattern, VariablePattern, function_path, nearest, perhaps, without_result};
pub use names::{DEFAULT_SYMBOL_SIZE, Location, Names, Symbol, UnnamedLock, WRITERS_OF};
pub use open::{Format, open, open_with};
pub use printable::{is_printable, printable};
pub use source::{EventSink, EventSource, Facts};
pub use thread_table::{ThreadSlots, ThreadTable};
pub use trust::{Gap, NoEnd, Spoils, Trust, UnseenWrite};
