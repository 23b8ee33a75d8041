//! The monitor one would write first: a table from bindings to states, all of it looked through at every event, with
//! no thought given to which combinations can matter or which objects are gone.

use std::collections::HashMap;

use foresee_monitor::formalism::Monitor;
use foresee_monitor::property::{MachineState, Property};

type Binding = Vec<Option<u64>>;

pub(crate) struct Naive<'p> {
    property: &'p Property,
    states: HashMap<Binding, MachineState>,
    pub(crate) verdicts: u64,
}

impl<'p> Naive<'p> {
    pub(crate) fn new(property: &'p Property) -> Naive<'p> {
        Naive { property, states: HashMap::new(), verdicts: 0 }
    }

    pub(crate) fn event(&mut self, event: u32, objects: &[u64]) {
        let machine = &self.property.bodies[0].machine;
        let mut own: Binding = vec![None; self.property.params.len()];
        for (param, object) in self.property.events[event as usize].shape.params.iter().zip(objects) {
            own[*param as usize] = Some(*object);
        }
        let compatible = |other: &Binding| {
            let shared = own.iter().zip(other).any(|(a, b)| a.is_some() && a == b);
            shared && own.iter().zip(other).all(|(a, b)| a.is_none() || b.is_none() || a == b)
        };
        let mut fresh: Vec<(Binding, MachineState)> = Vec::new();
        for (binding, state) in self.states.iter().filter(|(binding, _)| compatible(binding)) {
            let joined: Binding = own.iter().zip(binding).map(|(a, b)| a.or(*b)).collect();
            if !self.states.contains_key(&joined) {
                fresh.push((joined, state.clone()));
            }
        }
        if !self.states.contains_key(&own) {
            fresh.push((own.clone(), machine.start()));
        }
        self.states.extend(fresh);
        let includes = |binding: &Binding| own.iter().zip(binding).all(|(a, b)| a.is_none() || a == b);
        for (_, state) in self.states.iter_mut().filter(|(binding, _)| includes(binding)) {
            machine.step(state, event);
            self.verdicts += u64::from(!machine.verdicts(state).is_empty());
        }
    }
}
