//! Gathers violations by where they are.

use std::collections::BTreeMap;

use super::history::{Edge, EventAt};
use crate::atomicity::ENGINE;
use foresee_witness::judge::{Finding, FindingKind, Place};

/// Violations so far.
#[derive(Default)]
pub(super) struct Report {
    by_places: BTreeMap<Vec<Place>, Finding>,
}

impl Report {
    /// A violated block: where it begins, its cycle if that is known, and the conflict that closed the cycle.
    pub(super) fn add(
        &mut self,
        begin: EventAt,
        name: u64,
        cycle: &[(EventAt, EventAt, u64)],
        closing: Edge,
    ) {
        let mut places = vec![Place::new(begin.loc, name)];
        let mut events = Vec::with_capacity(2 * cycle.len());
        for &(from, to, target) in cycle {
            places.extend([Place::new(from.loc, target), Place::new(to.loc, target)]);
            events.extend([from.index, to.index]);
        }
        if cycle.is_empty() {
            places.push(Place::new(closing.to.loc, closing.target));
            events.extend([begin.index, closing.to.index]);
        }
        places.sort_unstable();
        places.dedup();
        if let Some(known) = self.by_places.get_mut(&places) {
            known.instances += 1;
            return;
        }
        let finding = Finding::observed(FindingKind::Atomicity, ENGINE, events, places.clone());
        self.by_places.insert(places, finding);
    }

    /// All of them, in the order of the run.
    pub(super) fn findings(self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.by_places.into_values().collect();
        findings.sort_by(|a, b| (&a.events, &a.places).cmp(&(&b.events, &b.places)));
        findings
    }
}
