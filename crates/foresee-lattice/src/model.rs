//! What a causality model is.

use foresee_trace::{EventId, Execution};
use rustc_hash::FxHashMap;

use super::causality::Causality;

/// What the property's machine reads at an event; `None` if it does not look at it.
pub type Letter<'a> = &'a (dyn Fn(EventId) -> Option<u32> + Sync);

/// A causality model: which runs an execution promises.
///
/// Its proof obligation: every path through the lattice of [`Model::read`] is, with the events that are no steps put in where they
/// are needed ([`schedule`](super::schedule)), a correct reordering, or what its relaxation of rule (c) says.
pub trait Model: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Whether reads that the property does not depend on may read something else than observed.
    fn is_relaxed(&self) -> bool {
        false
    }

    /// The steps of an execution, and with `edges` what it takes to make schedules.
    fn read(&self, execution: &Execution, letter: Letter<'_>, edges: bool) -> (Causality, Option<Edges>);
}

/// What comes directly after what, and what belongs to which turn.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// `(event, earlier event of another thread)`, by event.
    after: Vec<(u32, u32)>,
    members: FxHashMap<(u32, u32), Vec<u32>>,
}

/// Stands for the initial value, which no event wrote.
pub(super) const INITIAL: u32 = u32::MAX;

impl Edges {
    pub(super) fn add(&mut self, event: EventId, earlier: EventId) {
        self.after.push((event.0, earlier.0));
    }

    /// The same for many, at any time.
    pub(super) fn add_all(&mut self, order: &[(EventId, EventId)]) {
        self.after.extend(order.iter().map(|(event, earlier)| (event.0, earlier.0)));
        self.after.sort_by_key(|(event, _)| *event);
    }

    /// The event is part of the turn of an object that began with another event.
    pub(super) fn add_member(&mut self, object: u32, beginning: u32, member: EventId) {
        self.members.entry((object, beginning)).or_default().push(member.0);
    }

    /// Which events of other threads come directly before one.
    pub(super) fn before(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.after.partition_point(|&(after, _)| after < event);
        self.after[start..].iter().take_while(move |(after, _)| *after == event).map(|&(_, before)| before)
    }

    /// What else belongs to a turn.
    pub(super) fn members(&self, object: u32, beginning: u32) -> &[u32] {
        self.members.get(&(object, beginning)).map_or(&[], Vec::as_slice)
    }
}
