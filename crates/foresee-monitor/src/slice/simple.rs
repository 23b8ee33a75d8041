//! Properties whose slices do not overlap: without parameters there is one slice, and with one parameter that every event binds, each
//! event is of one slice. Nothing is combined then; what [`Slicer`](super::Slicer) keeps to combine instances is not needed. Both report
//! exactly the verdicts that the slicer would.

use super::params::ParamSet;
use super::plan::Plan;
use super::reachability::Row;
use super::table::Table;
use super::{Size, SliceVerdict};
use crate::formalism::{Moment, Monitor};
use crate::predicate::Binding;

/// The one instance of a property without parameters.
#[derive(Debug)]
pub struct Single<M: Monitor> {
    monitor: M,
    plan: Plan,
    /// `None` before the first creation event.
    state: Option<M::State>,
    changes: u64,
}

impl<M: Monitor> Single<M> {
    /// Runs `monitor` by `plan`, which was made for it.
    pub fn new(monitor: M, plan: Plan) -> Single<M> {
        Single { monitor, plan, state: None, changes: 0 }
    }

    /// An event came.
    #[inline]
    pub fn event(&mut self, moment: Moment<'_>, report: &mut impl FnMut(SliceVerdict<'_>)) {
        if self.state.is_none() && !self.plan.events[moment.event as usize].creates {
            return;
        }
        let changes = &mut self.changes;
        let state = self.state.get_or_insert_with(|| {
            *changes += 1;
            self.monitor.start()
        });
        let before = state.clone();
        self.monitor.react_at(state, moment, Binding::default(), self.plan.resets, &mut |categories| {
            *changes += 1;
            report(SliceVerdict { categories, domain: ParamSet::EMPTY, values: &[] });
        });
        *changes += u64::from(*state != before);
    }

    /// The plan it runs by.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// As [`Slicer::changes`](super::Slicer::changes).
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// How much it holds.
    pub fn size(&self) -> Size {
        let instances = usize::from(self.state.is_some());
        Size { instances, built: instances as u64, nodes: 0 }
    }
}

/// What is known about an object.
#[derive(Debug)]
enum Known<S> {
    /// Its slice has begun.
    Begun(S),
    /// Nothing can come of it any more.
    Over,
}

/// The instances of a property with one parameter.
#[derive(Debug)]
pub struct Flat<M: Monitor> {
    monitor: M,
    plan: Plan,
    reachability: Row,
    objects: Table<Known<M::State>>,
    /// Where the object of the last event is: programs often do several things with one object in a row.
    recent: usize,
    instances: usize,
    built: u64,
    changes: u64,
}

impl<M: Monitor> Flat<M> {
    /// Runs `monitor` by `plan`, which was made for it and has one parameter that all its events bind.
    pub fn new(monitor: M, mut plan: Plan) -> Flat<M> {
        let reachability = plan.reachability(ParamSet::first(1), ParamSet::EMPTY);
        Flat {
            monitor,
            plan,
            reachability,
            objects: Table::default(),
            recent: 0,
            instances: 0,
            built: 0,
            changes: 0,
        }
    }

    /// An event came that binds the parameter to `object`.
    #[inline]
    pub fn event(&mut self, moment: Moment<'_>, object: u64, report: &mut impl FnMut(SliceVerdict<'_>)) {
        if !self.objects.is_at(self.recent, object) {
            match self.objects.position(object) {
                Some(position) => self.recent = position,
                None if self.plan.events[moment.event as usize].creates => {
                    self.recent = self.objects.insert(object, Known::Begun(self.monitor.start()));
                    self.instances += 1;
                    self.built += 1;
                    self.changes += 1;
                }
                None => return,
            }
        }
        let Flat { monitor, plan, reachability, objects, recent, instances, changes, .. } = self;
        let Some(known) = objects.at(*recent) else { return };
        let Known::Begun(state) = known else { return };
        let before = state.clone();
        let values = [object];
        let binding = Binding { bound: 1, values: &values };
        monitor.react_at(state, moment, binding, plan.resets, &mut |categories| {
            *changes += 1;
            report(SliceVerdict { categories, domain: ParamSet::first(1), values: &values });
        });
        *changes += u64::from(*state != before);
        if !monitor.any_place(state, |place| plan.can_reach_verdict(*reachability, place)) {
            *known = Known::Over;
            *instances -= 1;
        }
    }

    /// The object is gone: no event will mention it again.
    pub fn object_gone(&mut self, object: u64) {
        let known = self.objects.remove(object);
        self.changes += u64::from(known.is_some());
        if let Some(Known::Begun(_)) = known {
            self.instances -= 1;
        }
    }

    /// The plan it runs by.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// As [`Slicer::changes`](super::Slicer::changes).
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// How much it holds.
    pub fn size(&self) -> Size {
        Size { instances: self.instances, built: self.built, nodes: self.objects.len() }
    }
}
