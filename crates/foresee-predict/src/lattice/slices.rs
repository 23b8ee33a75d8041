//! An execution in the terms of a property: what happens, and to which bindings of its parameters.
//!
//! A property with parameters is explored binding by binding: the slice of a binding is what happens to it or to less (parametric trace
//! slicing), and one machine reads it. Bindings are put together from those of events that share a parameter.

use foresee_monitor::property::{Carried, Property};
use foresee_monitor::slice::params::ParamSet;
use foresee_trace::{EventId, Execution};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::end::END;
use crate::property::{Step, Translator};

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

    fn bind(&mut self, param: u8, value: u64) {
        self.domain = self.domain.or(ParamSet::only(param));
        self.values[param as usize] = value;
    }

    /// What is left of it for these parameters.
    fn restricted(&self, to: ParamSet) -> Binding {
        let mut less = Binding::new(self.values.len());
        to.iter().for_each(|param| less.bind(param, self.values[param as usize]));
        less
    }

    /// Both, if they agree.
    fn join(&self, other: &Binding) -> Option<Binding> {
        let common = self.domain.and(other.domain);
        let agree = common.iter().all(|param| self.values[param as usize] == other.values[param as usize]);
        agree.then(|| {
            let mut both = self.clone();
            other.domain.iter().for_each(|param| both.bind(param, other.values[param as usize]));
            both
        })
    }
}

/// What an event is to the property.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Event(u32, SmallVec<[u64; 2]>),
    Assign(usize, i64),
}

/// Something happens to a binding, at an event or at the [`END`].
#[derive(Clone, Debug)]
pub(super) struct Happening {
    pub(super) event: EventId,
    pub(super) thread: u64,
    pub(super) act: Act,
}

/// All that happens, by what it happens to.
pub(super) struct Slices {
    by_binding: FxHashMap<Binding, Vec<Happening>>,
}

/// Of a property with more bindings than this, not all are looked at.
const MOST_BINDINGS: usize = 100_000;

impl Slices {
    /// Translates an execution. The translator has learnt its names.
    pub(super) fn of(execution: &Execution, translator: &mut Translator<'_>) -> Slices {
        let property = translator.property();
        let mut by_binding: FxHashMap<Binding, Vec<Happening>> = FxHashMap::default();
        for id in execution.ids() {
            let event = execution.event(id);
            let thread = u64::from(event.thread.0);
            // An event that carries too much or too little is another event of that name.
            let _ = translator.event(&event, |step| {
                if let Some((binding, act)) = happening(property, thread, step) {
                    by_binding.entry(binding).or_default().push(Happening { event: id, thread, act });
                }
            });
        }
        translator.end(|step| {
            if let Some((binding, act)) = happening(property, 0, step) {
                by_binding.entry(binding).or_default().push(Happening { event: END, thread: 0, act });
            }
        });
        Slices { by_binding }
    }

    /// The bindings to look at, in a fixed order, and whether those are all.
    pub(super) fn bindings(&self) -> (Vec<Binding>, bool) {
        let mut all: Vec<Binding> = self.by_binding.keys().cloned().collect();
        all.sort_unstable();
        let mut known: FxHashSet<Binding> = all.iter().cloned().collect();
        let mut with: FxHashMap<(u8, u64), Vec<usize>> = FxHashMap::default();
        let mut next = 0;
        while next < all.len() && all.len() < MOST_BINDINGS {
            let binding = all[next].clone();
            let values = binding.domain.iter().map(|param| (param, binding.values[param as usize]));
            for value in values {
                for &other in with.entry(value).or_default().iter() {
                    if let Some(both) = binding.join(&all[other])
                        && known.insert(both.clone())
                    {
                        all.push(both);
                    }
                }
                with.entry(value).or_default().push(next);
            }
            next += 1;
        }
        let complete = next == all.len();
        (all, complete)
    }

    /// What happens to a binding, in the observed order.
    pub(super) fn slice(&self, binding: &Binding) -> Vec<&Happening> {
        let subsets = (0..=binding.domain.0).map(ParamSet).filter(|&some| binding.domain.contains(some));
        let mut slice: Vec<&Happening> =
            subsets.filter_map(|some| self.by_binding.get(&binding.restricted(some))).flatten().collect();
        // Stable: what happens at one event stays in order.
        slice.sort_by_key(|happening| happening.event);
        slice
    }
}

fn happening(property: &Property, thread: u64, step: Step<'_>) -> Option<(Binding, Act)> {
    let mut binding = Binding::new(property.params.len());
    match step {
        Step::Event(event, values) => {
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
            Some((binding, Act::Event(event, values.into())))
        }
        Step::Assign(var, value) => {
            if property.modifiers.perthread {
                binding.bind(property.params.len().checked_sub(1)? as u8, thread);
            }
            Some((binding, Act::Assign(var, value)))
        }
        Step::Gone(_) => None,
    }
}
