//! What is wrong with a log, in words: the same in reports of the command and of tests.

use super::{Judgement, Kind};

/// What is wrong, in one line that follows the name of the operation.
pub fn describe(kind: Kind, judgement: &Judgement) -> &'static str {
    if matches!(judgement, Judgement::CommitPoints { .. }) {
        return "the commit points are wrong or too strict";
    }
    if *judgement == Judgement::MissingBlock {
        return "others saw half of what it does, or commit blocks are missing";
    }
    match kind {
        Kind::ReturnValue => "the specification does not allow this result where it committed",
        Kind::Observer => "the specification allows this result in no state while it was under way",
        Kind::View => "after its commit the structure does not have the contents of the specification",
        Kind::InternalView => "a thread of the structure changed its contents",
        Kind::Invariant => "an invariant does not hold",
        Kind::MissingCommit => "it returned without a commit; one is needed on each path",
        Kind::SecondCommit => "it committed twice; one commit is needed on each path",
        Kind::CommitOutside => "a commit with no operation under way",
        Kind::Malformed => "calls and returns, or commit blocks, do not match",
    }
}

impl Judgement {
    /// What else is to be said of it: what to do, or what is not known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Judgement::CommitPoints { .. } => {
                Some("the commit points are wrong or too strict: another order explains everything")
            }
            Judgement::Undecided => {
                Some("whether another order explains it could not be decided: the search is too long")
            }
            Judgement::MissingBlock => Some(
                "an operation wrote before its commit, and others saw it. If nobody can see it in between, put its writes and its commit into one commit \
                 block; if somebody can, the structure is wrong",
            ),
            Judgement::Structure | Judgement::Annotations | Judgement::LaterCommit { .. } => None,
        }
    }
}
