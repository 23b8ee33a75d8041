//! A property's body and a binding, as a machine over the events of an execution.
//!
//! The machine reads the slice of the binding: each of its events is a letter, and so is the end of the run, if the property looks
//! at it.

use std::sync::atomic::{AtomicBool, Ordering};

use foresee_monitor::formalism::Categories;
use foresee_monitor::formalism::srs::Srs;
use foresee_monitor::instance::{Instance, State};
use foresee_monitor::property::{self, Property};
use foresee_trace::{EventId, Execution, LocId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::binding::Binding;
use super::by_binding::{Act, Happening};
use super::causality::{Causality, SILENT};
use super::end::{END, end, last_events};
use super::explorer::Report;
use super::lives::Lives;
use super::machine::Machine;
use super::model::{Edges, Model};
use foresee_witness::judge::{PredictedRun, RunEvent};

/// A body of a property, and a binding.
pub(super) struct BoundBody<'a> {
    pub(super) property: &'a Property,
    pub(super) number: usize,
    pub(super) body: usize,
    pub(super) binding: &'a Binding,
    pub(super) instance: Instance<'a>,
    pub(super) slice: Vec<&'a Happening>,
    /// The verdicts that are reported to the user.
    pub(super) wanted: Categories,
}

/// A body's machine over the events of a slice.
pub(super) struct BodyMachine<'a> {
    bound: &'a BoundBody<'a>,
    /// The number of an event in the slice.
    letters: FxHashMap<EventId, u32>,
    /// What happens at an event of the slice: the first of its happenings, and the first of the next.
    happenings: Vec<(usize, usize)>,
    /// The last event of each thread, if the end of the run is looked at.
    last: FxHashSet<EventId>,
    pub(super) lives: Lives,
    /// Whether the body rewrites strings, and gave up doing so in some run.
    rewrites: bool,
    gave_up: AtomicBool,
}

impl<'a> BodyMachine<'a> {
    pub(super) fn new(bound: &'a BoundBody<'a>, execution: &Execution) -> Self {
        let (mut letters, mut happenings) = (FxHashMap::default(), Vec::new());
        let mut first = 0;
        for same in bound.slice.chunk_by(|a, b| a.event == b.event) {
            letters.insert(same[0].event, happenings.len() as u32);
            happenings.push((first, first + same.len()));
            first += same.len();
        }
        let looks_at_end = letters.contains_key(&END);
        let last = if looks_at_end { last_events(execution) } else { FxHashSet::default() };
        let rewrites = matches!(bound.property.bodies[bound.body].machine, property::Machine::Srs(_));
        let lives = Lives::of(bound.property, &bound.slice);
        BodyMachine { bound, letters, happenings, last, lives, rewrites, gave_up: AtomicBool::new(false) }
    }

    /// Whether something was given up, so that verdicts may be missing.
    pub(super) fn gave_up(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed)
    }

    /// Whether the property looks at an event, or depends on its being the last of its thread.
    pub(super) fn looks_at(&self, id: EventId) -> bool {
        self.letters.contains_key(&id) || self.last.contains(&id)
    }

    /// The steps of an execution under a model.
    pub(super) fn read(
        &self,
        model: &dyn Model,
        execution: &Execution,
        edges: bool,
    ) -> (Causality, Option<Edges>) {
        let silent = |id: &EventId| self.last.contains(id).then_some(SILENT);
        let letter = |id: EventId| self.letters.get(&id).copied().or_else(|| silent(&id));
        let (mut causality, mut edges) = model.read(execution, &letter, edges);
        self.lives.keep(execution, &mut causality, edges.as_mut());
        if let Some(&letter) = self.letters.get(&END) {
            end(&mut causality, letter);
        }
        (causality, edges)
    }

    /// What is reported in the observed run, and where.
    pub(super) fn observed(&self, execution: &Execution) -> FxHashSet<(u64, Categories)> {
        let mut state = self.start();
        let mut reported = FxHashSet::default();
        for (letter, &(first, _)) in self.happenings.iter().enumerate() {
            let (next, categories) = self.step(&state, letter as u32);
            state = next;
            let loc = place(execution, self.bound.slice[first].event);
            reported.insert((u64::from(loc.0), categories));
        }
        reported
    }

    /// The run that a schedule is, in the terms of the property.
    pub(super) fn run(&self, schedule: &[EventId], report: &Report, model: &dyn Model) -> PredictedRun {
        let relevant: Vec<EventId> =
            schedule.iter().copied().filter(|id| self.letters.contains_key(id)).collect();
        let stay = longest_growing(&relevant);
        let vars = &self.bound.property.vars;
        let named = |state: &State| {
            vars.iter().zip(state.vars()).map(|(var, &value)| (var.name.clone(), value)).collect()
        };
        let mut state = self.start();
        let initial = named(&state);
        let steps = relevant.iter().map(|id| {
            state = self.step(&state, self.letters[id]).0;
            RunEvent { event: id.0.into(), values: named(&state), moved: !stay.contains(id) }
        });
        PredictedRun {
            initial,
            events: steps.collect(),
            model: model.name(),
            exhaustive: report.exhaustive,
            runs: None,
        }
    }
}

/// Where in the program an event is; the end of the run is nowhere.
pub(super) fn place(execution: &Execution, id: EventId) -> LocId {
    if id == END { LocId::UNKNOWN } else { execution.loc(id) }
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

impl Machine for BodyMachine<'_> {
    type State = State;

    fn start(&self) -> State {
        self.bound.instance.start()
    }

    fn step(&self, state: &State, letter: u32) -> (State, Categories) {
        let mut next = state.clone();
        let mut reported = Categories::NONE;
        let (first, end) = self.happenings[letter as usize];
        for happening in &self.bound.slice[first..end] {
            reported = reported.union(match &happening.act {
                Act::Event(event, args) => {
                    self.bound.instance.event(&mut next, *event, happening.thread, args)
                }
                Act::Assign(var, value) => self.bound.instance.assign(&mut next, *var, *value),
            });
        }
        if self.rewrites && reported.meets(Srs::GAVE_UP) {
            self.gave_up.store(true, Ordering::Relaxed);
        }
        (next, Categories(reported.0 & self.bound.wanted.0))
    }

    fn distance(&self, state: &State) -> u32 {
        self.bound.instance.distance(state)
    }

    fn bytes(&self, _: usize) -> usize {
        // Most states have nothing on the heap, some a little.
        size_of::<State>() + 32
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
