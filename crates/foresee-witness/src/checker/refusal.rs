//! Why a witness is not accepted.

use std::fmt;

use foresee_trace::{EventId, Execution};

/// A rule of the soundness contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// (a) Each thread keeps its order and does a prefix of its events.
    ThreadOrder,
    /// (b) A lock has one holder, or many that share it.
    Locks,
    /// (c) A read reads the write it read in the execution.
    Reads,
    /// (d) Forks, joins and waits.
    Threads,
    /// (e) Only a last read whose value nothing depends on may read another write.
    Exemption,
    /// (f) Critical sections with blind code, and blind code that may have synchronised, keep their place.
    Blind,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::ThreadOrder => "(a), thread order",
            Rule::Locks => "(b), locks",
            Rule::Reads => "(c), reads",
            Rule::Threads => "(d), forks, joins and waits",
            Rule::Exemption => "(e), last reads",
            Rule::Blind => "(f), blind code",
        })
    }
}

/// Why the checker does not accept a witness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The schedule is no correct reordering.
    #[error("the schedule breaks rule {rule} at position {position}: {why}")]
    Broken {
        /// The broken rule.
        rule: Rule,
        /// Where in the schedule, from 0.
        position: usize,
        /// Which event, and what is wrong with it.
        why: String,
    },
    /// The schedule is a correct reordering, but does not show what is claimed.
    #[error("the schedule does not show the claim: {why}")]
    NotShown {
        /// What is missing.
        why: String,
    },
}

/// An event as refusals name it.
pub(super) fn describe(execution: &Execution, id: EventId) -> String {
    let event = execution.event(id);
    format!("event {} ({:?} by {})", id.0, event.op, execution.names().thread_name(event.thread))
}
