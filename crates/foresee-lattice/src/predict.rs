//! The part of the engine `property` that predicts: what properties say of the runs that did not happen.
//!
//! For each property, body and binding: the steps of the binding's slice under the chosen [model](super::model), explored with the body's
//! machine. What is reported there, but not at the same place in the observed run, is predicted: the path becomes a schedule, the checker
//! replays it by the rules, and the property itself, run over the schedule from its beginning, must have the verdict at its last event,
//! or at the [end](super::end) of a schedule of all events.
//! So neither the explorer nor the way bindings are put together here can raise a false alarm.
//!
//! **What is not predicted.** Bindings whose parameters no event connects, properties with bounds of time, and properties about fields of objects, which are read when calls happen: that is no
//! access of the program, so nothing says what they would hold in another order.
//!
//! **Cost.** A pass over the execution for each binding that several threads deal with, and the lattice of its slice.

use std::time::{Duration, Instant};

use foresee_monitor::formalism::Categories;
use foresee_monitor::instance::Instance;
use foresee_monitor::property::Property;
use foresee_monitor::watch::Verdict;
use foresee_trace::{EventId, Execution};

use super::bound_body::{BodyMachine, BoundBody, place};
use super::by_binding::EventsByBinding;
use super::end::END;
use super::explorer::{Breadth, Options, explore};
use super::lives::Lives;
use super::model_name::ModelName;
use super::run_count;
use super::schedule::Scheduler;
use crate::property::{Feed, Occasion, Translator, says};
use foresee_witness::checker::{Claim, Reads};
use foresee_witness::engine::{Budget, Job, Outcome, WholeEngine};
use foresee_witness::judge::{Finding, FindingKind, Place, PredictedRun, Proposal, Statement};

/// How to predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// Which runs an execution promises.
    pub model: ModelName,
    /// How many cuts of a level are followed.
    pub breadth: Breadth,
    /// At most so many counterexamples for each property.
    pub counterexamples: usize,
}

impl Default for Prediction {
    fn default() -> Self {
        Prediction { model: ModelName::Weak, breadth: Breadth::All, counterexamples: 10 }
    }
}

/// How long it may take if nobody set a time: lattices can be of any size.
const UNLESS_TOLD: Duration = Duration::from_secs(10);

/// The engine; see the [module](self).
pub struct PredictedVerdicts<'o> {
    properties: &'o [Property],
    trace: &'o str,
    prediction: Prediction,
}

impl<'o> PredictedVerdicts<'o> {
    /// Predicts what these properties state; `trace` is what the user calls the trace.
    pub fn new(properties: &'o [Property], trace: &'o str, prediction: Prediction) -> PredictedVerdicts<'o> {
        PredictedVerdicts { properties, trace, prediction }
    }
}

impl WholeEngine for PredictedVerdicts<'_> {
    fn run(&self, job: &Job<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let own = job.budget.deadline.or_else(|| Instant::now().checked_add(UNLESS_TOLD));
        let budget = Budget { deadline: own, ..job.budget };
        let job = &Job { budget, ..*job };
        let mut all = || {
            for number in 0..self.properties.len() {
                self.property(job, number, &mut outcome);
            }
        };
        match job.budget.pool() {
            Some(pool) => pool.install(&mut all),
            None => all(),
        }
        outcome
    }
}

impl PredictedVerdicts<'_> {
    fn property(&self, job: &Job<'_>, number: usize, outcome: &mut Outcome) {
        let property = &self.properties[number];
        // Nobody knows when events of other runs would happen.
        if property.is_timed() {
            return;
        }
        if property.asks_for_fields() {
            let why = "the observed run only: in others, fields of objects may hold something else when its calls happen";
            outcome.unknown.push(format!("{}: {why}", property.name));
            return;
        }
        let mut translator = Translator::new(property);
        translator.learn(job.execution.names());
        let events = EventsByBinding::of(job.execution, &mut translator);
        let (bindings, complete) = events.bindings();
        outcome.undecided += u64::from(!complete);
        let mut findings: Vec<Finding> = Vec::new();
        for binding in &bindings {
            let bound = binding.domain.len() == property.params.len();
            let slice = events.events_of(binding);
            let of_several = (slice.iter().filter(|happening| happening.event != END))
                .any(|happening| happening.thread != slice[0].thread);
            if !of_several || (property.modifiers.full_binding && !bound) {
                continue;
            }
            for body in 0..property.bodies.len() {
                if job.budget.is_exhausted() {
                    outcome.undecided += 1;
                    continue;
                }
                let handlers = property.bodies[body].handlers.iter().enumerate();
                let wanted = handlers.filter(|(_, handler)| handler.is_finding());
                let bound = BoundBody {
                    property,
                    number,
                    body,
                    binding,
                    instance: Instance::new(property, body),
                    slice: slice.clone(),
                    wanted: wanted.fold(Categories::NONE, |all, (nth, _)| all.union(Categories::only(nth))),
                };
                self.bound(job, &bound, &translator, &mut findings, outcome);
            }
        }
        findings.sort_by_key(|finding| (finding.witness().len(), finding.events.clone()));
        findings.truncate(self.prediction.counterexamples);
        if let Some(why) = translator.unknown_value() {
            findings.iter_mut().for_each(|finding| finding.doubt_because(why.clone()));
        }
        outcome.findings.append(&mut findings);
    }

    fn bound(
        &self,
        job: &Job<'_>,
        bound: &BoundBody<'_>,
        translator: &Translator<'_>,
        findings: &mut Vec<Finding>,
        outcome: &mut Outcome,
    ) {
        let execution = job.execution;
        let machine = BodyMachine::new(bound, execution);
        let model = self.prediction.model.model();
        let (causality, _) = machine.read(model, execution, false);
        let place = |event: u32| u64::from(place(execution, EventId(event)).0);
        let options = Options {
            breadth: self.prediction.breadth,
            memory: job.budget.memory,
            budget: job.budget,
            place: &place,
            violations: self.prediction.counterexamples,
            known: machine.observed(execution),
        };
        let report = explore(&causality, &machine, options);
        let is_stopped = !report.exhaustive && self.prediction.breadth == Breadth::All;
        outcome.undecided += u64::from(is_stopped || machine.gave_up());
        if report.violations.is_empty() {
            return;
        }
        // A run that goes wrong and cannot go on as observed is no whole one: then the numbers would say nothing.
        let runs = if report.exhaustive { run_count::count(&causality, &machine) } else { None };
        let runs = runs.filter(|runs| runs.clean < runs.all);
        let (causality, edges) = machine.read(model, execution, true);
        let Some(edges) = edges else { return };
        let scheduler = Scheduler::new(execution, &causality, &edges);
        for violation in &report.violations {
            let event = EventId(violation.event);
            let path = match (event, &violation.path[..]) {
                (END, [path @ .., _]) => path,
                (_, path) => path,
            };
            let Some(schedule) = scheduler.schedule(path) else {
                job.judge.refuse_unscheduled();
                continue;
            };
            for handler in violation.categories.indices() {
                let reported = Told { bound, lives: &machine.lives, handler, event };
                let places = reported.places(execution);
                let is_known = job.proven.contains(FindingKind::Property, &places)
                    || findings.iter().any(|finding| finding.places == places);
                if is_known || !reported.is_told(execution, &schedule) {
                    continue;
                }
                let violated =
                    |execution: &Execution, schedule: &[EventId]| reported.is_told(execution, schedule);
                let looks_at = |id: EventId| machine.looks_at(id);
                let run = PredictedRun {
                    runs: runs.map(|count| (count.all - count.clean, count.all)),
                    ..machine.run(&schedule, &report, model)
                };
                findings.extend(job.judge.judge(Proposal {
                    engine: "property",
                    claim: Claim::Property {
                        violated: &violated,
                        at: (event != END).then_some(event),
                        sliced: model.is_relaxed().then_some(&looks_at),
                    },
                    schedule: schedule.clone().into(),
                    reads: Reads::SameWrite,
                    places,
                    instances: 1,
                    statement: Some((reported.said(execution, translator, self.trace), run)),
                }));
            }
        }
    }
}

/// A verdict of a handler at an event.
struct Told<'a> {
    bound: &'a BoundBody<'a>,
    lives: &'a Lives,
    handler: usize,
    event: EventId,
}

impl Told<'_> {
    fn places(&self, execution: &Execution) -> Vec<Place> {
        let BoundBody { number, body, .. } = *self.bound;
        let loc = place(execution, self.event);
        let mut places = vec![Place::of_verdict(number, body, self.handler), Place::new(loc, 0)];
        places.sort_unstable();
        places
    }

    /// Whether the property, watching the schedule from its beginning, has this verdict at its last event, or at the end after all events; and its calls can return what they did.
    fn is_told(&self, execution: &Execution, schedule: &[EventId]) -> bool {
        if !self.lives.are_kept(schedule) {
            return false;
        }
        let mut feed = Feed::new(self.bound.property);
        feed.learn(execution.names());
        let tells = |verdict: Verdict<'_>| {
            verdict.body == self.bound.body && verdict.categories.meets(Categories::only(self.handler))
        };
        let mut reported = false;
        for &id in schedule {
            reported = false;
            let _ = feed.event(&execution.event(id), &mut |verdict| reported |= tells(verdict));
        }
        if self.event != END {
            return reported && schedule.last() == Some(&self.event);
        }
        let mut reported = false;
        feed.end(&mut |verdict| reported |= tells(verdict));
        reported && schedule.len() == execution.len()
    }

    fn said(&self, execution: &Execution, translator: &Translator<'_>, trace: &str) -> Statement {
        let BoundBody { property, body, binding, .. } = self.bound;
        let handler = &property.bodies[*body].handlers[self.handler];
        let thread = (self.event != END).then(|| execution.thread(self.event));
        let occasion =
            Occasion { names: execution.names(), thread, loc: place(execution, self.event), trace };
        Statement {
            property: property.name.clone(),
            category: handler.category.clone(),
            message: says(translator, handler, binding.domain, &binding.values, occasion),
        }
    }
}
