//! Candidate races: unordered by the weak causality and protected by no common lock.
//!
//! The engine prints what [`candidates`](crate::candidates) finds, as it is: heuristic, fast, and never `predicted`.

use crate::candidates::{Candidates, Effort};
use foresee_witness::checker::Reads;
use foresee_witness::engine::{Job, Outcome, WholeEngine};
use foresee_witness::judge::{Finding, FindingKind};

/// The engine `lockset`.
pub struct Lockset;

const EFFORT: Effort = Effort { groups: 16, recent: 1, pairs: 1, reads: Reads::SameWrite };

impl WholeEngine for Lockset {
    fn run(&self, job: &Job<'_>) -> Outcome {
        let candidates = Candidates::of(job, EFFORT);
        let finding = |candidate: crate::candidates::Candidate| {
            let &(first, second) = candidate.pairs.first()?;
            let events = vec![u64::from(first.0), u64::from(second.0)];
            let places = vec![candidate.places.0, candidate.places.1];
            let mut finding = Finding::candidate(FindingKind::Race, "lockset", events, places);
            finding.instances = candidate.instances;
            Some(finding)
        };
        Outcome {
            findings: candidates.list.into_iter().filter_map(finding).collect(),
            undecided: u64::from(!candidates.complete),
            ..Outcome::default()
        }
    }
}
