//! Proposals, and the judge that turns them into findings.
//!
//! An engine that wants to predict something makes a [`Proposal`]: what is claimed, the schedule that shows it, and where in the
//! program it is. The [`Judge`] replays the schedule with the [`Checker`] and makes the finding. No other code can: a
//! [`Finding`] has private fields, and the constructor of predicted ones is visible in this module only.
//!
//! A refusal is a bug of the engine. It is dropped and counted, and the count is part of every report.
//!
//! **Cost.** The checker is prepared at the first proposal (one pass over the execution); then see
//! [`Checker::check_all_with`].

mod finding;
mod place;
mod proposal;
mod statement;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use foresee_trace::Execution;

use crate::atomic::AtomicFunctions;
use crate::checker::{Checker, Claim, Prepared, Reads, Schedule};
pub use finding::{Certainty, Finding, FindingKind};
pub use place::Place;
pub use proposal::Proposal;
pub use statement::{Known, PredictedRun, RunEvent, Statement};

/// Replays what engines propose, and makes findings of what it accepts.
pub struct Judge<'e> {
    execution: &'e Execution,
    atomic: AtomicFunctions,
    prepared: OnceLock<Prepared>,
    refused: AtomicU64,
}

impl<'e> Judge<'e> {
    /// A judge for claims about one execution, in which calls of `atomic` are blocks, beside the annotated ones.
    pub fn new(execution: &'e Execution, atomic: AtomicFunctions) -> Judge<'e> {
        Judge { execution, atomic, prepared: OnceLock::new(), refused: AtomicU64::new(0) }
    }

    fn checker(&self) -> Checker<'e> {
        let prepare = || match self.atomic.is_empty() {
            true => Checker::new(self.execution).prepared(),
            false => {
                let is_atomic = |name: &str| self.atomic.matches(name);
                Checker::new(self.execution).with_atomic_functions(is_atomic).prepared()
            }
        };
        Checker::of_prepared(self.execution, self.prepared.get_or_init(prepare))
    }

    /// The finding, if its schedule is accepted.
    pub fn judge(&self, proposal: Proposal<'_>) -> Option<Finding> {
        self.judge_all(vec![proposal]).pop()
    }

    /// The findings of those proposals that are accepted, in their order.
    pub fn judge_all(&self, proposals: Vec<Proposal<'_>>) -> Vec<Finding> {
        let mut accepted = vec![false; proposals.len()];
        for reads in [Reads::SameWrite, Reads::Relaxed] {
            let chosen = || (proposals.iter().enumerate()).filter(|(_, proposal)| proposal.reads == reads);
            let witnesses: Vec<(&Schedule, &Claim<'_>)> =
                chosen().map(|(_, proposal)| (&proposal.schedule, &proposal.claim)).collect();
            if witnesses.is_empty() {
                continue;
            }
            let verdicts = self.checker().check_all_with(&witnesses, reads);
            chosen().zip(verdicts).for_each(|((nth, _), verdict)| accepted[nth] = verdict.is_ok());
        }
        let refused = accepted.iter().filter(|&&accepted| !accepted).count();
        self.refused.fetch_add(refused as u64, Ordering::Relaxed);
        (proposals.into_iter().zip(accepted))
            .filter_map(|(proposal, accepted)| accepted.then(|| Finding::predicted(proposal)))
            .collect()
    }

    /// Notes that an engine found something it could not make a schedule of: the same as a refusal.
    pub fn refuse_unscheduled(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Which functions are atomic blocks.
    pub fn atomic(&self) -> &AtomicFunctions {
        &self.atomic
    }

    /// How many proposals were refused so far.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}
