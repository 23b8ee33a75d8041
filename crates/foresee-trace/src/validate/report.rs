//! What the checks have found.

use crate::event::Event;
use crate::ids::{LocId, ThreadId};
use crate::names::Names;

/// How many problems are kept with their details.
pub const PROBLEMS_KEPT: usize = 20;

/// Something no run can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which event, from 0.
    pub index: u64,
    /// Whose event.
    pub thread: ThreadId,
    /// Where in the source.
    pub loc: LocId,
    /// What is impossible about it.
    pub what: String,
}

impl Problem {
    /// The problem in one line.
    pub fn describe(&self, names: &Names) -> String {
        format!("event {} of `{}` {}", self.index, names.thread_name(self.thread), self.what)
    }
}

/// What a [`Validator`](super::Validator) found.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The first problems, at most [`PROBLEMS_KEPT`].
    pub problems: Vec<Problem>,
    /// How many problems there are in all.
    pub problem_count: u64,
}

impl Verdict {
    /// Whether the trace is a possible run.
    pub fn is_valid(&self) -> bool {
        self.problem_count == 0
    }
}

/// Where the checks of one event put what they find.
pub(super) struct Report<'a> {
    pub(super) verdict: &'a mut Verdict,
    pub(super) index: u64,
    pub(super) event: &'a Event<'a>,
}

impl Report<'_> {
    /// Counts a problem; the text is made only if it is kept.
    pub(super) fn problem(&mut self, what: impl FnOnce() -> String) {
        self.verdict.problem_count += 1;
        if self.verdict.problems.len() < PROBLEMS_KEPT {
            let Event { thread, loc, .. } = *self.event;
            self.verdict.problems.push(Problem { index: self.index, thread, loc, what: what() });
        }
    }

    pub(super) fn check(&mut self, result: Result<(), String>) {
        if let Err(what) = result {
            self.problem(|| what);
        }
    }
}
