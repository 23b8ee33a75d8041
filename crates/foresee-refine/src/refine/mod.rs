//! Refinement: does a run do what its specification does in the order of its commit actions? (VYRD, sections 4 and 5.)
//!
//! - At the commit of a mutator the specification takes the one step of that method with its arguments and the result that it will have,
//!   which is looked up ahead in the log.
//! - An observer has no commit. What it gives back must be right in some state between its call and its return. Each observer is asked
//!   after each commit while it is under way, so nothing is kept and nothing is tried twice.
//! - With views: after each commit the contents of the structure, rebuilt from its logged writes by a [`Replica`], must be those of the
//!   specification. Only parts that were written or stepped on since are compared. Writes in another thread's commit block count when
//!   that block has had its commit, or has ended. Work of the structure's own threads must leave the view as it was.
//! - [`Mode::Quiescent`] compares views only where no operation is under way, as earlier work did: it needs no right place for commits but their order,
//!   and finds less, and later (section 5.1).
//! - [`broken_block`]: whether commit blocks are one step, on which views rest.
//!
//! A log may end while operations are under way, and operations may panic. One that has committed may have had any result, and the log is right if
//! some choice makes it right: there is a `World` for each, as far as there is room (`worlds`). If there would be more, and none of those that are kept makes it right,
//! that is undecided ([`RefineError::TooManyResults`]).
//!
//! Cost: one pass; at each commit the step of the specification, the parts that changed, and the observers under way.

mod blocks;
mod checker;
mod classify;
mod replica;
mod violation;
mod words;
mod world;
mod worlds;

pub use blocks::{Blocks, BrokenBlock, broken_block};
pub use checker::{Checker, Mode};
pub use classify::{Judgement, judge};
pub use replica::{Replica, Unsupported, WrongWrite, writes_of};
pub use violation::{Difference, Kind, RefineError, Undecided, Violation};
pub use words::describe;

use crate::linear::Limits;
use crate::log::Log;
use crate::spec::Viewed;

/// Checks a whole log; the first violation, if there is one.
pub fn check<S: Viewed, R: Replica>(
    spec: &S,
    replica: R,
    log: &Log,
    mode: Mode,
) -> Result<Option<Violation>, RefineError> {
    check_within(spec, replica, log, mode, Limits::default())
}

/// The same, given up where that takes more than there is ([`RefineError::OutOfTime`], [`RefineError::OutOfMemory`]).
pub fn check_within<S: Viewed, R: Replica>(
    spec: &S,
    replica: R,
    log: &Log,
    mode: Mode,
    limits: Limits,
) -> Result<Option<Violation>, RefineError> {
    let mut checker = Checker::new(spec, replica, mode).within(limits);
    for event in &log.events {
        let is_internal = log.threads.get(event.thread as usize).is_some_and(|thread| thread.is_internal);
        checker.push(event, is_internal)?;
        if checker.violation().is_some() {
            break;
        }
    }
    checker.finish()
}
