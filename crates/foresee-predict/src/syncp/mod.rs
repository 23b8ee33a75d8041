//! Sync-preserving race prediction: all races that a correct reordering shows which keeps the observed order of sections.
//!
//! **Idea** (Mathur, Pavlogiannis, Viswanathan, *Optimal Prediction of Synchronization-Preserving Races*, POPL 2021). Two
//! accesses race in such a reordering exactly if neither is in the smallest [ideal](crate::ideal) that is about to do both.
//! The accesses themselves need not read what they read: only what their threads did before counts.
//!
//! **Search.** A race is a pair of places, so one proof per pair is enough.
//! 1. Cells that cannot race are dropped in one pass: accessed by one thread, never written, all accesses atomic, or all under
//!    one lock (writes hold it exclusively).
//! 2. The accesses of the other cells are listed in the observed order. Neighbours of different threads are tried first:
//!    where there is a race, this finds it early, with a short witness.
//! 3. For pairs of places still open, the accesses are grouped by thread, place, kind and lockset. For two groups whose
//!    locksets do not exclude each other, two pointers move on in step with a growing ideal: an access that is
//!    inside stays inside, whatever the other pointer does. So two groups cost the sum of their lengths, not the
//!    product, and no pair of accesses is lost.
//!
//! **Complete** for sync-preserving races of places, with one exception. A read-modify-write that reads another write
//! than observed may not write; so as a partner of a plain *read* it must read as observed, and the ideal must have no
//! later write to its bytes. Here this is decided for the observed order only; a witness that would have to reorder
//! unprotected writes is left to other engines.
//!
//! **Cost.** Time: a few passes, plus one growth of an ideal (a few microseconds) for each access passed in step 3. Memory: 8
//! bytes per access to a cell that can race, 16 per cell, and what [`order`](crate::order) and
//! [`locks`](crate::locks) need. Thousands of threads that access the same cell make many pairs of groups: a pair of places
//! gets [`MAX_GROUP_PAIRS`] of them per cell, then counts as undecided.

mod accesses;
mod search;
#[cfg(test)]
mod tests;

use foresee_trace::EventId;

use crate::engine::{Job, Outcome, WholeEngine};
use crate::finding::{Certainty, Finding, Kind, Place};
use crate::ideal::Ideal;
use crate::witness::{Claim, Schedule};
use accesses::Accesses;
pub use search::MAX_GROUP_PAIRS;
use search::Search;

/// The engine.
pub struct SyncPreserving;

impl WholeEngine for SyncPreserving {
    fn run(&self, job: &Job<'_>) -> Outcome {
        let locks = job.prepared.locks();
        let accesses = Accesses::of(job.execution, locks);
        if accesses.cells.is_empty() {
            return Outcome::default();
        }
        let ideal = Ideal::new(job.prepared.order(), locks);
        let mut search = Search::new(job, locks, &accesses, ideal);
        for cell in 0..accesses.cells.len() {
            search.cell(cell);
        }
        judge(job, search.races, search.undecided)
    }
}

/// A race found, not yet judged.
struct Race {
    places: (Place, Place),
    first: EventId,
    second: EventId,
    witness: Schedule,
}

fn judge(job: &Job<'_>, mut races: Vec<Race>, undecided: u64) -> Outcome {
    races.sort_by_key(|race| (race.first, race.second));
    let claims: Vec<(&Schedule, Claim<'_>)> = (races.iter())
        .map(|race| (&race.witness, Claim::Race { first: race.first, second: race.second }))
        .collect();
    let verdicts = job.checker.check_all(&claims);
    let mut outcome = Outcome { undecided, ..Outcome::default() };
    for (race, verdict) in races.into_iter().zip(verdicts) {
        if verdict.is_err() {
            outcome.refused += 1;
            continue;
        }
        outcome.findings.push(Finding {
            kind: Kind::Race,
            certainty: Certainty::Predicted,
            engine: "syncp",
            events: vec![u64::from(race.first.0), u64::from(race.second.0)],
            places: vec![race.places.0, race.places.1],
            instances: 1,
            schedulable: true,
            witness: race.witness,
            said: None,
            run: None,
        });
    }
    outcome
}
