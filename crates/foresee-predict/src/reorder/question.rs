//! What is asked of the search for a reordering, and what it can answer.

use foresee_trace::EventId;
use foresee_witness::checker::Reads;

/// What to bring about: each of these events is what its thread does next.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The events, of different threads.
    pub targets: &'q [EventId],
    /// A target that is to read what it read in the run.
    pub as_observed: Option<EventId>,
    /// What reads must read.
    pub reads: Reads,
    /// Do everything before this event as observed.
    pub cut: EventId,
    /// Look at no more than so many events.
    pub size: usize,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This schedule leads there; it comes after all events before the cut, and the targets come after it.
    Schedule(Vec<EventId>),
    /// No correct reordering that starts with all events before the cut leads there.
    Impossible,
    /// Nothing was found within the limits.
    Unknown,
}
