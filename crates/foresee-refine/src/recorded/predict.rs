//! The engine that predicts refinement violations.

use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use foresee_trace::{EventId, Execution};
use foresee_witness::checker::{Checker, Claim, Reads, Schedule};
use foresee_witness::engine::{Budget, Job, Outcome, WholeEngine};
use foresee_witness::judge::{Finding, Place, Proposal};
use rustc_hash::{FxHashSet, FxHasher};

use super::held_up::{self, Needs};
use super::operations::{OperationLog, Words};
use crate::linear::Limits;
use crate::log::Log;
use crate::named::{self, Structure};
use crate::refine::{Judgement, Violation};

/// How long it may take if nobody set a time.
const UNLESS_TOLD: Duration = Duration::from_secs(10);

/// To know whom to blame for a violation is worth so much time.
const JUDGING: Duration = Duration::from_millis(200);

/// Looks for runs whose operations do not refine the specification of a structure; see the [module](super). Stops at the first that is not
/// just one of its commit points; those are reported if there is nothing else.
pub struct PredictedRefinement {
    /// What the operations are of.
    pub structure: Structure,
}

impl PredictedRefinement {
    /// Predicts violations of this structure.
    pub fn new(structure: Structure) -> PredictedRefinement {
        PredictedRefinement { structure }
    }

    /// The first violation in the log of a schedule, by the event of the trace at which it is established, and whom to blame.
    fn violation(
        &self,
        execution: &Execution,
        words: &Words,
        schedule: &[EventId],
    ) -> Option<(EventId, Judgement)> {
        let OperationLog { log, events } = OperationLog::of(execution, words, schedule.iter().copied());
        let (violation, judgement) = first_violation(self.structure, &log)?;
        Some((*events.get(violation.first)?, judgement))
    }
}

/// The first violation of a log: of its contents if it has writes, otherwise of its results.
fn first_violation(structure: Structure, log: &Log) -> Option<(Violation, Judgement)> {
    let limits = Limits { memory: 1 << 26, deadline: Instant::now().checked_add(JUDGING) };
    let found = named::refine(structure, log, limits).ok()?;
    found.view.flatten().or(found.io)
}

impl WholeEngine for PredictedRefinement {
    fn has_work(&self, job: &Job<'_>) -> bool {
        let words = Words::default();
        job.execution.ids().any(|id| words.has(job.execution, id))
    }

    fn run(&self, job: &Job<'_>) -> Outcome {
        let execution = job.execution;
        let mut outcome = Outcome::default();
        let words = Words::of(execution, self.structure);
        // What happened needs no prediction.
        if self.violation(execution, &words, &execution.ids().collect::<Vec<_>>()).is_some() {
            return outcome;
        }
        let deadline = job.budget.deadline.or_else(|| Instant::now().checked_add(UNLESS_TOLD));
        let budget = Budget { deadline, ..job.budget };
        let needs = Needs::of(execution);
        let moments = held_up::moments(execution, &words);
        let mut search = Search {
            job,
            checker: Checker::new(execution),
            words: &words,
            right: FxHashSet::default(),
            commit_points: None,
            bases: Vec::new(),
            keeps_bases: moments.len() <= MOST_MOMENTS,
        };
        for &stop in &moments {
            if budget.is_exhausted() {
                outcome.undecided += 1;
                break;
            }
            for end in held_up::ends(execution, &words, execution.ids().skip(stop.index()), stop) {
                let Some(run) = held_up::run(execution, &needs, execution.ids(), stop, end) else { continue };
                if let Some(finding) = self.look(&mut search, run) {
                    outcome.findings.push(finding);
                    return outcome;
                }
            }
        }
        // Of few events, runs in which another thread is held up as well.
        search.keeps_bases = false;
        for base in std::mem::take(&mut search.bases) {
            for &stop in &moments {
                if budget.is_exhausted() {
                    break;
                }
                for end in held_up::ends(execution, &words, base.iter().copied(), stop) {
                    let run = held_up::run(execution, &needs, base.iter().copied(), stop, end);
                    if let Some(finding) = run.and_then(|run| self.look(&mut search, run)) {
                        outcome.findings.push(finding);
                        return outcome;
                    }
                }
            }
        }
        outcome.findings.extend(search.commit_points);
        outcome
    }
}

/// Traces with more moments are only looked at with one thread held up.
const MOST_MOMENTS: usize = 100;

/// Of so many runs with one thread held up, those with another one are tried.
const MOST_BASES: usize = 200;

/// What is known while runs are tried.
struct Search<'a> {
    job: &'a Job<'a>,
    checker: Checker<'a>,
    words: &'a Words,
    /// Runs whose words are right in their order.
    right: FxHashSet<u64>,
    /// A violation that is one of commit points, perhaps.
    commit_points: Option<Finding>,
    /// Runs that are right, to go on from.
    bases: Vec<Vec<EventId>>,
    keeps_bases: bool,
}

impl PredictedRefinement {
    /// A finding, if this run is wrong, can be, and not only its commit points are to blame.
    fn look(&self, search: &mut Search<'_>, run: Vec<EventId>) -> Option<Finding> {
        let execution = search.job.execution;
        let words = search.words;
        let said = fingerprint(execution, words, &run);
        if search.right.contains(&said) {
            return None;
        }
        let Some((at, judgement)) = self.violation(execution, words, &run) else {
            search.right.insert(said);
            if search.keeps_bases && search.bases.len() < MOST_BASES {
                search.bases.push(run);
            }
            return None;
        };
        let is_weak = matches!(judgement, Judgement::CommitPoints { .. } | Judgement::Undecided);
        if is_weak && search.commit_points.is_some() {
            return None;
        }
        // Only up to the violation: what would come after it need not be possible.
        let length = run.iter().position(|id| *id == at).map_or(run.len(), |place| place + 1);
        let run = self.shortest(search, &run, length)?;
        let violated = |execution: &Execution, schedule: &[EventId]| {
            self.violation(execution, words, schedule).is_some_and(|(found, _)| found == at)
        };
        let proposal = Proposal {
            engine: "refine",
            claim: Claim::Refinement { violated: &violated, at },
            schedule: Schedule::from(run),
            reads: Reads::SameWrite,
            places: vec![Place::new(execution.loc(at), u64::from(at.0))],
            instances: 1,
            statement: None,
        };
        let finding = search.job.judge.judge(proposal)?;
        if is_weak {
            search.commit_points = Some(finding);
            return None;
        }
        Some(finding)
    }

    /// A schedule that the checker accepts and that shows the violation: the run up to the return of the operation that is wrong, or just up to the
    /// violation, or all of it, as the result of another operation may matter.
    fn shortest(&self, search: &Search<'_>, run: &[EventId], length: usize) -> Option<Vec<EventId>> {
        let execution = search.job.execution;
        let at = run.get(length - 1)?;
        // The result of an operation that committed is looked up ahead in the log: its return must be there.
        let mut until = length;
        let own = execution.thread(*at);
        let is_return = |id: &EventId| matches!(execution.op(*id), foresee_trace::Op::Return { .. });
        if let Some(more) = run[length..].iter().position(|id| execution.thread(*id) == own && is_return(id))
        {
            until = length + more + 1;
        }
        // What others would do until then need not be possible either.
        let rest = run[length..until].iter().filter(|id| execution.thread(**id) == own);
        let alone: Vec<EventId> = run[..length].iter().chain(rest).copied().collect();
        [&alone[..], &run[..until], &run[..length], run].into_iter().find_map(|schedule| {
            let shows =
                self.violation(execution, search.words, schedule).is_some_and(|(found, _)| found == *at);
            (shows && search.checker.check_schedule(schedule).is_ok()).then(|| schedule.to_vec())
        })
    }
}

/// The words of a run in their order, as a number.
fn fingerprint(execution: &Execution, words: &Words, run: &[EventId]) -> u64 {
    let mut hasher = FxHasher::default();
    run.iter().filter(|id| words.has(execution, **id)).for_each(|id| id.0.hash(&mut hasher));
    hasher.finish()
}
