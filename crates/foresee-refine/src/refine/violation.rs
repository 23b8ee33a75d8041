//! What can be wrong with a log.

use std::fmt;

use super::replica::WrongWrite;
use crate::linear::Exhausted;
use crate::spec::WrongCall;
use crate::value::Value;

/// That a run does not refine its specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The event at which it is established.
    pub first: usize,
    /// The call of the operation that is wrong, if there is one.
    pub call: Option<usize>,
    /// What is wrong.
    pub kind: Kind,
    /// What the operation gave back.
    pub actual: Option<Value>,
    /// What the specification would have allowed.
    pub expected: Vec<Value>,
    /// Where the views differ.
    pub differences: Vec<Difference>,
    /// The invariant that does not hold.
    pub invariant: Option<String>,
    /// The last write of an operation that has not committed: its commit probably belongs after that, and before the next release of a lock.
    pub last_write: Option<usize>,
    /// The order in which the specification was run: the calls, in the order of their commits.
    pub order: Vec<usize>,
}

/// A part of the view that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which part.
    pub part: Value,
    /// What the structure has there.
    pub implementation: Option<Value>,
    /// What the specification has there; for work of the structure's own threads, what was there before.
    pub specification: Option<Value>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A mutator gave back what the specification does not allow where it committed.
    ReturnValue,
    /// An observer gave back what the specification allows in no state while it was under way.
    Observer,
    /// The contents of the structure are not those of the specification.
    View,
    /// A thread of the structure changed its contents.
    InternalView,
    /// An invariant does not hold.
    Invariant,
    /// A mutator returned without having committed.
    MissingCommit,
    /// An operation committed twice.
    SecondCommit,
    /// A commit by a thread with no operation under way.
    CommitOutside,
    /// Calls and returns, or blocks, that do not match.
    Malformed,
}

impl Kind {
    /// The name in every format.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ReturnValue => "return-value",
            Kind::Observer => "observer",
            Kind::View => "view",
            Kind::InternalView => "ds-view",
            Kind::Invariant => "invariant",
            Kind::MissingCommit => "missing-commit",
            Kind::SecondCommit => "second-commit",
            Kind::CommitOutside => "commit-outside",
            Kind::Malformed => "malformed",
        }
    }

    /// Whether it is about the order of operations, which other commit actions would change.
    pub fn is_about_order(self) -> bool {
        matches!(self, Kind::ReturnValue | Kind::Observer)
    }

    /// Whether it says that no run of the specification is left.
    pub(super) fn is_about_worlds(self) -> bool {
        matches!(self, Kind::ReturnValue | Kind::Observer | Kind::View)
    }

    /// Whether it is about the annotations, and not about the structure.
    pub fn is_about_annotations(self) -> bool {
        matches!(self, Kind::MissingCommit | Kind::SecondCommit | Kind::CommitOutside | Kind::Malformed)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl RefineError {
    /// Why it is not known whether the log refines its specification; `None` if the log itself is wrong.
    pub fn undecided(&self) -> Option<Undecided> {
        match self {
            RefineError::Call { .. } | RefineError::Write { .. } => None,
            RefineError::TooManyResults { .. } => Some(Undecided::Results),
            RefineError::OutOfMemory { .. } => Some(Undecided::Memory),
            RefineError::OutOfTime { .. } => Some(Undecided::Time),
        }
    }
}

/// Why something is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// There was not enough memory.
    Memory,
    /// There was not enough time.
    Time,
    /// Too many operations have committed and never returned: more of neither would help.
    Results,
}

impl From<Exhausted> for Undecided {
    fn from(exhausted: Exhausted) -> Undecided {
        match exhausted {
            Exhausted::Memory => Undecided::Memory,
            Exhausted::Time => Undecided::Time,
        }
    }
}

/// Why a log cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefineError {
    /// A call that the specification does not have.
    #[error("event {event}: {why}")]
    Call {
        /// Which.
        event: usize,
        /// Why.
        why: WrongCall,
    },
    /// A write that the structure does not have.
    #[error("event {event}: {why}")]
    Write {
        /// Which.
        event: usize,
        /// Why.
        why: WrongWrite,
    },
    /// The log ends while many operations are under way that have committed, and no combination of their results that was tried explains it. There
    /// are more.
    #[error(
        "event {event}: undecided: too many operations have committed and never returned to try all combinations of their results"
    )]
    TooManyResults {
        /// Where the last one that was tried failed.
        event: usize,
    },
    /// A state of the specification takes more memory than there is.
    #[error("event {event}: undecided: the specification's state takes more memory than is given")]
    OutOfMemory {
        /// How far the check came.
        event: usize,
    },
    /// The time was over.
    #[error("event {event}: undecided: the time was over")]
    OutOfTime {
        /// How far the check came.
        event: usize,
    },
}
