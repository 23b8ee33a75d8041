//! A property's machine over messages, and the way that led to a state.
//!
//! A program may run for days, so the whole way from its beginning cannot be kept, nor can it be walked again as steps are forgotten. Each
//! entry of a level carries the last steps of one way to it, at most twice [`PART`]. Ways share what they have in common. A way
//! is no part of the state: entries with equal states are one, with the way of the first.

use std::sync::{Arc, PoisonError, RwLock};

use foresee_monitor::formalism::Categories;
use foresee_monitor::instance::{Instance, State};
use foresee_monitor::property::Property;
use rustc_hash::FxHashMap;

use super::message::{Act, Relevant};
use crate::lattice::machine::Machine;
use crate::property::is_finding;

/// Why a property cannot be observed.
#[derive(Debug, thiserror::Error)]
#[error("{property}: {why}")]
pub struct Refused {
    /// Which.
    pub property: String,
    /// Why.
    pub why: &'static str,
}

/// A message, and where its event is in the program.
#[derive(Debug)]
pub(super) struct Record {
    /// Which step it is.
    pub(super) step: u32,
    pub(super) event: Relevant,
    /// Stands for the place.
    pub(super) place: u64,
}

/// The messages of steps that some cut has not behind it, by step.
#[derive(Default)]
pub(super) struct Records(RwLock<FxHashMap<u32, Arc<Record>>>);

impl Records {
    pub(super) fn get(&self, step: u32) -> Option<Arc<Record>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&step).cloned()
    }

    pub(super) fn insert(&self, record: Record) {
        let mut records = self.0.write().unwrap_or_else(PoisonError::into_inner);
        records.insert(record.step, Arc::new(record));
    }

    pub(super) fn forget(&self, steps: impl Iterator<Item = u32>) {
        let mut records = self.0.write().unwrap_or_else(PoisonError::into_inner);
        steps.for_each(|step| {
            records.remove(&step);
        });
    }
}

/// What an [`Observation`](super::Observation) of a property looks at.
pub struct Stage<'p> {
    pub(super) property: &'p Property,
    pub(super) records: Arc<Records>,
    /// One per body.
    pub(super) watchers: Vec<Watcher<'p>>,
    pub(super) place: Box<dyn Fn(u32) -> u64 + Send + Sync>,
}

impl<'p> Stage<'p> {
    /// For one program.
    pub fn new(property: &'p Property) -> Result<Stage<'p>, Refused> {
        let refused = |why| Err(Refused { property: property.name.clone(), why });
        if !property.params.is_empty() {
            return refused("it has parameters; those are checked by `foresee check --spec`");
        }
        if property.modifiers.suffix {
            return refused("it is a `suffix` property; those are checked by `foresee check --spec`");
        }
        let records = Arc::new(Records::default());
        let of_event = Arc::clone(&records);
        let place = Box::new(move |event| of_event.get(event).map_or(0, |record| record.place));
        let watcher = |body: usize| {
            let handlers = property.bodies[body].handlers.iter().enumerate();
            let wanted = handlers.filter(|(_, handler)| is_finding(handler));
            Watcher {
                instance: Instance::new(property, body),
                wanted: wanted.fold(Categories::NONE, |all, (nth, _)| all.union(Categories::only(nth))),
                records: Arc::clone(&records),
            }
        };
        let watchers = (0..property.bodies.len()).map(watcher).collect();
        Ok(Stage { property, records, watchers, place })
    }
}

/// The machine of a body.
pub(super) struct Watcher<'p> {
    instance: Instance<'p>,
    wanted: Categories,
    records: Arc<Records>,
}

/// A state, and a way to it.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub(super) state: State,
    pub(super) way: Way,
}

impl PartialEq for Reached {
    fn eq(&self, other: &Reached) -> bool {
        self.state == other.state
    }
}

impl Eq for Reached {}

impl Machine for Watcher<'_> {
    type State = Reached;

    fn start(&self) -> Reached {
        let state = self.instance.start();
        let way = Way { part: Part::from(&state), before: None, whole: true };
        Reached { state, way }
    }

    fn step(&self, from: &Reached, letter: u32) -> (Reached, Categories) {
        match self.records.get(letter) {
            Some(record) => {
                let (state, told) = self.next(&from.state, &record);
                (Reached { way: from.way.and(&from.state, record), state }, told)
            }
            // Only what all cuts have behind them is forgotten.
            None => (from.clone(), Categories::NONE),
        }
    }

    fn distance(&self, reached: &Reached) -> u32 {
        self.instance.distance(&reached.state)
    }
}

impl Watcher<'_> {
    /// The state after a message, and what is told there.
    pub(super) fn next(&self, state: &State, record: &Record) -> (State, Categories) {
        let (mut next, mut told) = (state.clone(), Categories::NONE);
        for act in &record.event.acts {
            told = told.union(match act {
                Act::Event(event, args) => {
                    self.instance.event(&mut next, *event, record.event.thread.into(), args)
                }
                Act::Assign(var, value) => self.instance.assign(&mut next, *var as usize, *value),
            });
        }
        (next, Categories(told.0 & self.wanted.0))
    }
}

/// So many steps of a way are kept, and up to as many before them.
const PART: u32 = 32;

/// The last steps of a way through the lattice.
#[derive(Clone, Debug)]
pub(super) struct Way {
    part: Part,
    before: Option<Part>,
    /// Whether it has all steps.
    whole: bool,
}

/// Steps from a state on.
#[derive(Clone, Debug)]
struct Part {
    from: Arc<State>,
    last: Option<Arc<Link>>,
    length: u32,
}

/// A step, and the one before it.
#[derive(Debug)]
struct Link {
    record: Arc<Record>,
    before: Option<Arc<Link>>,
}

impl From<&State> for Part {
    fn from(state: &State) -> Part {
        Part { from: Arc::new(state.clone()), last: None, length: 0 }
    }
}

impl Way {
    /// With one more step, from this state.
    fn and(&self, from: &State, record: Arc<Record>) -> Way {
        let mut way = self.clone();
        if way.part.length == PART {
            let full = std::mem::replace(&mut way.part, Part::from(from));
            way.whole &= way.before.replace(full).is_none();
        }
        let before = way.part.last.take();
        way.part.last = Some(Arc::new(Link { record, before }));
        way.part.length += 1;
        way
    }

    /// The state in which what is kept begins, the steps from there on, and whether these are all.
    pub(super) fn steps(&self) -> (State, Vec<Arc<Record>>, bool) {
        let mut steps: Vec<Arc<Record>> = Vec::new();
        for part in std::iter::once(&self.part).chain(&self.before) {
            let mut link = part.last.as_ref();
            while let Some(this) = link {
                steps.push(Arc::clone(&this.record));
                link = this.before.as_ref();
            }
        }
        steps.reverse();
        let from = self.before.as_ref().unwrap_or(&self.part).from.as_ref().clone();
        (from, steps, self.whole)
    }
}
