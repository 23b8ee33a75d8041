//! What the [plan](super::plan) says about one event.

use super::params::ParamSet;

/// From which instances an event builds new combinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Join {
    /// The domain of the instances.
    pub from: ParamSet,
    /// The parameters on which event and instance must agree; empty for a free combination.
    pub on: ParamSet,
}

/// What is known of one event in advance.
#[derive(Clone, Debug)]
pub struct EventPlan {
    /// The parameters it binds.
    pub domain: ParamSet,
    /// For each parameter of the domain, smallest first, where among the event's values its value is.
    pub order: Vec<usize>,
    /// Whether that order is the event's own.
    pub in_order: bool,
    /// Whether it can begin a slice.
    pub creates: bool,
    /// The combinations it can build, those with larger instances first.
    pub joins: Vec<Join>,
}
