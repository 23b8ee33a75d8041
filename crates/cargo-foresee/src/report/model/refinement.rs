//! Of `refine`: how operations do not fit their specification.

use foresee_refine::refine::Undecided;
use serde::{Deserialize, Serialize};

use super::event::Location;

/// What was checked, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseVerdict {
    /// What the file calls it.
    pub(crate) id: Option<String>,
    /// The model or structure.
    pub(crate) model: String,
    /// Whether all is as specified; `None` if that could not be decided.
    pub(crate) ok: Option<bool>,
    /// The event at which a violation is established.
    pub(crate) first: Option<u64>,
    /// Of a refinement log: results alone.
    pub(crate) io: Option<RefinementVerdict>,
    /// Of a refinement log: results and views.
    pub(crate) view: Option<RefinementVerdict>,
    /// Of a refinement log whose views are compared after each commit: whether commit blocks are one step each, on which views rest. All is as specified if
    /// all three say so.
    #[serde(default)]
    pub(crate) blocks: Option<RefinementVerdict>,
    /// Of a history, and of a log that is wrong about the order: whether some order explains all results. Not known where calls and returns of a
    /// log do not match.
    pub(crate) linearizable: Option<bool>,
    /// What there was not enough of: of a case that could not be decided, or of a trace of which not all other runs could be looked at.
    pub(crate) undecided: Option<Lack>,
}

impl CaseVerdict {
    /// What to say of it where it is undecided.
    pub(crate) fn open_question(&self) -> Option<String> {
        let lack = self.undecided?;
        let what = match self.ok {
            None => "whether all is as specified could not be decided",
            Some(_) => "runs that did not happen could not all be looked at",
        };
        Some(format!("undecided: {what} {}", lack.advice()))
    }
}

/// What there was not enough of to decide something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Lack {
    /// Memory for states.
    Memory,
    /// Time.
    Time,
    /// Results of operations that have committed and never returned.
    Results,
}

impl Lack {
    pub(crate) const ALL: [Lack; 3] = [Lack::Memory, Lack::Time, Lack::Results];

    /// What ended the check, and what would help.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Lack::Memory => "within the memory given: --memory gives more",
            Lack::Time => "within the time there was: --time gives more",
            Lack::Results => {
                "as too many operations have committed and never returned, however much time and memory there is"
            }
        }
    }
}

impl From<Undecided> for Lack {
    fn from(undecided: Undecided) -> Lack {
        match undecided {
            Undecided::Memory => Lack::Memory,
            Undecided::Time => Lack::Time,
            Undecided::Results => Lack::Results,
        }
    }
}

/// What one check of a refinement log says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RefinementVerdict {
    pub(crate) ok: bool,
    pub(crate) first: Option<u64>,
    /// The event of the call of the operation that is wrong.
    pub(crate) call: Option<u64>,
    pub(crate) kind: Option<String>,
}

/// A violation with all that explains it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Refinement {
    /// What the file calls the case.
    pub(crate) case: Option<String>,
    pub(crate) model: String,
    /// `return-value`, `observer`, `view`, `linearizability`, …
    pub(crate) violation: String,
    /// Who is to blame: `structure`, `commit-points`, `annotations`, `undecided`.
    pub(crate) blame: String,
    /// The operation that does not fit.
    pub(crate) operation: Option<PlacedOperation>,
    /// What it gave back, and what the specification allows.
    pub(crate) actual: Option<String>,
    pub(crate) expected: Vec<String>,
    /// Where contents differ.
    pub(crate) differences: Vec<PartDifference>,
    /// What else is to be said: an invariant, a cause, a better place for a commit.
    pub(crate) notes: Vec<String>,
    /// Operations under way at the same time.
    pub(crate) overlapping: Vec<PlacedOperation>,
    /// The order in which the specification was run: that of the commits, or of the longest part that can be explained.
    pub(crate) order: Vec<PlacedOperation>,
    /// Another order, which explains everything.
    pub(crate) other_order: Option<Vec<PlacedOperation>>,
    /// Fewer operations that do not fit either.
    pub(crate) minimal: Vec<PlacedOperation>,
}

/// An operation, and where its call is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlacedOperation {
    /// The event of its call, and of its return.
    pub(crate) call: u64,
    pub(crate) returned: Option<u64>,
    /// The line of its call, if the file has a line for each event.
    pub(crate) line: Option<u32>,
    /// Where in the program it is called, if that was recorded.
    #[serde(default)]
    pub(crate) location: Location,
    pub(crate) thread: String,
    /// `deq() → 5`.
    pub(crate) operation: String,
}

/// A part of the contents that is not as it should be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartDifference {
    pub(crate) part: String,
    pub(crate) implementation: Option<String>,
    pub(crate) specification: Option<String>,
}
