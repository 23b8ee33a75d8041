//! What a property states, and of which run.

/// A run as a property sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedRun {
    /// The values of the property's variables at first, by name.
    pub initial: Vec<(String, i64)>,
    /// The events that the property looks at, in order; at the last one it states its verdict.
    pub events: Vec<RunEvent>,
    /// The causality model.
    pub model: &'static str,
    /// Whether all runs of the model were looked at.
    pub exhaustive: bool,
    /// How many runs of the model violate the property, and how many there are; `u64::MAX` is that many or more.
    pub runs: Option<(u64, u64)>,
}

/// One event of a [`PredictedRun`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEvent {
    /// The event, by its index in the observed order.
    pub event: u64,
    /// The values of the variables after it, by name.
    pub values: Vec<(String, i64)>,
    /// Whether it is not where it was in the observed run.
    pub moved: bool,
}

/// What a thread knew of another when a property about that was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The other thread's name.
    pub thread: String,
    /// What was known of it.
    pub says: String,
    /// The events that carried the knowledge, by index in the observed order: from where it came to be, to where it was taken. None if nothing the
    /// other thread did was known.
    pub way: Vec<u64>,
}

/// What a property states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The property's name.
    pub property: String,
    /// The verdict: `match`, `violation`, the name of a state.
    pub category: String,
    /// The report of its handler, with all values filled in.
    pub message: String,
}
