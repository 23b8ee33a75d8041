//! One body of a property for one binding, as a machine over plain states.
//!
//! [`Watch`](crate::watch::Watch) runs a property over one sequence of events. Whoever wants to look at many sequences at once keeps
//! states instead: what the machine remembers and the values of the variables, which together with the next event of the binding's
//! slice give the next state. A state can be cloned, compared and hashed.

use smallvec::SmallVec;

use crate::formalism::{Categories, Monitor, Outlook};
use crate::predicate::Values;
use crate::property::{Body, Letters, Machine, MachineState, Property};
use crate::watch::{Setup, initial_values};

/// A body, ready to step from state to state.
#[derive(Clone, Debug)]
pub struct Instance<'p> {
    property: &'p Property,
    body: &'p Body,
    machine: Machine,
    vars: SmallVec<[i64; 2]>,
    /// Per event, the assignment last: whether it begins the monitoring.
    creates: Vec<bool>,
    resets: Categories,
    /// Per place of the machine's outlook, how many events a verdict is away.
    distances: Vec<u32>,
}

/// What is remembered of the events so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    vars: SmallVec<[i64; 2]>,
    /// `None` before the first event that begins the monitoring.
    machine: Option<MachineState>,
}

impl State {
    /// The values of the property's variables.
    pub fn vars(&self) -> &[i64] {
        &self.vars
    }
}

impl<'p> Instance<'p> {
    /// The body of this number.
    ///
    /// # Panics
    /// If the property has no such body.
    pub fn new(property: &'p Property, body: usize) -> Instance<'p> {
        let body = &property.bodies[body];
        let vars: SmallVec<[i64; 2]> = initial_values(property, |_| None).into();
        let machine = match &body.letters {
            Letters::Events => body.machine.clone(),
            Letters::Atoms(_) => body.machine.primed(body.letters.letter(None, &vars)),
        };
        let plan = Setup { property, body }.plan_for(&machine);
        let creates = plan.events.iter().map(|event| event.creates).collect();
        let distances = distances(&machine.outlook(), body.handled());
        Instance { property, body, machine, vars, creates, resets: plan.resets, distances }
    }

    /// Before any event.
    pub fn start(&self) -> State {
        State { vars: self.vars.clone(), machine: None }
    }

    /// An event of the property, with the values it carries; what is told.
    pub fn event(&self, state: &mut State, event: u32, thread: u64, args: &[u64]) -> Categories {
        let guard = self.property.events[event as usize].guard.as_ref();
        if guard.is_some_and(|guard| !guard.holds(Values { vars: &state.vars, args, thread })) {
            return Categories::NONE;
        }
        self.step(state, event, Some(event))
    }

    /// A variable of the property gets a value; what is told.
    pub fn assign(&self, state: &mut State, var: usize, value: i64) -> Categories {
        if let Some(slot) = state.vars.get_mut(var) {
            *slot = value;
        }
        match self.body.letters {
            Letters::Events => Categories::NONE,
            Letters::Atoms(_) => self.step(state, self.property.events.len() as u32, None),
        }
    }

    fn step(&self, state: &mut State, slot: u32, event: Option<u32>) -> Categories {
        if state.machine.is_none() && !self.creates[slot as usize] {
            return Categories::NONE;
        }
        let letter = self.body.letters.letter(event, &state.vars);
        let machine = state.machine.get_or_insert_with(|| self.machine.start());
        let mut told = Categories::NONE;
        self.machine.react(machine, letter, self.resets, &mut |categories| told = told.union(categories));
        told
    }

    /// How many events a verdict is away, at least as far as is known.
    pub fn distance(&self, state: &State) -> u32 {
        let place = match &state.machine {
            Some(machine) => self.machine.place(machine),
            None => return u32::MAX,
        };
        self.distances.get(place as usize).copied().unwrap_or(0)
    }
}

/// For each place, how many edges away the next verdict is.
fn distances(outlook: &Outlook, handled: Categories) -> Vec<u32> {
    let mut distances = vec![u32::MAX; outlook.edges.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (place, edges) in outlook.edges.iter().enumerate() {
            let best = edges.iter().map(|&(_, to, told)| match told.meets(handled) {
                true => 1,
                false => distances[to as usize].saturating_add(1),
            });
            let best = best.min().unwrap_or(u32::MAX);
            if best < distances[place] {
                distances[place] = best;
                changed = true;
            }
        }
    }
    distances
}
