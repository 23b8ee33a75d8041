//! What can be known about a parametric property before its first event.
//!
//! From the monitor's [`Outlook`] and the parameters of each event the plan derives:
//!
//! - **creation events**: those that can begin a slice that reaches a handled verdict (or those marked `creation`);
//! - **enable sets** (Chen, Meredith, Jin, Roşu, *Efficient formalism-independent monitoring of parametric properties*,
//!   ASE 2009): for each event, which sets of parameters can have been seen before it in a slice that still reaches a
//!   handled verdict. Only from instances with such a domain does the event build a combination (a [`Join`]);
//! - **reachability**: for each place of the outlook, domain of an instance and set of its dead parameters, whether the instance can
//!   still reach a handled verdict by events about the living objects. This is the state-wise form of coenable sets.
//!
//! **Which combinations are built.** An event joins an instance when the two share a parameter (with the same value), and also
//! when they share none and a verdict may come of both: in `ere: open(f) start(t) use(f, t)` the file and the thread must be combined at
//! `start`, or `use` would come too late.
//!
//! **Which of them report.** Where events can connect the parameters of a combination (`create(c, i)` does, and in
//! `access(u, f) -> [login(u), logout(u)) && [open(f), close(f))` so does `access`), it says nothing until its own events have connected
//! them: an iterator has nothing to do with the collections it did not come from. From then on it has read all that
//! it should have read, whatever came first. Where no order of events connects parameters, all combinations report. The modifier `connected` forbids
//! combinations of unconnected instances altogether: that saves memory, which otherwise grows with the product of the numbers of objects, and
//! leaves out what events only connect later.
//!
//! Cost: places × 2^parameters × events, once per property.

use std::collections::{BTreeSet, VecDeque};

use super::event_plan::{EventPlan, Join};
use super::params::{EventShape, ParamSet};
use super::reachability::{Reachability, Row};
use crate::formalism::{Categories, Outlook};

/// The plan of a property's body; see the [module](self).
#[derive(Clone, Debug)]
pub struct Plan {
    /// Per event.
    pub events: Vec<EventPlan>,
    /// How many parameters the property has.
    pub params: usize,
    /// Categories after which an instance starts again.
    pub resets: Categories,
    /// Whether only instances that bind all parameters report verdicts.
    pub full_binding: bool,
    /// Whether some combination that slicing alone would allow is left out because nothing connects it: the modifier `connected`.
    pub drops_unconnected: bool,
    /// The domains whose instances report only when their events have connected all their parameters.
    connectable: BTreeSet<ParamSet>,
    reachability: Reachability,
}

/// What handlers and modifiers demand of the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demands {
    /// The categories that have a handler.
    pub handled: Categories,
    /// The categories whose handler resets.
    pub resets: Categories,
    /// The modifier `full-binding`.
    pub full_binding: bool,
    /// The modifier `connected`.
    pub connected: bool,
}

impl Plan {
    /// Makes the plan.
    pub fn new(events: &[EventShape], params: usize, outlook: &Outlook, demands: Demands) -> Plan {
        let outlook = with_resets(outlook, demands);
        let reachability = Reachability::new(outlook.clone(), demands.handled);
        let graph = Graph { outlook: &outlook, events, handled: demands.handled };
        let enabled = graph.enable_sets(&reachability.with_all_events());
        let connectable = connected_domains(events, &enabled);
        let mut drops_unconnected = false;
        let mut event_plan = |(event, enabled): (&EventShape, &Enabled)| {
            let domain = event.domain();
            let mut joins = Vec::new();
            for &from in enabled.seen.iter().filter(|from| !from.contains(domain)) {
                let on = from.and(domain);
                let free = on.is_empty() && !from.is_empty();
                if free && demands.connected {
                    drops_unconnected = true;
                } else {
                    joins.push(Join { from, on });
                }
            }
            joins.sort_by_key(|join| (std::cmp::Reverse(join.from.len()), join.from));
            let position = |param| event.params.iter().position(|&p| p == param).unwrap_or(0);
            let order: Vec<usize> = domain.iter().map(position).collect();
            let in_order = order.is_sorted();
            EventPlan { domain, order, in_order, creates: enabled.creates, joins }
        };
        let events = events.iter().zip(&enabled).map(&mut event_plan).collect();
        let (resets, full_binding) = (demands.resets, demands.full_binding);
        Plan { events, params, resets, full_binding, drops_unconnected, connectable, reachability }
    }

    /// The places from which no handled verdict can be reached, whatever is bound.
    pub fn dead_ends(&self) -> Vec<bool> {
        self.reachability.with_all_events().into_iter().map(|reachable| !reachable).collect()
    }

    /// Whether instances with this domain report only when events have connected all their parameters.
    pub fn needs_connection(&self, domain: ParamSet) -> bool {
        self.connectable.contains(&domain)
    }

    /// The parameters of an event, and those of instances that it is combined with before anything connects them, if events can.
    pub fn combined_unconnected(&self) -> Option<(ParamSet, ParamSet)> {
        let joins = self.events.iter().flat_map(|event| event.joins.iter().map(|join| (event.domain, join)));
        let mut free = joins.filter(|(_, join)| join.on.is_empty() && !join.from.is_empty());
        let found =
            free.find(|(domain, join)| !domain.is_empty() && self.needs_connection(join.from.or(*domain)));
        found.map(|(domain, join)| (join.from, domain))
    }

    /// What instances with this domain can still reach when the objects of the `dead` parameters are gone.
    pub(super) fn reachability(&mut self, domain: ParamSet, dead: ParamSet) -> Row {
        let reporting = if self.full_binding { ParamSet::first(self.params) } else { ParamSet::EMPTY };
        self.reachability.find(&self.events, reporting, domain, dead)
    }

    /// Whether a handled verdict can still be reached from this place.
    #[inline]
    pub(super) fn can_reach_verdict(&self, row: Row, place: u32) -> bool {
        self.reachability.holds(row, place)
    }
}

/// The outlook of a monitor that starts again after a verdict that resets.
fn with_resets(outlook: &Outlook, demands: Demands) -> Outlook {
    let mut outlook = outlook.clone();
    let start = outlook.start;
    for edges in &mut outlook.edges {
        let back: Vec<_> = edges
            .iter()
            .filter(|edge| edge.2.meets(demands.resets))
            .map(|edge| (edge.0, start, edge.2))
            .collect();
        // A coarse outlook may report every category at once; it may then reset or not.
        edges.retain(|edge| edge.2.0 == u64::MAX || !edge.2.meets(demands.resets));
        edges.extend(back);
    }
    outlook
}

struct Graph<'a> {
    outlook: &'a Outlook,
    events: &'a [EventShape],
    handled: Categories,
}

impl Graph<'_> {
    /// For each event, whether it can begin a slice, and the sets of parameters that can have been seen before it in a
    /// slice that has begun, both on the way to a handled verdict.
    fn enable_sets(&self, reachable: &[bool]) -> Vec<Enabled> {
        let marked = self.events.iter().any(|event| event.creation);
        let mut enabled = vec![Enabled::default(); self.events.len()];
        let mut queue = VecDeque::from([(self.outlook.start, None)]);
        let mut visited = BTreeSet::from_iter(queue.iter().copied());
        while let Some((place, seen)) = queue.pop_front() {
            for &(event, to, verdicts) in &self.outlook.edges[place as usize] {
                let shape = &self.events[event as usize];
                let useful = verdicts.meets(self.handled) || reachable[to as usize];
                if !useful || (seen.is_none() && marked && !shape.creation) {
                    continue;
                }
                match seen {
                    None => enabled[event as usize].creates = true,
                    Some(params) => _ = enabled[event as usize].seen.insert(params),
                }
                let next = (to, Some(seen.unwrap_or_default().or(shape.domain())));
                if visited.insert(next) {
                    queue.push_back(next);
                }
            }
        }
        enabled
    }
}

#[derive(Clone, Debug, Default)]
struct Enabled {
    creates: bool,
    seen: BTreeSet<ParamSet>,
}

/// The domains that some order of events builds with every event connected to what is there.
fn connected_domains(events: &[EventShape], enabled: &[Enabled]) -> BTreeSet<ParamSet> {
    let creating = events.iter().zip(enabled).filter(|(_, enabled)| enabled.creates);
    let mut domains: BTreeSet<ParamSet> = creating.map(|(event, _)| event.domain()).collect();
    loop {
        let mut grown = domains.clone();
        for (event, enabled) in events.iter().zip(enabled) {
            let domain = event.domain();
            let fits = |from: &&ParamSet| {
                domains.contains(from)
                    && (from.is_empty() || domain.is_empty() || !from.and(domain).is_empty())
            };
            grown.extend(enabled.seen.iter().filter(fits).map(|from| from.or(domain)));
        }
        if grown.len() == domains.len() {
            return domains;
        }
        domains = grown;
    }
}
