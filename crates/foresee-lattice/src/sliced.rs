//! `sliced`: as [`weak`](super::weak), but only accesses that the property depends on count.
//!
//! **The relation.** That of `weak` over the accesses of the [`DependenceSlice`]; locks, forks, joins, wake-ups and blind code order as ever. Other reads may
//! read anything, other writes may come anywhere.
//!
//! **Why it is sound.** By induction along the schedule, each thread does the observed events as far as it goes: which
//! ones, and on what, depends on its reads only through its branches, and the reads that a kept branch depends on, that is, every
//! branch that the thread goes on from to anything kept, are kept themselves. A kept read reads the write it read in the
//! execution, because every write of its cell is kept and turns are not interrupted; and that write has the observed value,
//! because the reads it depends on are kept. The same holds for the values of what the property looks at. What depends on what is
//! stated by the trace; otherwise it is all reads of the thread before.
//!
//! The checker knows this as rule (c″) for properties: it refuses a schedule in which a branch, or something that the
//! property looks at, depends on a read of something else.
//!
//! **Cost.** That of the slice, linear, and of `weak`.

use foresee_trace::Execution;

use super::causality::Causality;
use super::dependence_slice::DependenceSlice;
use super::model::{Edges, Letter, Model};
use super::weak::read;

/// The model `sliced`.
pub struct Sliced;

impl Model for Sliced {
    fn name(&self) -> &'static str {
        "sliced"
    }

    fn read(&self, execution: &Execution, letter: Letter<'_>, edges: bool) -> (Causality, Option<Edges>) {
        let slice = DependenceSlice::complete(execution, letter);
        read(execution, letter, edges, &|id| slice.contains(id))
    }

    fn is_relaxed(&self) -> bool {
        true
    }
}
