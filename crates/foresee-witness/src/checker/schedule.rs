//! A schedule, stored in the length of what is not as observed.

use foresee_trace::EventId;

/// A sequence of events: a first piece of the observed run, then others one by one.
///
/// Predicted schedules of long executions mostly begin like the observed run. Stored so, thousands of witnesses of a run of
/// millions of events need little memory, and [`Checker::check_all`](super::Checker::check_all) replays what they
/// have in common once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    observed: u32,
    then: Vec<EventId>,
}

impl From<Vec<EventId>> for Schedule {
    fn from(events: Vec<EventId>) -> Self {
        Schedule { observed: 0, then: events }
    }
}

impl Schedule {
    /// The first `observed` events of the execution, then these.
    pub fn after(observed: u32, then: Vec<EventId>) -> Schedule {
        Schedule { observed, then }
    }

    /// Appends an event.
    pub fn push(&mut self, event: EventId) {
        self.then.push(event);
    }

    /// How many events of the observed run it begins with.
    pub fn observed(&self) -> u32 {
        self.observed
    }

    /// What comes after the observed piece.
    pub fn then(&self) -> &[EventId] {
        &self.then
    }

    /// How many events it has.
    pub fn len(&self) -> usize {
        self.observed as usize + self.then.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All events, in order.
    pub fn iter(&self) -> impl Iterator<Item = EventId> + '_ {
        (0..self.observed).map(EventId).chain(self.then.iter().copied())
    }

    /// All events, in order, one by one.
    pub fn to_vec(&self) -> Vec<EventId> {
        self.iter().collect()
    }
}
