//! An execution in the terms of a property: what happens, and to which bindings of its parameters.
//!
//! A property with parameters is explored binding by binding: the slice of a binding is what happens to it or to less (parametric trace
//! slicing), and one machine reads it. Bindings are put together from those of events that share a parameter.

use foresee_monitor::property::Property;
use foresee_trace::{EventId, Execution};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::binding::Binding;
use super::end::END;
use crate::property::{PropertyEvent, Translator};

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
pub(super) struct EventsByBinding {
    by_binding: FxHashMap<Binding, Vec<Happening>>,
}

/// Of a property with more bindings than this, not all are looked at.
const MOST_BINDINGS: usize = 100_000;

impl EventsByBinding {
    /// Translates an execution. The translator has learnt its names.
    pub(super) fn of(execution: &Execution, translator: &mut Translator<'_>) -> EventsByBinding {
        let property = translator.property();
        let mut by_binding: FxHashMap<Binding, Vec<Happening>> = FxHashMap::default();
        for id in execution.ids() {
            let event = execution.event(id);
            let thread = u64::from(event.thread.0);
            // An event that carries too much or too little is another event of that name.
            let _ = translator.event(&event, |what| {
                if let Some((binding, act)) = happening(property, thread, what) {
                    by_binding.entry(binding).or_default().push(Happening { event: id, thread, act });
                }
            });
        }
        translator.end(|what| {
            if let Some((binding, act)) = happening(property, 0, what) {
                by_binding.entry(binding).or_default().push(Happening { event: END, thread: 0, act });
            }
        });
        EventsByBinding { by_binding }
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
            for value in binding.pairs() {
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
    pub(super) fn events_of(&self, binding: &Binding) -> Vec<&Happening> {
        let mut slice: Vec<&Happening> =
            binding.parts().filter_map(|part| self.by_binding.get(&part)).flatten().collect();
        // Stable: what happens at one event stays in order.
        slice.sort_by_key(|happening| happening.event);
        slice
    }
}

fn happening(property: &Property, thread: u64, what: PropertyEvent<'_>) -> Option<(Binding, Act)> {
    match what {
        PropertyEvent::Event(event, values) => {
            let binding = Binding::of_event(property, thread, event, values)?;
            Some((binding, Act::Event(event, values.into())))
        }
        PropertyEvent::Assign(var, value) => {
            Some((Binding::of_assignment(property, thread)?, Act::Assign(var, value)))
        }
        PropertyEvent::Gone(_) => None,
    }
}
