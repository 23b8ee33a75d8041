//! Every race that a correct reordering can show within a window.
//!
//! As [`reverse`](crate::reverse), but what the rules leave open is tried both ways: a complete search
//! ([`reorder`](crate::reorder) has the argument). The window of a pair of accesses begins 4096 events before the first
//! one and holds what the two need since then; what comes before it is as observed. Smaller windows are tried first:
//! they are cheaper and mostly enough.
//!
//! Where no schedule keeps the writes that reads read, the rules are relaxed ([`Reads::Relaxed`] has the arguments). If
//! the trace has branch events, only reads that control flow depends on count: the search is complete for that, too.
//! If it has values, reads may read other writes of the same value; that part is not complete. Nor is it where the trace says
//! which reads a value comes from ([`Op::From`](foresee_trace::Op::From)): the search takes it to come from all reads before.
//!
//! A search of our own instead of a solver: propagation is saturation on clocks, linear memory per branch, and a schedule
//! usually falls out of the first line. Work is counted, not timed: the same trace gives the same answers. A candidate
//! whose search ran out of work, or had to leave something out for its size, counts as undecided.

use crate::candidates::Effort;
use crate::races::Method;
use crate::reorder::Search;
use crate::survey::Survey;
use foresee_witness::checker::Reads;
use foresee_witness::engine::{Job, Outcome, WholeEngine};

/// The engine `max`.
pub struct Max;

/// How many events before the first access the window begins.
const WINDOW: u32 = 4096;

/// How many events a question may look at.
const SIZE: usize = 8192;

/// How much a search may do.
const WORK: u64 = 20_000_000;

pub(crate) const METHOD: Method = Method {
    engine: "max",
    effort: Effort { groups: 32, recent: 16, pairs: 64, reads: Reads::Relaxed },
    search: Search::Complete { work: WORK },
    margins: &[0, WINDOW / 16, WINDOW],
    size: SIZE,
    is_complete: true,
};

impl WholeEngine for Max {
    fn has_work(&self, job: &Job<'_>) -> bool {
        Survey::shared(job).open_races
    }

    fn run(&self, job: &Job<'_>) -> Outcome {
        METHOD.run(job)
    }
}
