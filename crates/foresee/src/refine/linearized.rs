//! The harness for structures that say nothing of commits: those of other people. Calls and returns are logged, and asked is whether some
//! order of the operations, each between its call and its return, explains what all of them gave back.
//!
//! A call has its number before the method begins and a return after it has ended, so operations may look longer than they were and never
//! shorter: what is reported is wrong, whatever the threads were doing.

use std::fmt;
use std::format;
use std::string::String;
use std::time::{Duration, Instant};
use std::vec::Vec;

use foresee_refine::linear::{self, Limits, Verdict};
use foresee_refine::log::Log;
use foresee_refine::refine::{Mode, RefineError};
use foresee_refine::spec::Specification;
use foresee_refine::{History, Operation, SmolStr};

use super::choice::Choice;
use super::harness::{Harness, TestSettings, with_seed};
use super::recorder::Recorder;

/// A history is searched for so long, unless a faster procedure decides.
const SEARCHING: Duration = Duration::from_secs(10);

/// What came of a test without commits.
#[derive(Debug)]
pub struct Linearized {
    /// How many methods were called.
    pub operations: usize,
    /// Whether there is an order.
    pub verdict: Verdict,
    /// The smallest part of the history that has no order.
    pub minimal: Vec<Operation>,
    /// All calls and returns.
    pub log: Log,
}

impl Linearized {
    /// Whether no order explains what the structure gave back.
    pub fn is_wrong(&self) -> bool {
        self.verdict.is_linearizable() == Some(false)
    }

    /// The part of the history that has no order as a case for `foresee refine`. `model` is what the command knows the specification by.
    pub fn case(&self, model: &str) -> String {
        foresee_refine::write::history(model, &self.minimal)
    }
}

impl fmt::Display for Linearized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Linearizable { .. } => write!(f, "{} operations, linearizable", self.operations),
            Verdict::Undecided(why) => {
                write!(f, "{} operations, undecided: not enough {why}", self.operations)
            }
            Verdict::Violation(_) => {
                write!(f, "{} operations; these have no order that explains them:", self.operations)?;
                for op in &self.minimal {
                    let end = op
                        .returned
                        .as_ref()
                        .map_or(SmolStr::new_static("…"), |(at, _)| format!("{at}").into());
                    write!(f, "\n    {:>4} {op}  ({} to {end})", op.client, op.call)?;
                }
                Ok(())
            }
        }
    }
}

impl Harness {
    /// Drives a new structure to the end, and looks for an order of its calls and returns. Where methods commit does not matter.
    pub fn linearize<S: Specification, T: Sync>(
        &self,
        spec: &S,
        new: impl FnOnce() -> T,
        operation: impl Fn(&T, &mut Choice) + Sync,
    ) -> Result<Linearized, RefineError> {
        let recorder = Recorder::keeping(Mode::Io, self.yields);
        self.drive(&new(), Some(&recorder), &operation, None);
        let log = recorder.finish()?.log;
        // Only more operations than fit in memory are no history: each thread has one at a time, and all moments differ.
        let history = log.history().map(|(history, _)| history).unwrap_or_default();
        let limits = Limits { deadline: Instant::now().checked_add(SEARCHING), ..Limits::default() };
        let wrong = |why| RefineError::Call { event: 0, why };
        let verdict = linear::check(spec, &history, limits).map_err(wrong)?;
        let minimal = match &verdict {
            Verdict::Violation(found) => {
                let told = linear::explain(spec, &history, found, limits).map_err(wrong)?;
                in_order(&history, &told.minimal)
            }
            _ => Vec::new(),
        };
        Ok(Linearized { operations: history.ops().len(), verdict, minimal, log })
    }
}

fn in_order(history: &History, some: &[usize]) -> Vec<Operation> {
    let mut ops: Vec<Operation> = some.iter().map(|op| history.ops()[*op].clone()).collect();
    ops.sort_by_key(|op| op.call);
    ops
}

impl TestSettings {
    /// Tests a structure that says nothing of commits with each seed.
    ///
    /// # Panics
    /// At the first run that no order explains, or in which a thread panics; and if no operation was logged at all.
    #[track_caller]
    pub fn linearize<S: Specification, T: Sync>(
        self,
        spec: &S,
        new: impl Fn() -> T,
        operation: impl Fn(&T, &mut Choice) + Sync,
    ) {
        let mut operations = 0;
        for seed in 0..self.seeds {
            match with_seed(seed, || self.harness(seed).linearize(spec, &new, &operation)) {
                Err(why) => panic!("seed {seed}: the history cannot be checked: {why}"),
                Ok(report) if report.is_wrong() => panic!("seed {seed}: {report}"),
                Ok(report) => {
                    operations += report.operations;
                    if report.verdict.is_linearizable().is_none() {
                        std::eprintln!("note: seed {seed}: {report}");
                    }
                }
            }
        }
        self.must_have_logged(operations);
    }
}
