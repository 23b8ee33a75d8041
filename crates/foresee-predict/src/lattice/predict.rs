//! The part of the engine `property` that predicts: what properties say of the runs that did not happen.
//!
//! For each property, body and binding: the steps of the binding's slice under the chosen [`Model`], explored with the body's
//! machine. What is told there, but not at the same place in the observed run, is predicted: the path becomes a schedule, the checker
//! replays it by the rules, and the property itself, run over the schedule from its beginning, must tell the verdict at its last event.
//! So neither the explorer nor the way bindings are put together here can raise a false alarm.
//!
//! **What is not predicted.** Verdicts at the end of the program (`end_program`): runs here end where something is told. Properties with the
//! modifier `suffix`, which keep many machines per binding. Bindings whose parameters no event connects.
//!
//! **Cost.** A pass over the execution for each binding that several threads deal with, and the lattice of its slice.

use std::time::{Duration, Instant};

use foresee_monitor::formalism::Categories;
use foresee_monitor::instance::{Instance, State};
use foresee_monitor::property::Property;
use foresee_trace::{EventId, Execution};
use rustc_hash::{FxHashMap, FxHashSet};

use super::explorer::{Breadth, Options, Report, Violation, explore};
use super::machine::Machine;
use super::model::{Model, ModelName};
use super::schedule::Scheduler;
use super::slices::{Act, Binding, Happening, Slices};
use super::words;
use crate::engine::{Budget, Job, Outcome, WholeEngine};
use crate::finding::{Certainty, Finding, Kind, Place, Run, RunStep, Said};
use crate::property::{Feed, Occasion, Translator, is_finding, says};
use crate::races::pool;
use crate::registry;
use crate::witness::Claim;

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

/// At most so many entries in a level, whatever the breadth: about a gigabyte.
const ENTRIES: usize = 1 << 22;

/// How long it may take if nobody set a time: lattices can be of any size.
const UNLESS_TOLD: Duration = Duration::from_secs(10);

/// The engine; see the [module](self).
pub struct PredictedVerdicts {
    properties: Vec<Property>,
    trace: String,
    prediction: Prediction,
}

impl PredictedVerdicts {
    /// For the properties of the options.
    pub fn new(options: &registry::Options) -> PredictedVerdicts {
        let (properties, trace) = (options.properties.clone(), options.trace.clone());
        PredictedVerdicts { properties, trace, prediction: options.prediction }
    }
}

impl WholeEngine for PredictedVerdicts {
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
        match pool(job.budget.threads) {
            Some(pool) => pool.install(&mut all),
            None => all(),
        }
        outcome
    }
}

/// A body of a property, and a binding.
struct Scene<'a> {
    property: &'a Property,
    number: usize,
    body: usize,
    binding: &'a Binding,
    instance: Instance<'a>,
    slice: Vec<&'a Happening>,
    /// What the user wants to be told.
    wanted: Categories,
}

impl PredictedVerdicts {
    fn property(&self, job: &Job<'_>, number: usize, outcome: &mut Outcome) {
        let property = &self.properties[number];
        if property.modifiers.suffix {
            outcome.undecided += 1;
            return;
        }
        let mut translator = Translator::new(property);
        translator.learn(job.execution.names());
        let slices = Slices::of(job.execution, &mut translator);
        let (bindings, complete) = slices.bindings();
        outcome.undecided += u64::from(!complete);
        let mut findings: Vec<Finding> = Vec::new();
        for binding in &bindings {
            let bound = binding.domain.len() == property.params.len();
            let slice = slices.slice(binding);
            let thread = |happening: &&Happening| job.execution.thread(happening.event);
            let of_several =
                slice.first().is_some_and(|first| slice.iter().any(|other| thread(other) != thread(first)));
            if !of_several || (property.modifiers.full_binding && !bound) {
                continue;
            }
            for body in 0..property.bodies.len() {
                if job.budget.is_exhausted() {
                    outcome.undecided += 1;
                    continue;
                }
                let handlers = property.bodies[body].handlers.iter().enumerate();
                let wanted = handlers.filter(|(_, handler)| is_finding(handler));
                let scene = Scene {
                    property,
                    number,
                    body,
                    binding,
                    instance: Instance::new(property, body),
                    slice: slice.clone(),
                    wanted: wanted.fold(Categories::NONE, |all, (nth, _)| all.union(Categories::only(nth))),
                };
                self.scene(job, &scene, &translator, &mut findings, outcome);
            }
        }
        findings.sort_by_key(|finding| (finding.witness.len(), finding.events.clone()));
        findings.truncate(self.prediction.counterexamples);
        outcome.findings.append(&mut findings);
    }

    fn scene(
        &self,
        job: &Job<'_>,
        scene: &Scene<'_>,
        translator: &Translator<'_>,
        findings: &mut Vec<Finding>,
        outcome: &mut Outcome,
    ) {
        let execution = job.execution;
        let machine = SliceMachine::new(scene);
        let letter = |id: EventId| machine.letters.get(&id).copied();
        let model = self.prediction.model.model();
        let (causality, _) = model.read(execution, &letter, false);
        let place = |event: u32| u64::from(execution.loc(EventId(event)).0);
        let options = Options {
            breadth: self.prediction.breadth,
            entries: ENTRIES,
            budget: job.budget,
            place: &place,
            violations: self.prediction.counterexamples,
            known: machine.observed(execution),
        };
        let report = explore(&causality, &machine, options);
        let is_stopped = !report.exhaustive && self.prediction.breadth == Breadth::All;
        outcome.undecided += u64::from(is_stopped);
        if report.violations.is_empty() {
            return;
        }
        // A run that goes wrong and cannot go on as observed is no whole one: then the numbers would say nothing.
        let runs = if report.exhaustive { words::count(&causality, &machine) } else { None };
        let runs = runs.filter(|runs| runs.clean < runs.all);
        let (causality, edges) = model.read(execution, &letter, true);
        let Some(edges) = edges else { return };
        let scheduler = Scheduler::new(execution, &causality, &edges);
        for violation in &report.violations {
            let Some(schedule) = scheduler.schedule(&violation.path) else {
                outcome.refused += 1;
                continue;
            };
            for handler in violation.categories.indices() {
                let told = Told { scene, handler, event: EventId(violation.event) };
                let places = told.places(execution);
                let is_known = job.proven.contains(Kind::Property, &places)
                    || findings.iter().any(|finding| finding.places == places);
                if is_known || !told.is_told(execution, &schedule) {
                    continue;
                }
                let violated =
                    |execution: &Execution, schedule: &[EventId]| told.is_told(execution, schedule);
                let looks_at = |id: EventId| machine.letters.contains_key(&id);
                let claim = match model.is_relaxed() {
                    true => Claim::SlicedProperty { violated: &violated, looks_at: &looks_at },
                    false => Claim::Property(&violated),
                };
                if job.checker.check(&schedule, &claim).is_err() {
                    outcome.refused += 1;
                    continue;
                }
                findings.push(Finding {
                    kind: Kind::Property,
                    certainty: Certainty::Predicted,
                    engine: "property",
                    events: vec![u64::from(violation.event)],
                    places,
                    instances: 1,
                    schedulable: true,
                    said: Some(told.said(execution, translator, &self.trace)),
                    run: Some(Run {
                        runs: runs.map(|count| (count.all - count.clean, count.all)),
                        ..machine.run(&schedule, &report, violation, model)
                    }),
                    witness: schedule.clone().into(),
                });
            }
        }
    }
}

/// A verdict of a handler at an event.
struct Told<'a> {
    scene: &'a Scene<'a>,
    handler: usize,
    event: EventId,
}

impl Told<'_> {
    fn places(&self, execution: &Execution) -> Vec<Place> {
        let Scene { number, body, .. } = *self.scene;
        let loc = execution.loc(self.event);
        let mut places = vec![Place::of_verdict(number, body, self.handler), Place::new(loc, 0)];
        places.sort_unstable();
        places
    }

    /// Whether the property, watching the schedule from its beginning, tells this at its last event.
    fn is_told(&self, execution: &Execution, schedule: &[EventId]) -> bool {
        let mut feed = Feed::new(self.scene.property);
        feed.learn(execution.names());
        let mut told = false;
        for &id in schedule {
            told = false;
            let _ = feed.event(&execution.event(id), &mut |verdict| {
                let handler = Categories::only(self.handler);
                told |= verdict.body == self.scene.body && verdict.categories.meets(handler);
            });
        }
        told && schedule.last() == Some(&self.event)
    }

    fn said(&self, execution: &Execution, translator: &Translator<'_>, trace: &str) -> Said {
        let Scene { property, body, binding, .. } = self.scene;
        let handler = &property.bodies[*body].handlers[self.handler];
        let thread = Some(execution.thread(self.event));
        let occasion = Occasion { names: execution.names(), thread, loc: execution.loc(self.event), trace };
        Said {
            property: property.name.clone(),
            category: handler.category.clone(),
            message: says(translator, handler, binding.domain, &binding.values, occasion),
        }
    }
}

/// A body's machine over the events of a slice.
struct SliceMachine<'a> {
    scene: &'a Scene<'a>,
    /// The number of an event in the slice.
    letters: FxHashMap<EventId, u32>,
    /// What happens at an event of the slice: the first of its happenings, and the first of the next.
    happenings: Vec<(usize, usize)>,
}

impl<'a> SliceMachine<'a> {
    fn new(scene: &'a Scene<'a>) -> Self {
        let (mut letters, mut happenings) = (FxHashMap::default(), Vec::new());
        let mut first = 0;
        for same in scene.slice.chunk_by(|a, b| a.event == b.event) {
            letters.insert(same[0].event, happenings.len() as u32);
            happenings.push((first, first + same.len()));
            first += same.len();
        }
        SliceMachine { scene, letters, happenings }
    }

    /// What is told in the observed run, and where.
    fn observed(&self, execution: &Execution) -> FxHashSet<(u64, Categories)> {
        let mut state = self.start();
        let mut told = FxHashSet::default();
        for (letter, &(first, _)) in self.happenings.iter().enumerate() {
            let (next, categories) = self.step(&state, letter as u32);
            state = next;
            let loc = execution.loc(self.scene.slice[first].event);
            told.insert((u64::from(loc.0), categories));
        }
        told
    }

    /// The run that a schedule is, in the terms of the property.
    fn run(&self, schedule: &[EventId], report: &Report, violation: &Violation, model: &dyn Model) -> Run {
        let relevant: Vec<EventId> =
            schedule.iter().copied().filter(|id| self.letters.contains_key(id)).collect();
        let stay = longest_growing(&relevant);
        let vars = &self.scene.property.vars;
        let named = |state: &State| {
            vars.iter().zip(state.vars()).map(|(var, &value)| (var.name.clone(), value)).collect()
        };
        let mut state = self.start();
        let initial = named(&state);
        let steps = relevant.iter().map(|id| {
            state = self.step(&state, self.letters[id]).0;
            RunStep { event: id.0.into(), values: named(&state), moved: !stay.contains(id) }
        });
        debug_assert_eq!(relevant.last().map(|id| id.0), Some(violation.event));
        Run {
            initial,
            steps: steps.collect(),
            model: model.name(),
            exhaustive: report.exhaustive,
            runs: None,
        }
    }
}

/// The events that keep the observed order among themselves: as many as possible.
fn longest_growing(events: &[EventId]) -> FxHashSet<EventId> {
    // For each length, the event with which a growing sequence of that length ends earliest; and what comes before each event.
    let mut ends: Vec<EventId> = Vec::new();
    let mut before: FxHashMap<EventId, Option<EventId>> = FxHashMap::default();
    for &event in events {
        let length = ends.partition_point(|&end| end < event);
        before.insert(event, length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = event,
            None => ends.push(event),
        }
    }
    std::iter::successors(ends.last().copied(), |event| before.get(event).copied().flatten()).collect()
}

impl Machine for SliceMachine<'_> {
    type State = State;

    fn start(&self) -> State {
        self.scene.instance.start()
    }

    fn step(&self, state: &State, letter: u32) -> (State, Categories) {
        let mut next = state.clone();
        let mut told = Categories::NONE;
        let (first, end) = self.happenings[letter as usize];
        for happening in &self.scene.slice[first..end] {
            told = told.union(match &happening.act {
                Act::Event(event, args) => {
                    self.scene.instance.event(&mut next, *event, happening.thread, args)
                }
                Act::Assign(var, value) => self.scene.instance.assign(&mut next, *var, *value),
            });
        }
        (next, Categories(told.0 & self.scene.wanted.0))
    }

    fn distance(&self, state: &State) -> u32 {
        self.scene.instance.distance(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_as_little_as_possible() {
        let stay = |events: &[u32]| {
            let events: Vec<EventId> = events.iter().copied().map(EventId).collect();
            let mut stay: Vec<u32> = longest_growing(&events).iter().map(|id| id.0).collect();
            stay.sort_unstable();
            stay
        };
        assert_eq!(stay(&[1, 9, 2, 3]), [1, 2, 3]);
        assert_eq!(stay(&[]), [0; 0]);
        assert_eq!(stay(&[5, 6, 1, 2, 3]), [1, 2, 3]);
    }
}
