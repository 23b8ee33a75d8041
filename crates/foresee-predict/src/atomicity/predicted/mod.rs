//! Atomicity violations that other schedules of the same program show.
//!
//! **Idea.** A circle through two threads has four events: `e1` and `e3` in one block of a thread, `f1` and `f2` in another
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
//! `f2` and `e3`; complete for these, by places. `several`: circles over two resources (variables, locks, forks and joins), tried
//! on a bounded number of representatives for each block and pair of places: not complete. Circles through three and more
//! threads are not searched.
//!
//! **Soundness** rests on the witness checker alone.
//!
//! **Cost.** Linear passes to list shared variables; then as `syncp`: per variable, groups of accesses that differ only in
//! when they happen, each pair of groups searched in time linear in their sizes. Lining up costs events × threads of the
//! ideal and is given up beyond a size. Memory: 4 bytes per event of the must-order and 4 per access of shared variables.

mod line;
mod scene;
mod several;
mod single;

use foresee_trace::EventId;
use rustc_hash::FxHashSet;

use super::ENGINE;
use super::blocks::{AtomicFunctions, Blocks};
use crate::engine::{Job, Outcome, WholeEngine};
use crate::finding::{Certainty, Finding, Kind, Place};
use crate::witness::{Claim, Schedule};
use scene::Scene;

/// Predicts atomicity violations.
pub struct PredictedAtomicity {
    functions: AtomicFunctions,
}

impl PredictedAtomicity {
    /// An engine for which calls of `functions` are atomic blocks, beside the annotated ones. The job's checker has to know
    /// them too ([`Checker::with_atomic_functions`](crate::witness::Checker::with_atomic_functions)).
    pub fn new(functions: AtomicFunctions) -> Self {
        PredictedAtomicity { functions }
    }
}

impl WholeEngine for PredictedAtomicity {
    fn run(&self, job: &Job<'_>) -> Outcome {
        let mut blocks = Blocks::new(self.functions.clone());
        blocks.learn(job.execution.names());
        let mut found = Found::new(job);
        if let Some(scene) = Scene::of(job.prepared, &blocks) {
            single::search(&scene, &mut found);
            several::search(&scene, &mut found);
        }
        found.check()
    }
}

/// The four events of a circle through two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Circle {
    /// In the block: before the others do `f1`.
    pub(super) e1: EventId,
    pub(super) f1: EventId,
    pub(super) f2: EventId,
    /// In the same block as `e1`: after the others did `f2`.
    pub(super) e3: EventId,
}

/// What the searches found, and what they need not look for.
struct Found<'a> {
    job: &'a Job<'a>,
    settled: FxHashSet<Vec<Place>>,
    outcome: Outcome,
}

impl<'a> Found<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        Found { job, settled: FxHashSet::default(), outcome: Outcome::default() }
    }

    fn is_settled(&self, places: &[Place]) -> bool {
        self.settled.contains(places) || self.job.proven.contains(Kind::Atomicity, places)
    }

    fn add(&mut self, circle: Circle, places: Vec<Place>, witness: Schedule) {
        let Circle { e1, f1, f2, e3 } = circle;
        self.settled.insert(places.clone());
        self.outcome.findings.push(Finding {
            kind: Kind::Atomicity,
            certainty: Certainty::Predicted,
            engine: ENGINE,
            events: [e1, f1, f2, e3].map(|event| u64::from(event.0)).to_vec(),
            places,
            instances: 1,
            schedulable: true,
            witness,
            said: None,
            run: None,
        });
    }

    /// Drops what the checker refuses; the rest in an order that depends only on the trace.
    fn check(self) -> Outcome {
        let mut outcome = self.outcome;
        let event = |id: u64| EventId(id as u32);
        let claim = |finding: &Finding| Claim::Atomicity {
            cycle: finding.events.chunks_exact(2).map(|edge| (event(edge[0]), event(edge[1]))).collect(),
        };
        let witnesses: Vec<(&Schedule, Claim<'_>)> =
            outcome.findings.iter().map(|finding| (&finding.witness, claim(finding))).collect();
        let verdicts = self.job.checker.check_all(&witnesses);
        let mut accepted = verdicts.iter().map(Result::is_ok);
        outcome.findings.retain(|_| accepted.next().unwrap_or(false));
        outcome.refused = (verdicts.len() - outcome.findings.len()) as u64;
        outcome.findings.sort_by(|a, b| (&a.events, &a.places).cmp(&(&b.events, &b.places)));
        outcome
    }
}
