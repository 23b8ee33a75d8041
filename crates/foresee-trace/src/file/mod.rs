//! The binary trace file, `.ft`.
//!
//! # Layout
//!
//! ```text
//! file      = start block*                            16 bytes, then blocks
//! start     = magic[8] version:u16 zero[6]
//! block     = header[48] payload                      header and payload each with a CRC-32
//! ```
//!
//! Numbers are little-endian. The blocks (`block::BlockKind`):
//!
//! | block | payload |
//! |---|---|
//! | facts | command line, host, …: key and value strings |
//! | names | the names that are new since the last such block (`tables`) |
//! | sites | the places in the program that are new (`sites`) |
//! | events | consecutive events of **one** thread, in columns (`columns`), less what can be expected (`model`), each with its *stamp* |
//! | checkpoint | all events with a smaller stamp than this one's stand before it |
//! | trust | what of the run is missing, as codes of [`Gap`](crate::Gap); the last block before the index |
//! | index | offset and header of every block; a trailer at the very end of the file points here |
//!
//! # Order
//!
//! Every thread has its own stream of blocks. A stamp says where an event stands in the one observed order: the
//! reader merges the streams by stamp (`merge`), equal stamps by thread. Stamps grow within a thread. (This
//! crate's writer numbers events 0, 1, 2, …; a writer that only stamps synchronisation is as good.)
//!
//! # Damage
//!
//! Losing the end of one thread's stream but not another's would make a run that never happened. So a writer flushes all
//! threads together and then sets a checkpoint; a reader that meets damage delivers exactly the events that are known
//! to be complete, and says where it stopped and why. Nothing in a file is trusted: lengths are checked against what is
//! there, ids against the tables, and the bytes of all blocks open at one time against [`MAX_OPEN_BYTES`]. What a run lacks is known
//! when its last event is: a file that has lost its end has lost that, too, and says so ([`Gap::Unstated`](crate::Gap::Unstated)).
//!
//! # Cost
//!
//! Reading holds one decompressed block per live thread and 80 bytes per block of the file (a block has up to
//! [`SEGMENT_EVENTS`] events). `bench/` prints nanoseconds and bytes per event.

pub(crate) mod block;
pub(crate) mod columns;
#[cfg(test)]
mod hostile;
pub(crate) mod merge;
pub(crate) mod model;
pub(crate) mod pack;
mod reader;
mod scan;
mod segments;
pub(crate) mod sites;
pub(crate) mod tables;
pub(crate) mod varint;
mod writer;

pub use reader::TraceReader;
pub use writer::TraceWriter;

pub use crate::source::FileInfo;

/// The first bytes of every trace file. Not text, and damaged by transfers that change line ends.
pub const MAGIC: [u8; 8] = *b"\x89FORE\r\n\x1a";

/// The format version this code reads and writes. Version 1 expected less (`model`), version 2 had no block that says what is
/// missing.
pub const VERSION: u16 = 3;

/// After how many events a writer sets a checkpoint.
pub const SEGMENT_EVENTS: usize = 1 << 18;

/// How many decompressed bytes the blocks that are open at one time may have together.
pub const MAX_OPEN_BYTES: usize = 1 << 30;

pub(crate) const START_LEN: u64 = 16;
/// The largest decompressed column or table.
pub(crate) const MAX_COLUMN: usize = 1 << 25;
/// The largest stored payload.
pub(crate) const MAX_PAYLOAD: u64 = 1 << 28;
/// Stamps are smaller than this; the merge packs a stamp and a stream number into 64 bits.
pub(crate) const MAX_STAMP: u64 = 1 << 44;

/// Why a block cannot be used; the reader adds where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Bad(pub(crate) String);

impl Bad {
    pub(crate) fn new(what: impl Into<String>) -> Bad {
        Bad(what.into())
    }
}

impl From<std::io::Error> for Bad {
    fn from(error: std::io::Error) -> Bad {
        Bad(format!("cannot be read: {error}"))
    }
}
