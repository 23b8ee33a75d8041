//! What is found: a run, step by step, in the words of the property.

use std::sync::Arc;

use foresee_monitor::property::{Handler, Property};

use super::message::Act;
use super::stage::{Reached, Record, Watcher};
use crate::finding::Certainty;
use crate::property::says_with;

/// Something that happens in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whether the observed run has it, or another one.
    pub certainty: Certainty,
    /// The property.
    pub property: String,
    /// Its verdict.
    pub category: String,
    /// What its handler says.
    pub message: String,
    /// The values of its variables before the first step.
    pub initial: Vec<(String, i64)>,
    /// The run up to there; the last step is told of.
    pub steps: Vec<Step>,
    /// Whether the steps are all, or just the last ones.
    pub whole: bool,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its position among the relevant events of the observed run.
    pub number: u32,
    /// Who does it.
    pub thread: String,
    /// What it is to the property.
    pub what: String,
    /// Where.
    pub place: String,
    /// The values of the property's variables after it.
    pub values: Vec<(String, i64)>,
}

/// A run up to the step at which something is told.
pub(super) struct Run<'p> {
    property: &'p Property,
    initial: Vec<(String, i64)>,
    steps: Vec<Step>,
    whole: bool,
    thread: String,
    place: String,
}

impl<'p> Run<'p> {
    /// The way to a state, and one more step.
    pub(super) fn new(
        property: &'p Property,
        watcher: &Watcher<'_>,
        before: &Reached,
        last: Arc<Record>,
    ) -> Run<'p> {
        let named = |values: &[i64]| -> Vec<(String, i64)> {
            property.vars.iter().zip(values).map(|(var, &value)| (var.name.clone(), value)).collect()
        };
        let (mut state, mut records, whole) = before.way.steps();
        let initial = named(state.vars());
        let (thread, place) = (last.event.name.clone(), last.event.place.clone());
        records.push(last);
        let step = |record: &Arc<Record>| {
            state = watcher.next(&state, record).0;
            Step {
                number: record.step,
                thread: record.event.name.clone(),
                what: words(property, &record.event.acts),
                place: record.event.place.clone(),
                values: named(state.vars()),
            }
        };
        let steps = records.iter().map(step).collect();
        Run { property, initial, steps, whole, thread, place }
    }

    /// What a handler says about it.
    pub(super) fn found(&self, handler: &Handler, certainty: Certainty) -> Found {
        let message = says_with(handler, |name| match name {
            "loc" => Some(self.place.clone()),
            "thread" => Some(self.thread.clone()),
            _ => None,
        });
        Found {
            certainty,
            property: self.property.name.clone(),
            category: handler.category.clone(),
            message,
            initial: self.initial.clone(),
            steps: self.steps.clone(),
            whole: self.whole,
        }
    }
}

fn words(property: &Property, acts: &[Act]) -> String {
    let word = |act: &Act| match act {
        Act::Event(event, args) => {
            let args: Vec<String> = args.iter().map(|arg| (*arg as i64).to_string()).collect();
            let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
            format!("{}{args}", property.events[*event as usize].name)
        }
        Act::Assign(var, value) => format!("{} = {value}", property.vars[*var as usize].name),
    };
    acts.iter().map(word).collect::<Vec<_>>().join(", ")
}
