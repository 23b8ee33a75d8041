//! Candidate races: unordered by the weak causality and protected by no common lock.
//!
//! The engine prints what [`candidates`](crate::candidates) finds, as it is: heuristic, fast, and never `predicted`.

use crate::candidates::{Candidates, Effort};
use crate::engine::{Job, Outcome, WholeEngine};
use crate::finding::{Certainty, Finding, Kind};
use crate::witness::{Reads, Schedule};

/// The engine `lockset`.
pub struct Lockset;

const EFFORT: Effort = Effort { groups: 16, recent: 1, pairs: 1, reads: Reads::SameWrite };

impl WholeEngine for Lockset {
    fn run(&self, job: &Job<'_>) -> Outcome {
        let candidates = Candidates::of(job.prepared, job.proven, EFFORT, &job.budget);
        let finding = |candidate: crate::candidates::Candidate| {
            let &(first, second) = candidate.pairs.first()?;
            Some(Finding {
                kind: Kind::Race,
                certainty: Certainty::Candidate,
                engine: "lockset",
                events: vec![u64::from(first.0), u64::from(second.0)],
                places: vec![candidate.places.0, candidate.places.1],
                instances: candidate.instances,
                schedulable: false,
                witness: Schedule::default(),
                said: None,
                run: None,
            })
        };
        Outcome {
            findings: candidates.list.into_iter().filter_map(finding).collect(),
            undecided: u64::from(!candidates.complete),
            refused: 0,
        }
    }
}
