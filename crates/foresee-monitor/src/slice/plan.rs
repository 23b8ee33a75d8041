//! What can be known about a parametric property before its first event.
//!
//! From the monitor's [`Outlook`] and the parameters of each event the plan derives:
//!
//! - **creation events**: those that can begin a slice that reaches a handled verdict (or those marked `creation`);
//! - **enable sets** (Chen, Meredith, Jin, Roşu, *Efficient formalism-independent monitoring of parametric properties*,
//!   ASE 2009): for each event, which sets of parameters can have been seen before it in a slice that still reaches a
//!   handled verdict. Only from instances with such a domain does the event build a combination (a [`Join`]);
//! - **hope**: for each place of the outlook, domain of an instance and set of its dead parameters, whether a handled
//!   verdict can still come of it, from events about the living objects. This is the state-wise form of coenable sets.
//!
//! **Which combinations are built.** An event joins an instance when the two share a parameter (with the same value).
//! An event and an instance that share none, `next(i)` and an instance for collection `c`, are combined only if no
//! order of events that connects their parameters could ever build that combination: in `ere: open(f) start(t) use(f, t)`
//! the file and the thread must be combined at `start`, or `use` would come too late; in a property about `create(c, i)`
//! an iterator is never combined with all the collections it did not come from. The modifier `connected` forbids
//! combinations of unconnected instances altogether.
//!
//! Cost: places × 2^parameters × events, once per property.

use std::collections::{BTreeSet, VecDeque};

use super::hope::{Hope, Hopes};
use super::params::{EventShape, ParamSet};
use crate::formalism::{Categories, Outlook};

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

/// The plan of a property's body; see the [module](self).
#[derive(Clone, Debug)]
pub struct Plan {
    /// Per event.
    pub events: Vec<EventPlan>,
    /// How many parameters the property has.
    pub params: usize,
    /// Categories after which an instance starts again.
    pub resets: Categories,
    /// Whether only instances that bind all parameters tell their verdicts.
    pub full_binding: bool,
    /// Whether some combination that slicing alone would allow is left out because nothing connects it.
    pub drops_unconnected: bool,
    hopes: Hopes,
}

/// What the plan is made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes {
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
    pub fn new(events: &[EventShape], params: usize, outlook: &Outlook, wishes: Wishes) -> Plan {
        let outlook = with_resets(outlook, wishes);
        let hopes = Hopes::new(outlook.clone(), wishes.handled);
        let graph = Graph { outlook: &outlook, events, handled: wishes.handled };
        let enabled = graph.enable_sets(&hopes.anywhere());
        let connected = connected_domains(events, &enabled);
        let mut drops_unconnected = false;
        let mut event_plan = |(event, enabled): (&EventShape, &Enabled)| {
            let domain = event.domain();
            let mut joins = Vec::new();
            for &from in enabled.seen.iter().filter(|from| !from.contains(domain)) {
                let on = from.and(domain);
                let free = on.is_empty() && !from.is_empty();
                if free && (wishes.connected || connected.contains(&from.or(domain))) {
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
        let (resets, full_binding) = (wishes.resets, wishes.full_binding);
        Plan { events, params, resets, full_binding, drops_unconnected, hopes }
    }

    /// The places from which no handled verdict can come, whatever is bound.
    pub fn hopeless_places(&self) -> Vec<bool> {
        self.hopes.anywhere().into_iter().map(|hopeful| !hopeful).collect()
    }

    /// What can still come of instances with this domain when the objects of the `dead` parameters are gone.
    pub(super) fn hope(&mut self, domain: ParamSet, dead: ParamSet) -> Hope {
        let telling = if self.full_binding { ParamSet::first(self.params) } else { ParamSet::EMPTY };
        self.hopes.find(&self.events, telling, domain, dead)
    }

    /// Whether a handled verdict can still come from this place.
    #[inline]
    pub(super) fn hopeful(&self, hope: Hope, place: u32) -> bool {
        self.hopes.holds(hope, place)
    }
}

/// The outlook of a monitor that starts again after a verdict that resets.
fn with_resets(outlook: &Outlook, wishes: Wishes) -> Outlook {
    let mut outlook = outlook.clone();
    let start = outlook.start;
    for edges in &mut outlook.edges {
        let back: Vec<_> = edges
            .iter()
            .filter(|edge| edge.2.meets(wishes.resets))
            .map(|edge| (edge.0, start, edge.2))
            .collect();
        // A coarse outlook may tell every category at once; it may then reset or not.
        edges.retain(|edge| edge.2.0 == u64::MAX || !edge.2.meets(wishes.resets));
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
    fn enable_sets(&self, hope: &[bool]) -> Vec<Enabled> {
        let marked = self.events.iter().any(|event| event.creation);
        let mut enabled = vec![Enabled::default(); self.events.len()];
        let mut queue = VecDeque::from([(self.outlook.start, None)]);
        let mut visited = BTreeSet::from_iter(queue.iter().copied());
        while let Some((place, seen)) = queue.pop_front() {
            for &(event, to, told) in &self.outlook.edges[place as usize] {
                let shape = &self.events[event as usize];
                let useful = told.meets(self.handled) || hope[to as usize];
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
