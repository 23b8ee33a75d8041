//! Files: histories and logs as other programs write them. Nothing here panics, whatever is in a file.
//!
//! | form | what it looks like |
//! |---|---|
//! | JSON | `{"cases": […]}`, a list of cases, or one: histories (`ops`) and refinement logs (`events`) |
//! | JSON lines | the log of a program: a line that describes it, then an event in each line |
//! | EDN | Jepsen's and Knossos' histories: `{:process 0, :type :invoke, :f :read, :value nil}` |
//! | log | what Jepsen prints: `INFO  jepsen.util - 0 :invoke :read nil` |

mod edn;
mod jepsen;
mod json;

use crate::history::{History, HistoryError};
use crate::log::Log;
use crate::named::{Model, Structure, UnknownModel};
use crate::spec::WrongCall;
use crate::value::Value;

/// One thing to check.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the file calls it.
    pub id: Option<String>,
    /// What is to be checked.
    pub subject: Subject,
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
    #[error("which model? expected --model register, kv, set, queue, stack, pqueue, counter or multiset")]
    NoModel,
}

/// Reads a file. `model` is what the user says of it, where the file does not.
pub fn read(bytes: &[u8], model: Option<Model>) -> Result<Vec<Case>, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|wrong| ReadError::Line {
        line: 1 + bytes[..wrong.valid_up_to()].iter().filter(|byte| **byte == b'\n').count(),
        what: "not a text: expected UTF-8".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    let after_bracket = start.trim_start_matches(['{', '[', '(']).trim_start();
    if start.is_empty() {
        Err(ReadError::Unknown)
    } else if start.starts_with(['{', '[', '(', '#', ';']) && after_bracket.starts_with([':', ';', '#'])
        || start.starts_with([';', '(', '#'])
    {
        jepsen::history(edn::operations(text)?, model).map(|case| vec![case])
    } else if start.starts_with(['{', '[']) {
        json::read(text, model)
    } else {
        jepsen::history(jepsen::lines(text)?, model).map(|case| vec![case])
    }
}
