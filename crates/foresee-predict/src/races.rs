//! Decides candidate races by building reorderings, in parallel. What the engines `reverse` and `max` share.
//!
//! For a pair of accesses, everything before a cut is done as observed. The nearer the cut, the cheaper; the earlier,
//! the more can be reordered. So a pair is tried with the cuts an engine names, nearest first.
//!
//! Candidates are independent of each other and results are collected in their order, so the outcome does not depend on
//! the number of threads.

use foresee_trace::{EventId, Execution};
use rayon::prelude::*;

use crate::candidates::{Candidate, Candidates, Effort};
use crate::reorder::{Answer, Facts, Observed, Question, Search, answer};
use foresee_witness::checker::{Claim, Reads, Schedule};
use foresee_witness::engine::{Job, Outcome};
use foresee_witness::judge::Proposal;

/// How an engine decides.
pub(crate) struct Method {
    pub(crate) engine: &'static str,
    pub(crate) effort: Effort,
    pub(crate) search: Search,
    /// How many events before the first access the cuts are.
    pub(crate) margins: &'static [u32],
    /// How many events a question may look at.
    pub(crate) size: usize,
    /// Whether a pair for which nothing was found within the limits counts as undecided.
    pub(crate) is_complete: bool,
}

/// A race and what shows it.
struct Race {
    first: EventId,
    second: EventId,
    schedule: Schedule,
    reads: Reads,
}

/// What is known of a candidate.
enum Verdict {
    Race(Race),
    No,
    Undecided,
}

impl Method {
    pub(crate) fn run(&self, job: &Job<'_>) -> Outcome {
        let candidates = Candidates::of(job, self.effort);
        let mut outcome = Outcome { undecided: u64::from(!candidates.complete), ..Outcome::default() };
        if candidates.list.is_empty() || job.budget.is_exhausted() {
            outcome.undecided += candidates.list.len() as u64;
            return outcome;
        }
        let facts = Facts::shared(job);
        let observed = Observed { execution: job.execution, facts: &facts };
        let decide = |candidate: &Candidate| self.decide(job, observed, candidate);
        let verdicts: Vec<Verdict> = match job.budget.pool() {
            Some(pool) => pool.install(|| candidates.list.par_iter().map(decide).collect()),
            None => candidates.list.iter().map(decide).collect(),
        };
        let mut found = Vec::new();
        for (candidate, verdict) in candidates.list.iter().zip(verdicts) {
            match verdict {
                Verdict::Race(race) => found.push((candidate, race)),
                Verdict::No => {}
                Verdict::Undecided => outcome.undecided += 1,
            }
        }
        let proposal = |(candidate, race): (&Candidate, Race)| Proposal {
            engine: self.engine,
            claim: Claim::Race { first: race.first, second: race.second },
            schedule: race.schedule,
            reads: race.reads,
            places: vec![candidate.places.0, candidate.places.1],
            instances: candidate.instances,
            statement: None,
        };
        outcome.findings = job.judge.judge_all(found.into_iter().map(proposal).collect());
        outcome
    }

    fn decide(&self, job: &Job<'_>, observed: Observed<'_>, candidate: &Candidate) -> Verdict {
        let facts = observed.facts;
        let mut unknown = false;
        let relaxes = self.effort.reads == Reads::Relaxed && (facts.has_values() || facts.has_branches());
        for reads in [Reads::SameWrite].into_iter().chain(relaxes.then_some(Reads::Relaxed)) {
            for &(first, second) in &candidate.pairs {
                if job.budget.is_exhausted() {
                    return Verdict::Undecided;
                }
                match self.decide_pair(observed, first, second, reads) {
                    (Some(schedule), _) => return Verdict::Race(Race { first, second, schedule, reads }),
                    (None, undecided) => {
                        unknown |= undecided && (reads == Reads::SameWrite || facts.has_branches());
                    }
                }
            }
        }
        if unknown && self.is_complete { Verdict::Undecided } else { Verdict::No }
    }

    /// A schedule that ends with the two accesses, and otherwise whether there may be one all the same.
    pub(crate) fn decide_pair(
        &self,
        observed: Observed<'_>,
        first: EventId,
        second: EventId,
        reads: Reads,
    ) -> (Option<Schedule>, bool) {
        let mut unknown = false;
        let mut last_cut = None;
        for &margin in self.margins {
            let cut = EventId(first.min(second).0.saturating_sub(margin));
            if last_cut.replace(cut) == Some(cut) {
                continue;
            }
            let question = Question {
                targets: &[first, second],
                as_observed: as_observed(observed.execution, first, second),
                reads,
                cut,
                size: self.size,
            };
            match answer(observed, &question, self.search) {
                Answer::Schedule(mut events) => {
                    events.extend([first, second]);
                    return (Some(Schedule::after(cut.0, events)), false);
                }
                Answer::Impossible => unknown = false,
                Answer::Unknown => unknown = true,
            }
        }
        (None, unknown)
    }
}

/// A read-modify-write that reads another write than observed may not write. Against a mere read it must, to race.
fn as_observed(execution: &Execution, first: EventId, second: EventId) -> Option<EventId> {
    let (_, a) = execution.access(first)?;
    let (_, b) = execution.access(second)?;
    match (a.reads && a.writes && !b.writes, b.reads && b.writes && !a.writes) {
        (true, _) => Some(first),
        (_, true) => Some(second),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
