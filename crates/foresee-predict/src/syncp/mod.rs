//! Sync-preserving race prediction: all races that a correct reordering shows which keeps the observed order of sections.
//!
//! **Idea** (Mathur, Pavlogiannis, Viswanathan, *Optimal Prediction of Synchronization-Preserving Races*, POPL 2021). Two
//! accesses race in such a reordering exactly if neither is in the smallest [ideal](crate::ideal) that is about to do both.
//! The accesses themselves need not read what they read: only what their threads did before counts.
//!
//! **Search.** A race is a pair of places, so one proof per pair is enough.
//! 1. Cells that cannot race are dropped ([`cells`](crate::cells)): accessed by one thread, never written, all accesses atomic, or all under
//!    one lock (writes hold it exclusively).
//! 2. The accesses of the other cells are listed in the observed order. Neighbours of different threads are tried first:
//!    where there is a race, this finds it early, with a short witness.
//! 3. For pairs of places still open, the accesses are grouped by thread, place, kind and lockset. For two groups whose
//!    locksets do not exclude each other, and whose threads can live at the same time, two pointers move on in step with a growing ideal: an access that is
//!    inside stays inside, whatever the other pointer does. So two groups cost the sum of their lengths, not the
//!    product, and no pair of accesses is lost. Groups that hold the lock that most of the cell's groups hold are not even compared with each other.
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

use crate::cells::Cells;
use crate::ideal::Ideal;
use crate::locks::LockHistory;
use crate::order::MustOrder;
use crate::survey::Survey;
use accesses::Accesses;
use foresee_witness::checker::{Claim, Reads};
use foresee_witness::engine::{Job, Outcome, WholeEngine};
use foresee_witness::judge::Proposal;
pub use search::MAX_GROUP_PAIRS;
use search::{Race, Search};

/// The engine.
pub struct SyncPreserving;

impl WholeEngine for SyncPreserving {
    fn has_work(&self, job: &Job<'_>) -> bool {
        Survey::shared(job).open_races
    }

    fn run(&self, job: &Job<'_>) -> Outcome {
        let locks = &*LockHistory::shared(job);
        let cells = Cells::shared(job);
        let accesses = Accesses::of(job.execution, locks, &cells);
        if accesses.cells.is_empty() {
            return Outcome::default();
        }
        let order = MustOrder::shared(job);
        let ideal = Ideal::new(&order, locks);
        let mut search = Search::new(job, locks, &accesses, ideal);
        for cell in 0..accesses.cells.len() {
            search.cell(cell);
        }
        judge(job, search.races, search.undecided)
    }
}

fn judge(job: &Job<'_>, mut races: Vec<Race>, undecided: u64) -> Outcome {
    races.sort_by_key(|race| (race.first, race.second));
    let proposal = |race: Race| Proposal {
        engine: "syncp",
        claim: Claim::Race { first: race.first, second: race.second },
        schedule: race.witness,
        reads: Reads::SameWrite,
        places: vec![race.places.0, race.places.1],
        instances: 1,
        statement: None,
    };
    let findings = job.judge.judge_all(races.into_iter().map(proposal).collect());
    Outcome { findings, undecided, ..Outcome::default() }
}
