//! Parametric slicing: one copy of a monitor for every binding of a property's parameters.
//!
//! An event carries values for some parameters: its *binding*. A binding is less informative than another if the other
//! has the same values and perhaps more. The *slice* of a binding is the sequence of events whose bindings are less
//! informative than it (or equal), from the first creation event on; the copy of the monitor for a binding, its
//! *instance*, reads exactly its slice (Chen and Roşu, *Parametric trace slicing and monitoring*, TACAS 2009).
//!
//! Instances are built when events bring their values together: an event with values nobody has seen begins an instance
//! if it is a creation event, and an event that shares a value with an instance, and adds one, builds the combination of
//! both. The combination continues the instance's state, which is right if the instance has read everything the
//! combination should have read; where it has not, the combination was built before, or no verdict could come of it. [`plan`] says which
//! combinations are worth building at all, and which of them report.
//!
//! Time: one lookup per event, plus one step for each instance that reads it; building is amortised constant per
//! parameter set. Memory follows the living objects: instances go as soon as no verdict can come of them, and what is
//! known about an object goes when it dies ([`Slicer::object_gone`]) and no instance holds it any more.
//!
//! Values are identities. The identity of an object that died must not be used again while instances may hold it; whoever
//! feeds the slicer gives each life of an address its own number.

pub mod event_plan;
mod index;
mod instances;
pub mod params;
pub mod plan;
mod reachability;
pub mod simple;
mod table;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::formalism::{Categories, Moment, Monitor};
use crate::predicate::Binding;
use event_plan::{EventPlan, Join};
use index::{Index, Key, Mention, NEVER, Ref};
use instances::Instances;
use params::ParamSet;
use plan::Plan;

/// An instance has reached a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceVerdict<'a> {
    /// The verdict.
    pub categories: Categories,
    /// Which parameters its binding has values for.
    pub domain: ParamSet,
    /// The values, by parameter; those of parameters outside the domain mean nothing.
    pub values: &'a [u64],
}

/// How much a slicer holds and has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Instances now.
    pub instances: usize,
    /// Instances ever built.
    pub built: u64,
    /// Tuples of values that something is known about.
    pub nodes: usize,
}

/// Values by parameter.
type Values = SmallVec<[u64; 4]>;

/// The positions of the indices an event needs.
#[derive(Clone, Debug)]
struct Route {
    dispatch: usize,
    creates: bool,
    has_joins: bool,
    /// In the order of the plan's joins: the index of the instances, and those with what an instance might have missed.
    joins: Vec<(usize, Vec<usize>)>,
    /// The indices of smaller event domains: a slice that began there is no new slice.
    below: Vec<usize>,
    /// Whether some join must know when this event came last.
    watched: bool,
}

/// Runs a monitor for every binding; see the [module](self).
#[derive(Clone, Debug)]
pub struct Slicer<M: Monitor> {
    monitor: M,
    plan: Plan,
    routes: Vec<Route>,
    indices: Vec<Index>,
    /// Per parameter, the position of the index of its objects.
    objects: Vec<usize>,
    instances: Instances<M::State>,
    /// Objects that died while instances hold them, and how many.
    mourned: FxHashMap<(u8, u64), u32>,
    now: u64,
    changes: u64,
}

impl<M: Monitor> Slicer<M> {
    /// Runs `monitor` by `plan`, which was made for it.
    pub fn new(monitor: M, plan: Plan) -> Slicer<M> {
        let mut indices: Vec<Index> = Vec::new();
        let mut position = |on: ParamSet, members: Option<ParamSet>| {
            let known = indices.iter().position(|index| index.on == on && index.members == members);
            known.unwrap_or_else(|| {
                indices.push(Index::new(on, members));
                indices.len() - 1
            })
        };
        let objects = (0..plan.params as u8).map(|param| position(ParamSet::only(param), None)).collect();
        let mut domains: Vec<ParamSet> = plan.events.iter().map(|event| event.domain).collect();
        domains.sort();
        domains.dedup();
        let missed = |&Join { from, .. }: &Join, domain: ParamSet| {
            let whole = from.or(domain);
            domains.iter().copied().filter(move |part| whole.contains(*part) && !from.contains(*part))
        };
        let all_joins =
            || plan.events.iter().flat_map(|event| event.joins.iter().map(|join| (join, event.domain)));
        let route = |event: &EventPlan| Route {
            dispatch: position(event.domain, None),
            creates: event.creates,
            has_joins: !event.joins.is_empty(),
            joins: event
                .joins
                .iter()
                .map(|join| {
                    let missed = missed(join, event.domain).map(|part| position(part, None)).collect();
                    (position(join.on, Some(join.from)), missed)
                })
                .collect(),
            below: domains
                .iter()
                .filter(|part| event.domain.contains(**part) && **part != event.domain)
                .map(|part| position(*part, None))
                .collect(),
            watched: all_joins().any(|(join, domain)| missed(join, domain).any(|part| part == event.domain)),
        };
        let routes = plan.events.iter().map(route).collect();
        let instances = Instances::new(plan.params);
        let mourned = FxHashMap::default();
        Slicer { monitor, plan, routes, indices, objects, instances, mourned, now: 0, changes: 0 }
    }

    /// The plan it runs by.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How much it holds.
    pub fn size(&self) -> Size {
        let nodes = self.indices.iter().map(Index::len).sum();
        Size { instances: self.instances.len(), built: self.instances.built(), nodes }
    }

    /// Grows whenever an event or a death changes anything or has a verdict. While it stays the same, an event that did not make
    /// it grow would not do so if it came again.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether the event does nothing at all if one of its values is in no instance and was in none.
    pub fn needs_known_values(&self, event: u32) -> bool {
        let route = &self.routes[event as usize];
        !route.creates && !route.has_joins && !route.watched
    }

    /// An event came: `values` are those of its parameters in the order of the event, `moment` is what monitors read.
    pub fn event(&mut self, moment: Moment<'_>, values: &[u64], report: &mut impl FnMut(SliceVerdict<'_>)) {
        self.now += 1;
        let plan = &self.plan.events[moment.event as usize];
        if plan.in_order {
            self.event_at(moment, values, report);
        } else {
            let key: Key = plan.order.iter().map(|&position| values[position]).collect();
            self.event_at(moment, &key, report);
        }
    }

    fn event_at(&mut self, moment: Moment<'_>, key: &[u64], report: &mut impl FnMut(SliceVerdict<'_>)) {
        let event = moment.event;
        let route = &self.routes[event as usize];
        let Route { dispatch, creates, has_joins, .. } = *route;
        let keeps_time = creates || (route.watched && self.instances.len() > 0);
        let mut node = self.indices[dispatch].find_again(key);
        if has_joins {
            self.combine(event, key);
            node = self.indices[dispatch].find(key);
        }
        let begun = node.is_some_and(|node| self.indices[dispatch].node(node).first_creation != NEVER);
        if creates && !begun {
            self.begin(event, key);
            node = self.indices[dispatch].find(key);
        }
        if node.is_none() && keeps_time {
            node = Some(self.node_for(dispatch, key));
        }
        let Some(node) = node else { return };
        self.deliver(dispatch, node, moment, report);
        let node = self.indices[dispatch].node_mut(node);
        node.last = self.now;
        if creates && !begun {
            node.first_creation = self.now;
            self.changes += 1;
        }
    }

    /// Builds what the event combines with existing instances.
    #[inline(never)]
    fn combine(&mut self, event: u32, key: &[u64]) {
        let domain = self.plan.events[event as usize].domain;
        for nth in 0..self.routes[event as usize].joins.len() {
            let Join { from, on } = self.plan.events[event as usize].joins[nth];
            let (index, missed) = &self.routes[event as usize].joins[nth];
            let index = *index;
            let on_key: Key = pick(domain, key, on);
            let Some(node) = self.indices[index].find(&on_key) else { continue };
            let mut fresh: SmallVec<[(Ref, Values); 1]> = SmallVec::new();
            for &parent in &self.indices[index].node(node).members.refs {
                let Some(instance) = self.instances.get(parent) else { continue };
                let mut values: Values = instance.values.into();
                for (param, value) in domain.iter().zip(key) {
                    values[param as usize] = *value;
                }
                let has_missed = missed.iter().any(|&part| {
                    let part = &self.indices[part];
                    let node = part.find(&project(part.on, &values)).map(|node| part.node(node));
                    node.is_some_and(|node| node.last > instance.born || node.first_creation < instance.born)
                });
                if !has_missed {
                    fresh.push((parent, values));
                }
            }
            let whole = from.or(domain);
            for (parent, values) in fresh {
                let dead = self.instances.get(parent).map_or(ParamSet::EMPTY, |parent| parent.dead);
                let reachability = self.plan.reachability(whole, dead);
                if let Some(child) = self.instances.continue_as(parent, domain, reachability, &values) {
                    self.changes += 1;
                    self.register(child, whole, &values);
                    self.mourn_again(child);
                }
            }
        }
    }

    /// Begins an instance for the event's own binding, unless its slice has begun before.
    #[inline(never)]
    fn begin(&mut self, event: u32, key: &[u64]) {
        let domain = self.plan.events[event as usize].domain;
        let mut values: Values = smallvec![0; self.plan.params];
        for (param, value) in domain.iter().zip(key) {
            values[param as usize] = *value;
        }
        let begun = self.routes[event as usize].below.iter().any(|&part| {
            let part = &self.indices[part];
            let node = part.find(&project(part.on, &values));
            node.is_some_and(|node| part.node(node).first_creation != NEVER)
        });
        if !begun {
            let reachability = self.plan.reachability(domain, ParamSet::EMPTY);
            let instance =
                self.instances.begin(self.monitor.start(), domain, reachability, &values, self.now);
            self.register(instance, domain, &values);
        }
    }

    fn register(&mut self, instance: Ref, domain: ParamSet, values: &[u64]) {
        for position in 0..self.indices.len() {
            if !self.indices[position].takes(domain) {
                continue;
            }
            let key = project(self.indices[position].on, values);
            let node = self.node_for(position, &key);
            let instances = &self.instances;
            let members = &mut self.indices[position].node_mut(node).members;
            members.push(instance, |this| instances.get(this).is_some());
        }
    }

    /// The node with this key, made if need be; its objects then know of it.
    #[inline(never)]
    fn node_for(&mut self, position: usize, key: &[u64]) -> u32 {
        let (slot, new) = self.indices[position].find_or_insert(key);
        let on = self.indices[position].on;
        self.changes += u64::from(new);
        if new && !(on.len() == 1 && self.indices[position].members.is_none()) {
            let tenant = self.indices[position].node(slot).tenant;
            for (param, value) in on.iter().zip(key) {
                let object_index = self.objects[param as usize];
                let (object, _) = self.indices[object_index].find_or_insert(&[*value]);
                let mut mentions =
                    self.indices[object_index].node_mut(object).mentions.take().unwrap_or_default();
                let indices = &self.indices;
                mentions
                    .push((position as u32, Ref { slot, tenant }), |mention| is_current(indices, mention));
                self.indices[object_index].node_mut(object).mentions = Some(mentions);
            }
        }
        slot
    }

    /// Lets all instances that include the event's values read it.
    #[inline]
    fn deliver(
        &mut self,
        dispatch: usize,
        node: u32,
        moment: Moment<'_>,
        report: &mut impl FnMut(SliceVerdict<'_>),
    ) {
        let Slicer { monitor, plan, indices, instances, changes, .. } = self;
        let by = indices[dispatch].on;
        let members = &mut indices[dispatch].node_mut(node).members;
        let mut stale = false;
        let mut expired: Vec<Ref> = Vec::new();
        for &member in &members.refs {
            let Some((slot, all_values)) = instances.get_mut(member) else {
                stale = true;
                continue;
            };
            slot.connect(by);
            let domain = slot.domain;
            let says_nothing = !slot.is_connected() && plan.needs_connection(domain)
                || plan.full_binding && domain != ParamSet::first(plan.params);
            let Some(state) = &mut slot.state else {
                stale = true;
                continue;
            };
            let before = state.clone();
            let binding = Binding { bound: domain.0, values: all_values.of(member) };
            monitor.react_at(state, moment, binding, plan.resets, &mut |categories| {
                *changes += 1;
                if !says_nothing {
                    report(SliceVerdict { categories, domain, values: all_values.of(member) });
                }
            });
            *changes += u64::from(*state != before);
            if !monitor.any_place(state, |place| plan.can_reach_verdict(slot.reachability, place)) {
                expired.push(member);
            }
        }
        if stale {
            members.sweep(|this| instances.get(this).is_some());
        }
        for instance in expired {
            self.expire(instance);
        }
    }

    /// The object with this identity is gone: no event will mention it again. Tells whether instances still hold it.
    pub fn object_gone(&mut self, object: u64) -> bool {
        let mut is_held = false;
        for param in 0..self.plan.params as u8 {
            let index = self.objects[param as usize];
            let Some(node) = self.indices[index].find(&[object]) else { continue };
            if !self.mourned.is_empty() && self.mourned.contains_key(&(param, object)) {
                is_held = true;
                continue;
            }
            self.changes += 1;
            let mut members = std::mem::take(&mut self.indices[index].node_mut(node).members);
            members.sweep(|member| self.outlives(member, param));
            let holders = members.refs.len() as u32;
            if holders == 0 {
                self.forget(param, object);
            } else {
                self.indices[index].node_mut(node).members = members;
                self.mourned.insert((param, object), holders);
                is_held = true;
            }
        }
        is_held
    }

    /// Notes the death of one of its objects; removes an instance that nothing can come of any more.
    fn outlives(&mut self, member: Ref, param: u8) -> bool {
        let Some(instance) = self.instances.get(member) else { return false };
        let before = instance.dead;
        let dead = before.or(ParamSet::only(param));
        let reachability = self.plan.reachability(instance.domain, dead);
        let state = self.instances.get_mut(member).and_then(|(slot, _)| slot.state.as_ref());
        if state.is_some_and(|state| {
            self.monitor.any_place(state, |place| self.plan.can_reach_verdict(reachability, place))
        }) {
            self.instances.bury(member, dead, reachability);
            return true;
        }
        self.expire(member);
        false
    }

    /// Removes an instance, and forgets dead objects that only it held.
    #[inline(never)]
    fn expire(&mut self, instance: Ref) {
        let Some(held) = self.instances.get(instance) else { return };
        let dead: SmallVec<[(u8, u64); 2]> =
            held.dead.iter().map(|param| (param, held.values[param as usize])).collect();
        self.instances.remove(instance);
        for (param, object) in dead {
            let Some(holders) = self.mourned.get_mut(&(param, object)) else { continue };
            *holders -= 1;
            if *holders == 0 {
                self.mourned.remove(&(param, object));
                self.forget(param, object);
            }
        }
    }

    /// A new instance holds the dead objects of the one it continues.
    fn mourn_again(&mut self, child: Ref) {
        let Some(held) = self.instances.get(child) else { return };
        for param in held.dead.iter() {
            if let Some(holders) = self.mourned.get_mut(&(param, held.values[param as usize])) {
                *holders += 1;
            }
        }
    }

    /// Drops all that is known about an object.
    fn forget(&mut self, param: u8, object: u64) {
        let index = self.objects[param as usize];
        let Some(node) = self.indices[index].find(&[object]) else { return };
        let mentions = self.indices[index].node_mut(node).mentions.take();
        for mention in mentions.into_iter().flat_map(|mentions| mentions.refs) {
            if is_current(&self.indices, mention) {
                let (position, node) = mention;
                let index = &mut self.indices[position as usize];
                let key = index.node(node.slot).key.clone();
                index.remove(&key);
            }
        }
        self.indices[index].remove(&[object]);
    }
}

fn is_current(indices: &[Index], (position, node): Mention) -> bool {
    indices[position as usize].node(node.slot).tenant == node.tenant
}

/// The values of `on` out of the values by parameter.
#[inline]
fn project(on: ParamSet, values: &[u64]) -> Key {
    let mut key = Key::new();
    for param in on.iter() {
        key.push(values[param as usize]);
    }
    key
}

/// The values of `on` out of those of `domain`.
fn pick(domain: ParamSet, key: &[u64], on: ParamSet) -> Key {
    let wanted = domain.iter().zip(key).filter(|(param, _)| on.contains(ParamSet::only(*param)));
    wanted.map(|(_, value)| *value).collect()
}
