//! What is found: a run, step by step, in the words of the property.

use std::sync::Arc;

use foresee_monitor::formalism::Categories;
use foresee_monitor::handler_text::{number_text, says_with};
use foresee_monitor::property::{Carried, Handler, Property};

use super::message::Act;
use super::records::Record;
use super::witness::{Checked, Script, Witness};
use crate::binding::Binding;
use foresee_witness::judge::Certainty;

/// Something that happens in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlineFinding {
    /// The property.
    pub property: String,
    /// Its verdict.
    pub category: String,
    /// What its handler says.
    pub message: String,
    /// The values of its variables before the first step.
    pub initial: Vec<(String, i64)>,
    /// The run up to there; the last step is reported.
    pub steps: Vec<RunStep>,
    /// The run as it was checked, if the run is not the observed one.
    pub witness: Option<Witness>,
    /// Whether the steps are all, or just the last ones.
    pub whole: bool,
}

impl OnlineFinding {
    /// Whether the observed run has it, or another one, which was accepted.
    pub fn certainty(&self) -> Certainty {
        if self.witness.is_some() { Certainty::Predicted } else { Certainty::Observed }
    }
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
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

/// A run up to the step at which something is reported.
pub(super) struct RunToVerdict<'r> {
    pub(super) script: &'r Script<'r>,
    pub(super) binding: &'r Binding,
    pub(super) from: &'r Checked,
    pub(super) steps: &'r [Arc<Record>],
    pub(super) whole: bool,
}

impl RunToVerdict<'_> {
    /// What is found in it, for each handler that is reported.
    pub(super) fn found(&self, reported: Categories, witness: Option<&Witness>) -> Vec<OnlineFinding> {
        let property = self.script.property;
        let handlers = &property.bodies[self.script.body].handlers;
        let (mut state, initial) = (self.from.state().clone(), named(property, self.from.state().vars()));
        let step = |record: &Arc<Record>| {
            state = self.script.step(self.binding, &state, record).0;
            RunStep {
                number: record.step,
                thread: record.name.clone(),
                what: self.words(record),
                place: record.place.clone(),
                values: named(property, state.vars()),
            }
        };
        let steps: Vec<RunStep> = self.steps.iter().map(step).collect();
        let found = |handler: usize| OnlineFinding {
            property: property.name.clone(),
            category: handlers[handler].category.clone(),
            message: self.says(&handlers[handler]),
            initial: initial.clone(),
            steps: steps.clone(),
            witness: witness.cloned(),
            whole: self.whole,
        };
        reported.indices().map(found).collect()
    }

    fn says(&self, handler: &Handler) -> String {
        let last = self.steps.last();
        says_with(handler, |name| match name {
            "loc" => last.map(|last| last.place.clone()),
            "thread" => last.map(|last| last.name.clone()),
            name => {
                let param = self.script.property.params.iter().position(|param| param == name)?;
                Some(self.called(param as u8))
            }
        })
    }

    /// What people call the value of a parameter.
    fn called(&self, param: u8) -> String {
        let Some((_, value)) = self.binding.pairs().find(|&(bound, _)| bound == param) else {
            return "?".to_owned();
        };
        let mut names = self.steps.iter().rev().filter_map(|record| name_of(record, param, value));
        names.next().map_or_else(|| format!("@{value:#x}"), str::to_owned)
    }

    /// What a step is to the binding.
    fn words(&self, record: &Record) -> String {
        let property = self.script.property;
        let word = |act: &Act| match act {
            Act::Event(event, args) => {
                let declared = &property.events[*event as usize];
                let params = || declared.shape.params.iter().zip(&declared.carried);
                let arg = |(&value, position): (&u64, u32)| {
                    let param = params().find(|(_, carried)| **carried == Carried::Arg(position));
                    let name = param.and_then(|(&param, _)| name_of(record, param, value));
                    name.map_or_else(|| number_text(value), str::to_owned)
                };
                let args: Vec<String> = args.iter().zip(0..).map(arg).collect();
                let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
                format!("{}{args}", declared.name)
            }
            Act::Assign(var, value) => format!("{} = {value}", property.vars[*var as usize].name),
        };
        let acts = record.acts.iter().filter(|(part, _)| part.is_part_of(self.binding));
        acts.map(|(_, act)| word(act)).collect::<Vec<_>>().join(", ")
    }
}

/// What an event calls the value of a parameter.
fn name_of(record: &Record, param: u8, value: u64) -> Option<&str> {
    let found = record.called.iter().find(|&&(of, known, _)| (of, known) == (param, value));
    found.map(|(.., name)| name.as_str())
}

fn named(property: &Property, values: &[i64]) -> Vec<(String, i64)> {
    property.vars.iter().zip(values).map(|(var, &value)| (var.name.clone(), value)).collect()
}
