//! Cycles of conflicts through two threads, and what is proposed to the judge because of them.

use foresee_trace::EventId;
use foresee_witness::checker::{Claim, Reads, Schedule};
use foresee_witness::engine::{Job, Outcome};
use foresee_witness::judge::{FindingKind, Place, Proposal};
use rustc_hash::FxHashSet;

use crate::atomicity::ENGINE;

/// The four events of a cycle through two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConflictCycle {
    /// In the block: before the others do `f1`.
    pub(super) e1: EventId,
    pub(super) f1: EventId,
    pub(super) f2: EventId,
    /// In the same block as `e1`: after the others did `f2`.
    pub(super) e3: EventId,
}

/// The cycles that the searches found, and what they need not look for.
pub(super) struct ConflictCycles<'a> {
    pub(super) job: &'a Job<'a>,
    settled: FxHashSet<Vec<Place>>,
    proposals: Vec<Proposal<'static>>,
    pub(super) undecided: u64,
}

impl<'a> ConflictCycles<'a> {
    pub(super) fn new(job: &'a Job<'a>) -> Self {
        ConflictCycles { job, settled: FxHashSet::default(), proposals: Vec::new(), undecided: 0 }
    }

    pub(super) fn is_settled(&self, places: &[Place]) -> bool {
        self.settled.contains(places) || self.job.proven.contains(FindingKind::Atomicity, places)
    }

    pub(super) fn add(&mut self, cycle: ConflictCycle, places: Vec<Place>, schedule: Schedule) {
        let ConflictCycle { e1, f1, f2, e3 } = cycle;
        self.settled.insert(places.clone());
        self.proposals.push(Proposal {
            engine: ENGINE,
            claim: Claim::Atomicity { cycle: vec![(e1, f1), (f2, e3)] },
            schedule,
            reads: Reads::SameWrite,
            places,
            instances: 1,
            statement: None,
        });
    }

    /// What the judge accepts, in an order that depends only on the trace.
    pub(super) fn judged(self) -> Outcome {
        let mut findings = self.job.judge.judge_all(self.proposals);
        findings.sort_by(|a, b| (&a.events, &a.places).cmp(&(&b.events, &b.places)));
        Outcome { findings, undecided: self.undecided, ..Outcome::default() }
    }
}
