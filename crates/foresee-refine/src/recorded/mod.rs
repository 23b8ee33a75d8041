//! Operations of programs that foresee recorded: refinement of the observed run, and of runs that did not happen.
//!
//! A trace has the words `call`, `return`, `commit`, `commit_begin` and `commit_end` where the program says them (`foresee.h`, or the crate `foresee`), and logged writes
//! as named events ([`recorded_words`](crate::recorded_words)). What instrumentation recorded with its value counts as well, if the variable has the
//! name of one of the structure (`size`, `A[3].valid`; see `FORESEE_WATCH_AS`, `watch!`): 0 and 1 are then false and true. [`OperationLog`] makes a [`Log`](crate::log::Log) of them, in the order of a schedule.
//!
//! **Prediction.** A correct reordering of the observed run is a run of the same program, in which every operation in it does what it did: it reads
//! the same values, so it takes the same path, commits where it did and gives back what it gave back. So the log of the reordered words is the log
//! of that run, no result has to be guessed, and a violation in it is real. [`PredictedRefinement`] tries such runs: those in which one
//! thread is held up at one moment and goes on at a later one (`held_up`), and in traces of few words those in which the same is done once more. Each is
//! replayed by the witness checker before it counts.
//!
//! **What is left out.** Runs in which threads are held up more often, and in longer traces more than once. Runs in which an operation would read something
//! else: what it gives back then does not follow from the trace, and the specification only says what it should be. (The last read of a thread may read
//! anything, as nothing after it is part of such a run.)
//!
//! **Cost.** For each of the moments of a thread at which others can notice that it waits, and each word of another thread in a
//! window after it: one pass over the run, and a check of its log if the checker accepts it. Runs whose log is that of one tried
//! before are not checked again.

mod held_up;
mod operations;
mod predict;

pub use operations::{OperationLog, Words};
pub use predict::PredictedRefinement;
