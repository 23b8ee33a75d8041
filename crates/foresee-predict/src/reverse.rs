//! Races and deadlocks in reorderings that may reverse critical sections, in polynomial time.
//!
//! Sync-preserving prediction keeps the observed order of the critical sections it has. Here they may swap. For two accesses, what
//! must be done first is known; the rules force an order on it; what stays open is decided one by one, the observed
//! order first, without ever coming back ([`reorder`](crate::reorder), where the papers are named). What comes out
//! is judged by the witness checker; what is missed, `max` may find.
//!
//! **Cost.** Per pair of accesses polynomial in the events between the cut and the accesses that they need, of which
//! there are at most 4096. Memory: [`Facts`], 12 bytes per event.

use foresee_trace::{EventId, ThreadId};

use crate::candidates::Effort;
use crate::deadlock::{DeadlockSearch, LockCycle};
use crate::races::Method;
use crate::reorder::{Answer, Facts, Observed, Question, Search, answer};
use crate::survey::Survey;
use foresee_witness::checker::{Claim, Reads, Schedule};
use foresee_witness::engine::{Job, Outcome, WholeEngine};
use foresee_witness::judge::{FindingKind, Proposal};

/// The engine `reverse`.
pub struct Reverse;

/// How many events a question may look at.
const SIZE: usize = 4096;

/// The cuts to try, as events before the first target.
const MARGINS: &[u32] = &[0, 256, 2048];

pub(crate) const METHOD: Method = Method {
    engine: "reverse",
    effort: Effort { groups: 16, recent: 4, pairs: 12, reads: Reads::SameWrite },
    search: Search::Greedy,
    margins: MARGINS,
    size: SIZE,
    is_complete: false,
};

/// For each cycle of lock requests, so many choices of its requests are tried.
const CHOICES: usize = 32;

impl WholeEngine for Reverse {
    fn has_work(&self, job: &Job<'_>) -> bool {
        let survey = Survey::shared(job);
        survey.open_races || survey.nested_locks
    }

    fn run(&self, job: &Job<'_>) -> Outcome {
        let mut outcome = METHOD.run(job);
        deadlocks(job, &mut outcome);
        outcome
    }
}

/// Tries the cycles that sync-preserving prediction could not show.
fn deadlocks(job: &Job<'_>, outcome: &mut Outcome) {
    let search = DeadlockSearch::shared(job);
    let is_open = |cycle: &&LockCycle| !job.proven.contains(FindingKind::Deadlock, &cycle.places);
    let cycles: Vec<&LockCycle> = search.unproven.iter().filter(is_open).collect();
    if cycles.is_empty() || job.budget.is_exhausted() {
        outcome.undecided += cycles.len() as u64;
        return;
    }
    let facts = Facts::shared(job);
    let observed = Observed { execution: job.execution, facts: &facts };
    for cycle in cycles {
        if job.budget.is_exhausted() {
            outcome.undecided += 1;
            continue;
        }
        let shown = choices(cycle).into_iter().find_map(|blocked| {
            let schedule = deadlock_schedule(observed, &blocked)?;
            job.judge.judge(Proposal {
                engine: "reverse",
                claim: Claim::Deadlock { blocked },
                schedule,
                reads: Reads::SameWrite,
                places: cycle.places.clone(),
                instances: 1,
                statement: None,
            })
        });
        outcome.findings.extend(shown);
    }
}

/// Ways to choose one request of each pattern of a cycle, by different threads; the first ones of each thread first.
fn choices(cycle: &LockCycle) -> Vec<Vec<EventId>> {
    let mut chosen: Vec<Vec<(ThreadId, EventId)>> = vec![Vec::new()];
    for pattern in &cycle.requests {
        let mut longer = Vec::new();
        for so_far in &chosen {
            for (thread, requests) in pattern.iter() {
                if so_far.iter().all(|(taken, _)| taken != thread) {
                    longer.extend(requests.iter().take(4).map(|&request| {
                        let mut next = so_far.clone();
                        next.push((*thread, request));
                        next
                    }));
                }
            }
        }
        longer.truncate(CHOICES);
        chosen = longer;
    }
    chosen.into_iter().map(|choice| choice.into_iter().map(|(_, request)| request).collect()).collect()
}

/// A schedule after which each of these threads is about to take a lock that the next one holds, in a cycle.
/// The events are as in [`Claim::Deadlock`]. The judge has not seen it.
pub fn deadlock_schedule(observed: Observed<'_>, blocked: &[EventId]) -> Option<Schedule> {
    let first = blocked.iter().min()?;
    MARGINS.iter().find_map(|margin| {
        let cut = EventId(first.0.saturating_sub(*margin));
        let question =
            Question { targets: blocked, as_observed: None, reads: Reads::SameWrite, cut, size: SIZE };
        match answer(observed, &question, Search::Greedy) {
            Answer::Schedule(events) => Some(Schedule::after(cut.0, events)),
            Answer::Impossible | Answer::Unknown => None,
        }
    })
}
