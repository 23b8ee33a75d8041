//! Atomicity violations that other schedules of the same program show.
//!
//! **Idea.** A cycle through two threads has four events: `e1` and `e3` in one block of a thread, `f1` and `f2` in another
//! thread, with conflicts `e1` → `f1` and `f2` → `e3`, and a way from `f1` to `f2`: they are the same event, or `f1`
//! comes first, or they are in the same block. On one variable with `f1` = `f2` these are the five unserialisable patterns
//! (read–write–read, write–write–read, write–read–write, read–write–write, write–write–write; Lu, Tucek, Qin, Zhou, *AVIO*,
//! 2006); on several variables, write skew and its kin; on a lock, a block with two critical sections and another one in
//! between.
//!
//! As for a race, the witness lets everything happen that `e3` and the later of `f1` and `f2` need, the smallest
//! [sync-preserving ideal](crate::ideal) that is about to do both (Mathur, Pavlogiannis, Viswanathan, *Optimal Prediction of
//! Synchronization-Preserving Races*, POPL 2021), and then those two. `e1` is in the ideal, by thread order. Where the
//! observed order of the ideal does not have `e1` before `f1`, its events are [lined up](line) anew.
//!
//! **What is found.** `single`: every pattern on one variable that is witnessed by a sync-preserving ideal about to do `f1` =
//! `f2` and `e3`; complete for these, by places. `several`: cycles over two resources (variables, locks, forks and joins), tried
//! on a bounded number of representatives for each block and pair of places: not complete. Cycles through three and more
//! threads are not searched.
//!
//! **Soundness** rests on the witness checker alone.
//!
//! **Cost.** Linear passes to list shared variables; then as `syncp`: per variable, groups of accesses that differ only in
//! when they happen, each pair of groups searched in time linear in their sizes. Lining up costs events × threads of the
//! ideal and is given up beyond a size. Memory: 4 bytes per event of the must-order and 4 per access of shared variables.

mod cycles;
mod index;
mod line;
mod several;
mod single;

use super::blocks::Blocks;
use crate::locks::LockHistory;
use crate::order::MustOrder;
use crate::survey::Survey;
use cycles::ConflictCycles;
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Job, Outcome, WholeEngine};
use index::RunIndex;

/// Predicts atomicity violations.
pub struct PredictedAtomicity {
    functions: AtomicFunctions,
}

impl PredictedAtomicity {
    /// An engine for which calls of `functions` are atomic blocks, beside the annotated ones. The judge has to know them, too.
    pub fn new(functions: AtomicFunctions) -> Self {
        PredictedAtomicity { functions }
    }
}

impl WholeEngine for PredictedAtomicity {
    fn has_work(&self, job: &Job<'_>) -> bool {
        Survey::shared(job).blocks
    }

    fn run(&self, job: &Job<'_>) -> Outcome {
        let mut blocks = Blocks::new(self.functions.clone());
        blocks.learn(job.execution.names());
        let mut cycles = ConflictCycles::new(job);
        let (order, locks) = (MustOrder::shared(job), LockHistory::shared(job));
        if let Some(index) = RunIndex::of(job.execution, &order, &locks, &blocks) {
            single::search(&index, &mut cycles);
            several::search(&index, &mut cycles);
        }
        cycles.judged()
    }
}
