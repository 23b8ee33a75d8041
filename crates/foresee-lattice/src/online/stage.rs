//! A property on the observer's side: its machines, over messages.

use std::sync::{Arc, PoisonError, RwLock};

use foresee_monitor::formalism::Categories;
use foresee_monitor::instance::State;
use foresee_monitor::property::Property;

use super::recent_steps::RecentSteps;
use super::records::Records;
use super::witness::{Checked, Log, Script};
use crate::binding::Binding;
use crate::machine::Machine;

/// Why a property cannot be observed.
#[derive(Debug, thiserror::Error)]
#[error("{property}: {why}")]
pub struct Refused {
    /// Which.
    pub property: String,
    /// Why.
    pub why: &'static str,
}

/// What an [`Observation`](super::Observation) of a property looks at.
pub struct Stage<'p> {
    pub(super) property: &'p Property,
    pub(super) records: Arc<Records>,
    /// One per body.
    pub(super) scripts: Vec<Script<'p>>,
    pub(super) place: Box<dyn Fn(u32) -> u64 + Send + Sync>,
}

impl<'p> Stage<'p> {
    /// For one program.
    pub fn new(property: &'p Property) -> Result<Stage<'p>, Refused> {
        if property.modifiers.suffix {
            let why = "it is a `suffix` property; those are checked by `foresee check --spec`";
            return Err(Refused { property: property.name.clone(), why });
        }
        let records = Arc::new(Records::default());
        let of_event = Arc::clone(&records);
        let place = Box::new(move |event| of_event.get(event).map_or(0, |record| record.place_key));
        let scripts = (0..property.bodies.len()).map(|body| Script::new(property, body)).collect();
        Ok(Stage { property, records, scripts, place })
    }
}

/// The machine of a body and a binding.
pub(super) struct Watcher<'a> {
    pub(super) script: &'a Script<'a>,
    pub(super) records: &'a Records,
    pub(super) binding: Arc<Binding>,
    pub(super) log: Arc<RwLock<Log>>,
}

/// A state, and the last steps that led to it.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub(super) state: State,
    pub(super) recent: RecentSteps,
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
        let start = Checked::start(self.script);
        Reached { state: start.state().clone(), recent: RecentSteps::new(start) }
    }

    fn step(&self, from: &Reached, letter: u32) -> (Reached, Categories) {
        match self.records.get(letter) {
            Some(record) => {
                let (state, reported) = self.script.step(&self.binding, &from.state, &record);
                let recent = from.recent.and(record, |from, steps| {
                    let log = self.log.read().unwrap_or_else(PoisonError::into_inner);
                    Some(from.follow(self.script, &self.binding, &log, steps).ok()?.0)
                });
                (Reached { state, recent }, reported)
            }
            // Only what all cuts have behind them is forgotten.
            None => (from.clone(), Categories::NONE),
        }
    }

    fn distance(&self, reached: &Reached) -> u32 {
        self.script.instance.distance(&reached.state)
    }

    fn bytes(&self, threads: usize) -> usize {
        // With what the entry alone has of its recent steps: a step, and the points at which its two parts begin.
        size_of::<Reached>() + 320 + threads * 8
    }
}
