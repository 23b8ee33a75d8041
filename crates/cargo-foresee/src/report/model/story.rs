//! A witness in the few steps that a person needs.

use serde::{Deserialize, Serialize};

use super::event::Location;

/// Who runs first, what each thread holds, where they meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Story {
    /// The threads that the finding is about; the first one acts first.
    pub(crate) threads: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// Why the observed run did not show it, if a lock kept two accesses apart.
    pub(crate) separated_by: Option<Separation>,
}

/// A step, or events passed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Row {
    Step(StoryStep),
    Passed(Passed),
}

/// One event of the witness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoryStep {
    pub(crate) index: u64,
    pub(crate) thread: String,
    /// Which of the story's threads that is, from 0; `None` for another one.
    pub(crate) column: Option<usize>,
    pub(crate) op: String,
    pub(crate) target: String,
    pub(crate) location: Location,
    /// Whether the finding is about this event.
    pub(crate) key: bool,
    /// Whether the thread only waits to do it: it comes after the end of the witness.
    pub(crate) blocked: bool,
}

/// Events that are not shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Passed {
    pub(crate) events: u64,
    /// How many of them are of threads that the story has no column for.
    pub(crate) others: u64,
}

/// A lock that one thread had released before the other acquired it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Separation {
    pub(crate) lock: String,
    pub(crate) released: Change,
    pub(crate) acquired: Change,
}

/// Who released or acquired a lock, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) thread: String,
    pub(crate) location: Location,
}
