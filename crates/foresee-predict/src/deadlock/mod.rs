//! Deadlock prediction: threads that can come to wait for each other in a cycle.
//!
//! **Idea** (Tunç, Mathur, Pavlogiannis, Viswanathan, *Sound Dynamic Deadlock Prediction in Linear Time*, PLDI 2023). A
//! *dependency* is a request for a lock while holding others. Dependencies that agree in lock, held locks and place form a
//! *pattern*; cycles of patterns, each requesting what the next one holds, are found without looking at single events.
//! Then, for each cycle, a [sync-preserving ideal](crate::ideal) that is about to do one request of each pattern, by
//! different threads, proves the deadlock: growing it passes every request at most once, so a cycle costs the sum of
//! its requests, not the product.
//!
//! **What is no deadlock.** Two of the held sets have a lock in common that excludes (a gate); a thread twice in the cycle;
//! a shared request of a lock that is held shared; re-entry, which is no request; a try-lock, which does not wait; a lock given up by a wait, which is not
//! held. A request is the acquire event; a request event before it is optional. Where the run ended before the lock
//! was got, the request event stands for it.
//!
//! **Deviations from the paper.** Any number of instances of a pattern by any threads; shared locks; waits. Ideals start
//! where the requests are (binary search), not at the beginning.
//!
//! **Observed deadlocks**: the run ended with requests that wait for each other (`observed`), or with threads that wait for what nobody can do any more (`hung`).
//!
//! **Complete** for sync-preserving deadlocks within the limits below. What cannot be proven so is handed out as
//! [`LockCycle`]s for an engine that may reverse sections.
//!
//! **Cost.** One pass of a few nanoseconds per event; 4 bytes per request made while holding a lock; the must-order only if
//! there is a cycle. Cycles can be exponentially many: they are enumerated by length, at most [`MAX_STEPS`] steps and
//! [`MAX_CYCLES`] cycles, and [`MAX_CASTS`] ways to choose the threads of each; proving them takes time proportional to
//! the events at most. What is left counts as undecided.

mod cycles;
mod dependencies;
mod hung;
mod observed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use foresee_trace::{EventId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ideal::{Choice, Ideal};
use crate::locks::LockHistory;
use crate::order::MustOrder;
use crate::survey::Survey;
use cycles::PatternCycles;
pub use cycles::{MAX_CYCLES, MAX_STEPS};
use dependencies::{Dependencies, Requests};
use foresee_witness::checker::{Claim, Reads, Schedule};
use foresee_witness::engine::{Job, Outcome, WholeEngine};
use foresee_witness::judge::{Certainty, Finding, FindingKind, Place, Proposal};

/// Proving may take so many rounds of closing an ideal, and [`EVENTS_PER_ROUND`] events allow one more.
const ROUNDS: u64 = 10_000;
/// See [`ROUNDS`].
const EVENTS_PER_ROUND: u64 = 50;
/// So many ways to choose threads for a cycle of patterns are tried.
pub const MAX_CASTS: usize = 1000;
/// So many requests of each thread are handed out with an unproven cycle.
const REQUESTS_KEPT: usize = 64;

/// The engine.
pub struct Deadlocks;

impl WholeEngine for Deadlocks {
    fn has_work(&self, job: &Job<'_>) -> bool {
        Survey::shared(job).nested_locks
    }

    fn run(&self, job: &Job<'_>) -> Outcome {
        let search = DeadlockSearch::shared(job);
        let mut outcome = search.outcome.clone();
        let is_observed = |finding: &&Finding| finding.certainty() == Certainty::Observed;
        let known = outcome.findings.iter().filter(is_observed).flat_map(|finding| finding.events.clone());
        let known: FxHashSet<u64> = known.collect();
        let hung = hung::groups(job.execution, &LockHistory::shared(job), &search.last, |id| {
            known.contains(&u64::from(id.0))
        });
        outcome.findings.extend(hung.into_iter().map(|events| {
            let places = places(job, &events);
            let events = events.iter().map(|event| u64::from(event.0)).collect();
            Finding::observed(FindingKind::Deadlock, "deadlock", events, places)
        }));
        outcome
    }
}

/// The first requests of a pattern by each thread.
pub type FirstRequests = Vec<(ThreadId, Vec<EventId>)>;

/// A cycle of requests, each for a lock that the next one's thread holds, that no sync-preserving witness shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockCycle {
    /// Where the requests are; sorted.
    pub places: Vec<Place>,
    /// For each request of the cycle: the threads that make such requests, and the first of these requests.
    pub requests: Vec<Arc<FirstRequests>>,
}

/// What was found, and what is left for an engine that may reverse sections.
pub struct DeadlockSearch {
    /// All deadlocks, judged.
    pub outcome: Outcome,
    /// The cycles that were tried and may be deadlocks too.
    pub unproven: Vec<LockCycle>,
    /// What each thread did last.
    last: Vec<Option<EventId>>,
}

/// A deadlock found, not yet judged.
struct Deadlock {
    places: Vec<Place>,
    blocked: Vec<EventId>,
    witness: Schedule,
}

impl DeadlockSearch {
    /// The search in a job's execution, done when the first engine asks and within the budget of that engine.
    pub fn shared(job: &Job<'_>) -> Arc<DeadlockSearch> {
        job.shared.get(|| DeadlockSearch::of(job))
    }

    /// Searches an execution.
    pub fn of(job: &Job<'_>) -> DeadlockSearch {
        let locks = &*LockHistory::shared(job);
        let dependencies = Dependencies::of(job.execution, locks);
        let mut outcome = Outcome::default();
        let mut settled: FxHashSet<Vec<Place>> = FxHashSet::default();
        for blocked in observed::deadlocks(job.execution, locks, &dependencies.unanswered) {
            let places = places(job, &blocked);
            if settled.insert(places.clone()) {
                let events = blocked.iter().map(|event| u64::from(event.0)).collect();
                outcome.findings.push(Finding::observed(FindingKind::Deadlock, "deadlock", events, places));
            }
        }
        let PatternCycles { cycles, complete } = PatternCycles::of(&dependencies, locks);
        outcome.undecided += u64::from(!complete);
        if cycles.is_empty() {
            return DeadlockSearch { outcome, unproven: Vec::new(), last: dependencies.last };
        }

        let order = MustOrder::shared(job);
        let mut ideal = Ideal::new(&order, locks);
        let rounds = ROUNDS + job.execution.len() as u64 / EVENTS_PER_ROUND;
        let (mut found, mut unproven) = (Vec::new(), Vec::new());
        let mut first_requests: FxHashMap<usize, Arc<FirstRequests>> = FxHashMap::default();
        for (nth, cycle) in cycles.iter().enumerate() {
            let mut places: Vec<Place> = cycle.iter().map(|&p| dependencies.patterns[p].place).collect();
            places.sort_unstable();
            if settled.contains(&places) || job.proven.contains(FindingKind::Deadlock, &places) {
                continue;
            }
            if ideal.rounds() > rounds || job.budget.is_exhausted() {
                outcome.undecided += (cycles.len() - nth) as u64;
                break;
            }
            let requests: Vec<&Requests> =
                cycle.iter().map(|&p| &dependencies.patterns[p].requests).collect();
            let mut cast = Cast { ideal: &mut ideal, requests: &requests, choices: Vec::new(), tried: 0 };
            if let Some((blocked, witness)) = cast.search() {
                settled.insert(places.clone());
                found.push(Deadlock { places, blocked, witness });
            } else {
                outcome.undecided += u64::from(cast.tried > MAX_CASTS);
                let requests = cycle.iter().map(|&p| {
                    let first = || Arc::new(first_of(&dependencies.patterns[p].requests));
                    Arc::clone(first_requests.entry(p).or_insert_with(first))
                });
                unproven.push(LockCycle { places, requests: requests.collect() });
            }
        }
        outcome.findings.append(&mut judge(job, found));
        DeadlockSearch { outcome, unproven, last: dependencies.last }
    }
}

fn first_of(requests: &Requests) -> FirstRequests {
    (requests.iter())
        .map(|(thread, events)| (*thread, events.iter().copied().take(REQUESTS_KEPT).collect()))
        .collect()
}

fn judge(job: &Job<'_>, found: Vec<Deadlock>) -> Vec<Finding> {
    let proposal = |Deadlock { places, blocked, witness }| Proposal {
        engine: "deadlock",
        claim: Claim::Deadlock { blocked },
        schedule: witness,
        reads: Reads::SameWrite,
        places,
        instances: 1,
        statement: None,
    };
    job.judge.judge_all(found.into_iter().map(proposal).collect())
}

fn places(job: &Job<'_>, blocked: &[EventId]) -> Vec<Place> {
    let mut places: Vec<Place> =
        blocked.iter().filter_map(|&event| dependencies::place(job.execution, event)).collect();
    places.sort_unstable();
    places
}

/// Gives the parts of a cycle to different threads.
struct Cast<'c, 'a> {
    ideal: &'c mut Ideal<'a>,
    requests: &'c [&'c Requests],
    choices: Vec<Choice<'c>>,
    tried: usize,
}

impl Cast<'_, '_> {
    /// The first deadlock found: the blocked requests and a schedule that leads there.
    fn search(&mut self) -> Option<(Vec<EventId>, Schedule)> {
        let Some(&requests) = self.requests.get(self.choices.len()) else { return self.perform() };
        for (thread, events) in requests {
            if self.tried > MAX_CASTS {
                return None;
            }
            if self.choices.iter().all(|(other, _)| other != thread) {
                self.choices.push((*thread, events));
                if let Some(found) = self.search() {
                    return Some(found);
                }
                self.choices.pop();
            }
        }
        None
    }

    fn perform(&mut self) -> Option<(Vec<EventId>, Schedule)> {
        self.tried += 1;
        self.ideal.clear();
        let mut picks = vec![0; self.choices.len()];
        if !self.ideal.first_free(&self.choices, &mut picks) {
            return None;
        }
        let blocked: Vec<EventId> =
            self.choices.iter().zip(picks).map(|(&(_, events), pick)| events[pick]).collect();
        let threads: Vec<ThreadId> = self.choices.iter().map(|&(thread, _)| thread).collect();
        let witness = self.ideal.schedule(&blocked, &threads);
        Some((blocked, witness))
    }
}
