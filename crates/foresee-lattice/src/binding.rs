//! Values of some of a property's parameters: what an event happens to, and what a machine of its own watches.

use foresee_monitor::property::{Carried, Property};
use foresee_monitor::slice::params::ParamSet;
use smallvec::SmallVec;

/// Values of some of a property's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Binding {
    pub(super) domain: ParamSet,
    /// By parameter; 0 for those that have none.
    pub(super) values: SmallVec<[u64; 2]>,
}

impl Binding {
    fn new(params: usize) -> Binding {
        Binding { domain: ParamSet::EMPTY, values: SmallVec::from_elem(0, params) }
    }

    /// These parameters, with these values.
    pub(super) fn of(domain: ParamSet, values: &[u64]) -> Binding {
        let mut binding = Binding::new(values.len());
        domain.iter().for_each(|param| binding.bind(param, values[param as usize]));
        binding
    }

    /// What an event of the property, with these values and by this thread, happens to.
    pub(super) fn of_event(property: &Property, thread: u64, event: u32, values: &[u64]) -> Option<Binding> {
        let mut binding = Binding::new(property.params.len());
        let declared = &property.events[event as usize];
        for (&param, carried) in declared.shape.params.iter().zip(&declared.carried) {
            binding.bind(
                param,
                match carried {
                    Carried::Arg(position) => *values.get(*position as usize)?,
                    Carried::Thread => thread,
                },
            );
        }
        Some(binding)
    }

    /// What it happens to if a thread assigns to a variable of the property.
    pub(super) fn of_assignment(property: &Property, thread: u64) -> Option<Binding> {
        let mut binding = Binding::new(property.params.len());
        if property.modifiers.perthread {
            binding.bind(property.params.len().checked_sub(1)? as u8, thread);
        }
        Some(binding)
    }

    fn bind(&mut self, param: u8, value: u64) {
        self.domain = self.domain.or(ParamSet::only(param));
        self.values[param as usize] = value;
    }

    /// Its parameters with their values.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u8, u64)> + '_ {
        self.domain.iter().map(|param| (param, self.values[param as usize]))
    }

    /// Whether the other one has all its values.
    pub(super) fn is_part_of(&self, other: &Binding) -> bool {
        other.domain.contains(self.domain)
            && self.pairs().all(|(param, value)| other.values[param as usize] == value)
    }

    /// All that are part of it, itself included.
    pub(super) fn parts(&self) -> impl Iterator<Item = Binding> + '_ {
        let subsets = (0..=self.domain.0).map(ParamSet).filter(|&some| self.domain.contains(some));
        subsets.map(|some| {
            let mut part = Binding::new(self.values.len());
            some.iter().for_each(|param| part.bind(param, self.values[param as usize]));
            part
        })
    }

    /// Both, if they agree.
    pub(super) fn join(&self, other: &Binding) -> Option<Binding> {
        let common = self.domain.and(other.domain);
        let agree = common.iter().all(|param| self.values[param as usize] == other.values[param as usize]);
        agree.then(|| {
            let mut both = self.clone();
            other.pairs().for_each(|(param, value)| both.bind(param, value));
            both
        })
    }
}
