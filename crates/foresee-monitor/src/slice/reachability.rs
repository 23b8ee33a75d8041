//! Whether an instance can still reach a verdict: this decides how long instances are kept.
//!
//! An instance reads the events whose parameters it binds, and richer ones may continue it ([`Join`](super::event_plan::Join)). Events about dead
//! objects do not come. So what an instance can still reach depends on its place in the monitor's outlook, on its domain, and on which
//! of its objects are dead. Rows of answers, one per domain and set of dead parameters, are computed when first needed (places × domains ×
//! events, a few rounds) and kept.

use rustc_hash::FxHashMap;

use super::event_plan::EventPlan;
use super::params::ParamSet;
use crate::formalism::{Categories, Outlook};

/// A row of answers, one for each place: where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row(u32);

#[derive(Clone, Debug)]
pub(super) struct Reachability {
    outlook: Outlook,
    handled: Categories,
    known: FxHashMap<(ParamSet, ParamSet), Row>,
    /// All rows, one after the other.
    rows: Vec<bool>,
}

impl Reachability {
    pub(super) fn new(outlook: Outlook, handled: Categories) -> Reachability {
        Reachability { outlook, handled, known: FxHashMap::default(), rows: Vec::new() }
    }

    /// For each place, whether a handled verdict can be reached from it when all events can come.
    pub(super) fn with_all_events(&self) -> Vec<bool> {
        let mut reachable = vec![false; self.outlook.edges.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (place, edges) in self.outlook.edges.iter().enumerate() {
                if !reachable[place]
                    && edges.iter().any(|edge| edge.2.meets(self.handled) || reachable[edge.1 as usize])
                {
                    reachable[place] = true;
                    changed = true;
                }
            }
        }
        reachable
    }

    #[inline]
    pub(super) fn holds(&self, row: Row, place: u32) -> bool {
        debug_assert!((place as usize) < self.outlook.edges.len());
        self.rows[row.0 as usize + place as usize]
    }

    /// The row for instances with this domain; only those that bind all of `reporting` report verdicts.
    pub(super) fn find(
        &mut self,
        events: &[EventPlan],
        reporting: ParamSet,
        domain: ParamSet,
        dead: ParamSet,
    ) -> Row {
        if let Some(known) = self.known.get(&(domain, dead)) {
            return *known;
        }
        let answers = self.answers(events, reporting, domain, dead);
        let row = Row(self.rows.len() as u32);
        self.rows.extend(answers);
        self.known.insert((domain, dead), row);
        row
    }

    fn answers(
        &self,
        events: &[EventPlan],
        reporting: ParamSet,
        domain: ParamSet,
        dead: ParamSet,
    ) -> Vec<bool> {
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
        let mut reachable = vec![vec![false; self.outlook.edges.len()]; domains.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (nth, &from) in domains.iter().enumerate() {
                for (place, edges) in self.outlook.edges.iter().enumerate().rev() {
                    let good = edges.iter().any(|&(event, to, verdicts)| {
                        let Some(next) = grown(from, &events[event as usize]) else { return false };
                        let reports = verdicts.meets(self.handled) && next.contains(reporting);
                        let row = domains.iter().position(|known| *known == next);
                        reports || row.is_some_and(|row| reachable[row][to as usize])
                    });
                    if good && !reachable[nth][place] {
                        reachable[nth][place] = true;
                        changed = true;
                    }
                }
            }
        }
        reachable.swap_remove(0)
    }
}
