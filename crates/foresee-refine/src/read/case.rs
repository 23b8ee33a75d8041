//! What files have in them, and what can be wrong with them.

use crate::history::{History, HistoryError};
use crate::log::Log;
use crate::named::{Model, NAMES, Structure, UnknownModel};
use crate::spec::WrongCall;
use crate::value::Value;

/// One thing to check.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the file calls it.
    pub id: Option<String>,
    /// What is to be checked.
    pub subject: Subject,
    /// Where the events of a history are in the file, in their order; none if the file has them in the order in which they are numbered.
    pub places: Vec<Place>,
    /// What is to be said of how it was read: something of it is missing.
    pub remarks: Vec<String>,
}

impl Case {
    /// A case whose events have their own numbers.
    pub fn new(id: Option<String>, subject: Subject) -> Case {
        Case { id, subject, places: Vec::new(), remarks: Vec::new() }
    }

    /// Where an event is.
    pub fn place(&self, event: u32) -> Place {
        let known = self.places.get(event as usize).copied();
        known.unwrap_or(Place { event: event.into(), line: None })
    }
}

/// Where an event is in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number, from 0.
    pub event: u64,
    /// Its line, from 1, if that is known.
    pub line: Option<u32>,
}

/// What is to be checked.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Calls and returns.
    History {
        /// What the object is.
        model: Model,
        /// What a register has at the beginning.
        initial: Value,
        /// The operations.
        history: History,
    },
    /// Calls, returns, commit actions and writes.
    Log {
        /// What the structure is.
        structure: Structure,
        /// What happened.
        log: Log,
    },
}

impl Subject {
    /// Whether there is nothing in it to check.
    pub fn is_empty(&self) -> bool {
        match self {
            Subject::History { history, .. } => history.ops().is_empty(),
            Subject::Log { log, .. } => log.events.is_empty(),
        }
    }
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is none of the forms.
    #[error("expected a history or a refinement log: JSON, EDN, or a log of Jepsen")]
    Unknown,
    /// A line is not as it should be.
    #[error("line {line}: {what}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong, and what was expected.
        what: String,
    },
    /// A case is not as it should be.
    #[error("{case}: {what}")]
    Case {
        /// Its name, or its number from 0.
        case: String,
        /// What is wrong, and what was expected.
        what: String,
    },
    /// The operations make no history.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// An operation is none of the model.
    #[error(transparent)]
    Call(#[from] WrongCall),
    /// There is no such model.
    #[error(transparent)]
    Model(#[from] UnknownModel),
    /// The file does not say which model its operations are of.
    #[error("which model? expected --model {NAMES}")]
    NoModel,
}
