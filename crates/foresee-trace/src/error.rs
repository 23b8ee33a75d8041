//! What can go wrong with a trace, said so that a person can act on it.

use std::io;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("the file is empty; expected a foresee trace (.ft) or a text trace (.std)")]
    Empty,
    /// A directory cannot be a trace.
    #[error("is a directory; expected a trace file")]
    Directory,
    /// The bytes are no trace of ours.
    #[error("not a trace: {why} at byte {offset}")]
    NotATrace {
        /// Where.
        offset: u64,
        /// What was found or expected.
        why: String,
    },
    /// Written by a foresee that this one does not know.
    #[error("the trace has format version {found}; this foresee reads up to version {known}: update foresee")]
    NewerVersion {
        /// The file's version.
        found: u16,
        /// The newest version this code reads.
        known: u16,
    },
    /// Written by a foresee from before the first release, whose form is not read any more.
    #[error(
        "the trace has format version {found}; this foresee reads version {known}, as earlier ones do not say how \
         complete they are: record it again"
    )]
    OlderVersion {
        /// The file's version.
        found: u16,
        /// The version this code reads.
        known: u16,
    },
    /// A line of a text trace is wrong.
    #[error("line {line}, column {column}: expected {expected}, found {found}")]
    Text {
        /// From 1.
        line: u64,
        /// In characters, from 1.
        column: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// More of something than the in-memory execution can number.
    #[error("too many {what} for one execution in memory")]
    TooLarge {
        /// Of what there are too many.
        what: &'static str,
    },
}

/// A place from which on a trace could not be read. What came before it is sound and was delivered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged at byte {offset}: {what}; the {delivered} events before it are intact")]
pub struct Damage {
    /// The byte at which the damage was noticed.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
    /// How many events were readable.
    pub delivered: u64,
}
