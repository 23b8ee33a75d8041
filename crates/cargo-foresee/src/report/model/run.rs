//! A run as a property sees it.

use serde::{Deserialize, Serialize};

use super::event::Location;
use super::named::Named;

/// The events that a property looks at, and the values of its variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The causality model that the run belongs to.
    pub(crate) model: String,
    /// The values of the property's variables before the first step.
    pub(crate) initial: Named<i64>,
    /// At the last one the property reports.
    pub(crate) steps: Vec<Step>,
    /// Whether the steps begin with the run, or are just its last ones.
    pub(crate) whole: bool,
    /// Whether all runs of the model were explored; `None` for a program that was still observed.
    pub(crate) exhaustive: Option<bool>,
    /// How many runs of the model violate the property; the largest number stands for that many or more.
    pub(crate) violating_runs: Option<u64>,
    /// How many runs the model has.
    pub(crate) runs: Option<u64>,
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// The event, by the index that [`Event`](super::Event) has.
    pub(crate) index: u64,
    /// The same number; documents had either name.
    pub(crate) event: u64,
    pub(crate) thread: String,
    pub(crate) op: String,
    pub(crate) target: String,
    pub(crate) location: Location,
    pub(crate) place: String,
    /// Whether it is not where it was in the observed run, if that is known.
    pub(crate) moved: Option<bool>,
    /// The values of the property's variables after it.
    pub(crate) values: Named<i64>,
}
