//! One event of a finding, with all that is known about it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::named::Named;

/// An event that a finding is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Event {
    /// Its index in the observed order, from 0; of an observed program, among the events that the property looks at.
    pub(crate) index: u64,
    pub(crate) thread: String,
    /// The operation, such as `read`; of an observed program, what the event is to the property.
    pub(crate) op: String,
    /// What it touches; empty for what touches nothing.
    pub(crate) target: String,
    pub(crate) location: Location,
    /// The location in one line.
    pub(crate) place: String,
    /// Innermost call first.
    pub(crate) stack: Vec<Location>,
    /// The locks its thread held; `None` if that is not known.
    pub(crate) held: Option<Vec<HeldLock>>,
    /// Of an access: how many bytes.
    pub(crate) size: Option<u32>,
    /// Of an access: what these bytes are.
    pub(crate) memory: Option<Memory>,
    /// Who created its thread.
    pub(crate) thread_created: Option<Creation>,
    /// The values of the property's variables after it, where a property has reported its state.
    pub(crate) values: Option<Named<i64>>,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Location {
    /// The path, absolute if the trace has it so; or any label that the trace gives.
    pub(crate) file: Option<String>,
    /// From 1.
    pub(crate) line: Option<u32>,
    /// From 1, in bytes.
    pub(crate) column: Option<u32>,
    pub(crate) function: Option<String>,
}

impl Location {
    /// Whether nothing is known of it.
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Location::default()
    }

    /// Whether both are the same line and column, in whatever function.
    pub(crate) fn is_at(&self, other: &Location) -> bool {
        (&self.file, self.line, self.column) == (&other.file, other.line, other.column)
    }
}

/// `file:line:column in function`, as far as it is known.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or_default())?;
        if let Some(line) = self.line {
            let colon = if self.file.is_some() { ":" } else { "" };
            write!(f, "{colon}{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        match &self.function {
            Some(function) => write!(f, " in {function}"),
            None => Ok(()),
        }
    }
}

/// A lock that a thread held, and where it took it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldLock {
    pub(crate) lock: String,
    pub(crate) mode: LockMode,
    pub(crate) location: Location,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LockMode {
    Exclusive,
    Shared,
}

/// Who created a thread, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Creation {
    pub(crate) by: String,
    pub(crate) location: Location,
}

/// What some memory is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Memory {
    /// Of a static variable.
    Static { address: String, name: String, offset: u64, size: u32 },
    /// Of a block that a thread allocated, and perhaps one freed before the event.
    Heap { address: String, offset: u64, size: u32, allocated: Box<Moment>, freed: Option<Box<Moment>> },
    /// Of a thread's stack.
    Stack { address: String, thread: String },
    /// Nothing is known of it.
    Unknown { address: String },
}

/// Who allocated or freed a block, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    pub(crate) thread: String,
    pub(crate) location: Location,
    /// Innermost call first.
    pub(crate) stack: Vec<Location>,
    /// The innermost place in the user's own code: a line, or just a function.
    pub(crate) origin: Option<Location>,
}
