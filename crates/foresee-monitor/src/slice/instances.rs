//! The instances of a property, in one slab.
//!
//! States, values and the rest of an instance lie in parallel arrays indexed by slot. A slot is reused once its instance is
//! gone; a reference carries the number of the tenant it means, so that an old reference finds nothing.

use smallvec::SmallVec;

use super::index::Ref;
use super::params::ParamSet;
use super::reachability::Row;

/// A look at one instance.
pub(super) struct Instance<'a> {
    pub(super) domain: ParamSet,
    pub(super) dead: ParamSet,
    pub(super) born: u64,
    pub(super) values: &'a [u64],
}

/// Where an instance is kept.
#[derive(Clone, Debug)]
pub(super) struct Slot<S> {
    /// `None` once the instance went.
    pub(super) state: Option<S>,
    tenant: u32,
    pub(super) domain: ParamSet,
    dead: ParamSet,
    pub(super) reachability: Row,
    /// When its slice began.
    born: u64,
    /// Its parameters, by what its events have connected; more than one set while something is missing.
    connected: SmallVec<[ParamSet; 4]>,
}

impl<S> Slot<S> {
    /// It reads an event about these parameters.
    #[inline]
    pub(super) fn connect(&mut self, by: ParamSet) {
        if self.connected.len() > 1 {
            connect(&mut self.connected, by);
        }
    }

    /// Whether its events have connected all its parameters.
    #[inline]
    pub(super) fn is_connected(&self) -> bool {
        self.connected.len() <= 1
    }
}

fn connect(sets: &mut SmallVec<[ParamSet; 4]>, by: ParamSet) {
    if by.is_empty() {
        return;
    }
    let mut all = by;
    sets.retain(|set| {
        let apart = set.and(by).is_empty();
        if !apart {
            all = all.or(*set);
        }
        apart
    });
    sets.push(all);
}

/// The values of all instances.
#[derive(Clone, Copy)]
pub(super) struct AllValues<'a> {
    values: &'a [u64],
    params: usize,
}

impl<'a> AllValues<'a> {
    pub(super) fn of(self, this: Ref) -> &'a [u64] {
        let from = this.slot as usize * self.params;
        &self.values[from..from + self.params]
    }
}

/// All instances.
#[derive(Clone, Debug)]
pub(super) struct Instances<S> {
    params: usize,
    slots: Vec<Slot<S>>,
    values: Vec<u64>,
    free: Vec<u32>,
    built: u64,
}

impl<S: Clone> Instances<S> {
    pub(super) fn new(params: usize) -> Instances<S> {
        Instances { params, slots: Vec::new(), values: Vec::new(), free: Vec::new(), built: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn built(&self) -> u64 {
        self.built
    }

    pub(super) fn get(&self, this: Ref) -> Option<Instance<'_>> {
        let slot = &self.slots[this.slot as usize];
        let &Slot { domain, dead, born, .. } = slot;
        let current = slot.tenant == this.tenant && slot.state.is_some();
        let values = AllValues { values: &self.values, params: self.params };
        current.then(|| Instance { domain, dead, born, values: values.of(this) })
    }

    /// The slot of an instance that is still there, and the values of all instances.
    #[inline]
    pub(super) fn get_mut(&mut self, this: Ref) -> Option<(&mut Slot<S>, AllValues<'_>)> {
        let slot = &mut self.slots[this.slot as usize];
        let values = AllValues { values: &self.values, params: self.params };
        (slot.tenant == this.tenant).then_some((slot, values))
    }

    /// A new instance whose slice begins now.
    pub(super) fn begin(
        &mut self,
        state: S,
        domain: ParamSet,
        reachability: Row,
        values: &[u64],
        now: u64,
    ) -> Ref {
        let mut connected = SmallVec::new();
        connect(&mut connected, domain);
        let dead = ParamSet::EMPTY;
        let new = Slot { state: Some(state), tenant: 0, domain, dead, reachability, born: now, connected };
        self.place(new, values)
    }

    /// Notes which objects of an instance are dead, and what can still come of it.
    pub(super) fn bury(&mut self, this: Ref, dead: ParamSet, reachability: Row) {
        let slot = &mut self.slots[this.slot as usize];
        (slot.dead, slot.reachability) = (dead, reachability);
    }

    /// A new instance with a richer binding, by an event with these parameters, that has read what `parent` has.
    pub(super) fn continue_as(
        &mut self,
        parent: Ref,
        by: ParamSet,
        reachability: Row,
        values: &[u64],
    ) -> Option<Ref> {
        let slot = self.slots.get(parent.slot as usize).filter(|slot| slot.tenant == parent.tenant)?;
        let domain = slot.domain.or(by);
        let mut connected = slot.connected.clone();
        connect(&mut connected, by);
        let new = Slot { state: Some(slot.state.clone()?), domain, reachability, connected, ..*slot };
        Some(self.place(new, values))
    }

    fn place(&mut self, mut new: Slot<S>, values: &[u64]) -> Ref {
        self.built += 1;
        if let Some(slot) = self.free.pop() {
            let from = slot as usize * self.params;
            self.values[from..from + self.params].copy_from_slice(values);
            new.tenant = self.slots[slot as usize].tenant.wrapping_add(1);
            let tenant = new.tenant;
            self.slots[slot as usize] = new;
            return Ref { slot, tenant };
        }
        new.tenant = 0;
        self.slots.push(new);
        self.values.extend_from_slice(values);
        Ref { slot: self.slots.len() as u32 - 1, tenant: 0 }
    }

    pub(super) fn remove(&mut self, this: Ref) {
        let slot = &mut self.slots[this.slot as usize];
        if slot.tenant == this.tenant && slot.state.take().is_some() {
            self.free.push(this.slot);
        }
    }
}
