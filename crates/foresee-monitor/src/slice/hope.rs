//! Whether a verdict can still come of an instance: what decides how long instances are kept.
//!
//! An instance reads the events whose parameters it binds, and may be continued by richer ones ([`Join`](super::plan::Join)).
//! Events about dead objects do not come. So what can still come of it depends on its place in the monitor's outlook, its
//! domain, and which of its objects are dead. Rows of answers, one per domain and set of dead parameters, are worked out
//! when first needed (places × domains × events, a few rounds) and kept.

use rustc_hash::FxHashMap;

use super::params::ParamSet;
use super::plan::EventPlan;
use crate::formalism::{Categories, Outlook};

/// A row of answers, one for each place: where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hope(u32);

#[derive(Clone, Debug)]
pub(super) struct Hopes {
    outlook: Outlook,
    handled: Categories,
    known: FxHashMap<(ParamSet, ParamSet), Hope>,
    /// All rows, one after the other.
    rows: Vec<bool>,
}

impl Hopes {
    pub(super) fn new(outlook: Outlook, handled: Categories) -> Hopes {
        Hopes { outlook, handled, known: FxHashMap::default(), rows: Vec::new() }
    }

    /// For each place, whether a handled verdict can come after it at all.
    pub(super) fn anywhere(&self) -> Vec<bool> {
        let mut hope = vec![false; self.outlook.edges.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (place, edges) in self.outlook.edges.iter().enumerate() {
                if !hope[place]
                    && edges.iter().any(|edge| edge.2.meets(self.handled) || hope[edge.1 as usize])
                {
                    hope[place] = true;
                    changed = true;
                }
            }
        }
        hope
    }

    #[inline]
    pub(super) fn holds(&self, hope: Hope, place: u32) -> bool {
        debug_assert!((place as usize) < self.outlook.edges.len());
        self.rows[hope.0 as usize + place as usize]
    }

    /// The row for instances with this domain; only those that bind all of `telling` say anything.
    pub(super) fn find(
        &mut self,
        events: &[EventPlan],
        telling: ParamSet,
        domain: ParamSet,
        dead: ParamSet,
    ) -> Hope {
        if let Some(known) = self.known.get(&(domain, dead)) {
            return *known;
        }
        let row = self.row(events, telling, domain, dead);
        let hope = Hope(self.rows.len() as u32);
        self.rows.extend(row);
        self.known.insert((domain, dead), hope);
        hope
    }

    fn row(&self, events: &[EventPlan], telling: ParamSet, domain: ParamSet, dead: ParamSet) -> Vec<bool> {
        let grown = |from: ParamSet, event: &EventPlan| {
            let reads = from.contains(event.domain);
            let joins = || event.joins.iter().any(|join| join.from == from);
            let comes = event.domain.and(dead).is_empty();
            (comes && (reads || joins())).then(|| from.or(event.domain))
        };
        let mut domains = vec![domain];
        let mut done = 0;
        while let Some(&from) = domains.get(done) {
            done += 1;
            let more: Vec<_> = events.iter().filter_map(|event| grown(from, event)).collect();
            for next in more {
                if !domains.contains(&next) {
                    domains.push(next);
                }
            }
        }
        let mut hope = vec![vec![false; self.outlook.edges.len()]; domains.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (nth, &from) in domains.iter().enumerate() {
                for (place, edges) in self.outlook.edges.iter().enumerate().rev() {
                    let good = edges.iter().any(|&(event, to, told)| {
                        let Some(next) = grown(from, &events[event as usize]) else { return false };
                        let tells = told.meets(self.handled) && next.contains(telling);
                        let row = domains.iter().position(|known| *known == next);
                        tells || row.is_some_and(|row| hope[row][to as usize])
                    });
                    if good && !hope[nth][place] {
                        hope[nth][place] = true;
                        changed = true;
                    }
                }
            }
        }
        hope.swap_remove(0)
    }
}
