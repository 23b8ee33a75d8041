//! What an exploration looks at, and how far it goes.

use foresee_monitor::formalism::Categories;
use foresee_witness::engine::Budget;
use rustc_hash::FxHashSet;

/// How many cuts of a level go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Breadth {
    /// All: the answer is exhaustive.
    #[default]
    All,
    /// So many; one is the observed run.
    Most(usize),
}

/// What to explore, and how far.
pub struct Options<'a> {
    /// How many cuts of each level go on.
    pub breadth: Breadth,
    /// About so many bytes for the levels; what does not fit is left out.
    pub memory: usize,
    /// When to stop.
    pub budget: Budget,
    /// The place of an event: verdicts at the same place are reported once.
    pub place: &'a (dyn Fn(u32) -> u64 + Sync),
    /// So many violations are kept.
    pub violations: usize,
    /// Places and verdicts that need not be reported.
    pub known: FxHashSet<(u64, Categories)>,
}
