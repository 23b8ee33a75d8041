//! The witness checker: is this schedule a correct reordering, and does it show what is claimed?
//!
//! A prediction is only as good as its proof. An engine proves with a schedule, and this module replays the schedule
//! event by event against the rules of the soundness contract. It depends on no engine.
//!
//! **Rules.** A correct reordering of an execution is a schedule over some of its events such that
//! * (a) it keeps each thread's order and takes a prefix of each thread;
//! * (b) a lock has one exclusive holder or any number of shared ones. Acquiring a lock one already holds, in any mode, is
//!   re-entry; only the outermost acquire and release matter. Releasing a lock not held does nothing. A wait for a
//!   condition that is a lock held by the thread gives it up, however often it was entered;
//! * (c) every read, cell by cell, reads the write it read in the execution, or the initial value;
//! * (d) a thread starts after its fork; a join follows the joined thread's last event; a wait that returned (its thread
//!   does something after it) was woken by the same notifies as observed: those between the wait and the thread's next
//!   event are all there, after the wait and before that event. Without such notifies (timeout, spurious wake-up)
//!   there is no constraint;
//! * (e) exempt from (c): a read that is its thread's last event in the schedule, where nothing depends on its value. A
//!   later join of the thread would (the thread, with another value, might not have ended there), and so would being
//!   blocked at its next event in a deadlock: neither thread is exempt. Nor is any thread if a property is claimed of a schedule of all
//!   events: it may be about the end of the run, and then all threads have ended there;
//! * (f) blind code ([`Op::Blind`]) may have read and written what the locks protect that its thread holds. It comes after all
//!   sections of these locks by other threads that came before it in the execution, unless both share the lock; and an outermost acquire comes
//!   after all sections of its lock with blind code, by other threads, that came before it, unless both share. Blind code that may have synchronised
//!   comes after all such code that came before it.
//!
//! An exempt read-modify-write that reads another write than observed writes something unknown, or nothing (a
//! compare-exchange would fail). Hence what it wrote is never what a later read observed, and in claims it counts as an
//! atomic load.
//!
//! Where an engine asks for it ([`Reads::Relaxed`]), the weaker rules (c′) and (c″) take the place of (c); the module `values`
//! has them and their arguments.
//!
//! **Cost.** [`Checker::new`]: linear in the execution, 8 bytes per event. [`Checker::check`]: linear in the schedule and the
//! claim, with memory for the threads, locks and cells of the schedule only; a wait costs one step for each notify that came
//! while it waited.

mod blind;
mod claim;
mod dependence;
mod exempt;
mod observed;
mod refusal;
mod replay;
mod schedule;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Borrow;
use std::sync::Arc;

use foresee_trace::{EventId, Execution, Op};

pub use claim::Claim;
use exempt::Exempt;
use observed::Observed;
pub use refusal::{Refusal, Rule};
use replay::Replay;
pub use schedule::Schedule;
pub use values::Reads;

/// Checks schedules of one execution.
pub struct Checker<'e> {
    execution: &'e Execution,
    observed: Arc<Observed>,
}

/// What checkers of one execution need to know of the observed run, worked out once.
#[derive(Clone)]
pub(crate) struct Prepared(Arc<Observed>);

impl<'e> Checker<'e> {
    /// Notes what the rules need to know of the observed run.
    pub fn new(execution: &'e Execution) -> Self {
        Checker { execution, observed: Arc::new(Observed::of(execution)) }
    }

    /// A checker for the execution of which this was prepared.
    pub(crate) fn of_prepared(execution: &'e Execution, prepared: &Prepared) -> Self {
        Checker { execution, observed: Arc::clone(&prepared.0) }
    }

    pub(crate) fn prepared(&self) -> Prepared {
        Prepared(Arc::clone(&self.observed))
    }

    /// Calls of these functions are atomic blocks too, beside the annotated ones.
    #[must_use]
    pub fn with_atomic_functions(mut self, is_atomic: impl Fn(&str) -> bool) -> Self {
        Arc::make_mut(&mut self.observed).atomic_functions = (self.execution.ids())
            .filter_map(|id| match self.execution.op(id) {
                Op::Enter { function } => Some(function),
                _ => None,
            })
            .filter(|&function| is_atomic(self.execution.names().str(function)))
            .collect();
        self
    }

    /// Accepts a correct reordering.
    pub fn check_schedule(&self, schedule: &[EventId]) -> Result<(), Refusal> {
        let exempt = Exempt::last_reads(self.execution, schedule, &[]);
        Replay::new(self.execution, &self.observed).go_on(schedule, &exempt, &[])
    }

    /// Accepts a correct reordering that shows the claim.
    pub fn check(&self, schedule: &[EventId], claim: &Claim<'_>) -> Result<(), Refusal> {
        self.finish(Replay::new(self.execution, &self.observed), schedule, claim)
    }

    /// Judges many witnesses. The observed pieces that their schedules begin with are replayed together, once.
    ///
    /// Costs one pass through the longest observed piece, then per witness its own events and a copy of the state of threads and
    /// locks there.
    pub fn check_all<'c, C: Borrow<Claim<'c>>>(
        &self,
        witnesses: &[(&Schedule, C)],
    ) -> Vec<Result<(), Refusal>> {
        self.check_all_with(witnesses, Reads::SameWrite)
    }

    /// As [`Checker::check_all`], with a choice of what reads must read.
    pub fn check_all_with<'c, C: Borrow<Claim<'c>>>(
        &self,
        witnesses: &[(&Schedule, C)],
        reads: Reads,
    ) -> Vec<Result<(), Refusal>> {
        let mut verdicts = vec![Ok(()); witnesses.len()];
        let mut by_length: Vec<usize> = (0..witnesses.len()).collect();
        by_length.sort_by_key(|&nth| witnesses[nth].0.observed());
        let mut watched: Vec<EventId> = (witnesses.iter())
            .filter_map(|(_, claim)| claim.borrow().needs(self.execution).ok())
            .flat_map(|(_, watched)| watched)
            .collect();
        watched.sort_unstable();
        let mut common = Replay::new(self.execution, &self.observed).reading(reads);
        for nth in by_length {
            let (schedule, claim) = &witnesses[nth];
            verdicts[nth] = self.check_after(&mut common, &watched, schedule, claim.borrow());
        }
        verdicts
    }

    /// `watched` are the events that any of the claims is about, sorted.
    fn check_after(
        &self,
        common: &mut Replay<'_>,
        watched: &[EventId],
        schedule: &Schedule,
        claim: &Claim<'_>,
    ) -> Result<(), Refusal> {
        if schedule.observed() == 0 || claim.is_about_whole() {
            let replay = Replay::new(self.execution, &self.observed).reading(common.reads());
            return self.finish(replay, &schedule.to_vec(), claim);
        }
        let done = common.len() as u32;
        let observed: Vec<EventId> = (done..schedule.observed()).map(EventId).collect();
        let ahead = |bound: u32| watched.partition_point(|id| id.0 < bound);
        let watched = &watched[ahead(done)..ahead(schedule.observed().max(done))];
        common.go_on(&observed, &Exempt::default(), watched)?;
        self.finish(common.branch(), schedule.then(), claim)
    }

    /// Replays the rest of a schedule and asks whether the whole shows the claim.
    fn finish(&self, mut replay: Replay<'_>, rest: &[EventId], claim: &Claim<'_>) -> Result<(), Refusal> {
        let (mut going_on, watched) = claim.needs(self.execution)?;
        if claim.is_about_whole() && rest.len() == self.execution.len() {
            going_on = self.execution.ids().map(|id| self.execution.thread(id)).collect();
        }
        let by_branches = replay.reads() == Reads::Relaxed && self.observed.has_branches;
        let exempt = match claim {
            Claim::Race { .. } if by_branches => {
                Exempt::by_branches(self.execution, rest, &self.observed.dependences)
            }
            Claim::Property { sliced: Some(_), .. } if self.observed.has_branches => {
                Exempt::by_branches(self.execution, rest, &self.observed.dependences)
            }
            _ => Exempt::last_reads(self.execution, rest, &going_on),
        };
        replay.go_on(rest, &exempt, &watched)?;
        claim.shown(&replay, rest).map_err(|why| Refusal::NotShown { why })
    }
}
