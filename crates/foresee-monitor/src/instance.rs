//! One body of a property for one binding, as a machine over plain states.
//!
//! [`Watch`](crate::watch::Watch) runs a property over one sequence of events. Whoever wants to look at many sequences at once keeps
//! states instead: what the machine remembers and the values of the variables, which together with the next event of the binding's
//! slice give the next state. A state can be cloned, compared and hashed.

use smallvec::SmallVec;

use crate::formalism::suffix::{Copies, Suffix};
use crate::formalism::{Categories, Moment, Monitor, Outlook};
use crate::predicate::{Binding, Values};
use crate::property::{Body, Carried, Letters, Machine, MachineState, Property};
use crate::remembering::{Remembered, Remembering};
use crate::slice::params::ParamSet;
use crate::watch::{Setup, first_letter, initial_values};

/// A body, ready to step from state to state.
#[derive(Clone, Debug)]
pub struct Instance<'p> {
    property: &'p Property,
    body: &'p Body,
    machine: Machine,
    /// For properties with the modifier `suffix`: runs a copy of the machine for each suffix.
    suffix: Option<Suffix<Machine>>,
    /// For properties whose instances remember values.
    remembering: Option<Remembering<Machine>>,
    vars: SmallVec<[i64; 2]>,
    /// Per event, the assignment last: whether it begins the monitoring.
    creates: Vec<bool>,
    resets: Categories,
    leaves_out: bool,
    /// Per place of the machine's outlook, how many events a verdict is away.
    distances: Vec<u32>,
}

/// What is remembered of the events so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    vars: SmallVec<[i64; 2]>,
    /// `None` before the first event that begins the monitoring.
    memory: Option<Memory>,
}

/// What machines remember.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Memory {
    Whole(MachineState),
    Suffixes(Box<Copies<MachineState>>),
    Remembering(Box<Known>),
}

/// What an instance that remembers values knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Known {
    /// The parameters that its events have bound.
    bound: ParamSet,
    /// Their values.
    values: SmallVec<[u64; 4]>,
    remembered: Remembered<MachineState>,
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
            Letters::Atoms(_) => body.machine.primed(first_letter(property, body, &vars)),
        };
        let setup = Setup { property, body };
        let remembering = property.remembers().then(|| setup.remembering(machine.clone()));
        let plan = match &remembering {
            Some(remembering) => setup.plan_for(remembering),
            None => setup.plan_for(&machine),
        };
        let creates = plan.events.iter().map(|event| event.creates).collect();
        let outlook = remembering.as_ref().map_or_else(|| machine.outlook(), Monitor::outlook);
        let distances = distances(&outlook, body.handled());
        let suffix = property.modifiers.suffix.then(|| setup.suffix(machine.clone(), &plan));
        let leaves_out = plan.drops_unconnected || plan.combined_unconnected().is_some();
        let resets = plan.resets;
        Instance {
            property,
            body,
            machine,
            suffix,
            remembering,
            vars,
            creates,
            resets,
            leaves_out,
            distances,
        }
    }

    /// Whether some bindings say nothing, though there are events for them: nothing connects their values.
    pub fn leaves_out_bindings(&self) -> bool {
        self.leaves_out
    }

    /// Before any event.
    pub fn start(&self) -> State {
        State { vars: self.vars.clone(), memory: None }
    }

    /// An event of the property, with the values it carries; returns the verdicts.
    pub fn event(&self, state: &mut State, event: u32, thread: u64, args: &[u64]) -> Categories {
        let guard = self.property.events[event as usize].guard.as_ref();
        let occasion = Values { vars: &state.vars, args, thread, ..Values::default() };
        if guard.is_some_and(|guard| !guard.holds(occasion)) {
            return Categories::NONE;
        }
        self.step(state, event, thread, args)
    }

    /// A variable of the property gets a value; returns the verdicts.
    pub fn assign(&self, state: &mut State, var: usize, value: i64) -> Categories {
        if let Some(slot) = state.vars.get_mut(var) {
            *slot = value;
        }
        match self.body.letters {
            Letters::Events => Categories::NONE,
            Letters::Atoms(_) => self.step(state, self.property.events.len() as u32, 0, &[]),
        }
    }

    /// An event that counts, or the assignment to a variable, which is behind them.
    fn step(&self, state: &mut State, slot: u32, thread: u64, args: &[u64]) -> Categories {
        if state.memory.is_none() && !self.creates[slot as usize] {
            return Categories::NONE;
        }
        let values = Values { vars: &state.vars, args, thread, ..Values::default() };
        let declared = self.property.events.get(slot as usize);
        let memory = state.memory.get_or_insert_with(|| match (&self.suffix, &self.remembering) {
            (_, Some(remembering)) => Memory::Remembering(Box::new(Known {
                bound: ParamSet::EMPTY,
                values: SmallVec::from_elem(0, self.property.params.len()),
                remembered: remembering.start(),
            })),
            (Some(suffix), None) => Memory::Suffixes(Box::new(suffix.start())),
            (None, None) => Memory::Whole(self.machine.start()),
        });
        let mut verdicts = Categories::NONE;
        let mut report = |categories| verdicts = verdicts.union(categories);
        if let (Memory::Remembering(known), Some(remembering)) = (&mut *memory, &self.remembering) {
            let Known { bound, values: own, remembered } = &mut **known;
            for (param, carried) in
                declared.iter().flat_map(|event| event.shape.params.iter().zip(&event.carried))
            {
                *bound = bound.or(ParamSet::only(*param));
                own[usize::from(*param)] = match carried {
                    Carried::Arg(position) => args.get(*position as usize).copied().unwrap_or(0),
                    Carried::Thread => thread,
                };
            }
            let moment = Moment { event: slot, letter: slot, values: Some(&values) };
            let binding = Binding { bound: bound.0, values: own };
            remembering.react_at(remembered, moment, binding, self.resets, &mut report);
            return verdicts;
        }
        let letter = self.body.letters.letter(declared.is_some().then_some(slot), values);
        match (memory, &self.suffix) {
            (Memory::Suffixes(copies), Some(suffix)) => {
                suffix.react(copies, letter, self.resets, &mut report);
                // How many say something is not asked here: states that differ in it only are one.
                copies.iter_mut().for_each(|(_, count)| *count = 1);
            }
            (Memory::Whole(machine), _) => self.machine.react(machine, letter, self.resets, &mut report),
            (Memory::Suffixes(_) | Memory::Remembering(_), _) => {
                debug_assert!(false, "a state of another instance");
            }
        }
        verdicts
    }

    /// How many events a verdict is away, at least as far as is known.
    pub fn distance(&self, state: &State) -> u32 {
        let of = |machine: &MachineState| {
            self.distances.get(self.machine.place(machine) as usize).copied().unwrap_or(0)
        };
        match &state.memory {
            Some(Memory::Whole(machine)) => of(machine),
            Some(Memory::Suffixes(copies)) => {
                copies.iter().map(|(copy, _)| of(copy)).min().unwrap_or(u32::MAX)
            }
            Some(Memory::Remembering(known)) => self.remembering.as_ref().map_or(0, |remembering| {
                let place = remembering.place(&known.remembered);
                self.distances.get(place as usize).copied().unwrap_or(0)
            }),
            None => u32::MAX,
        }
    }
}

/// For each place, how many edges away the next verdict is.
fn distances(outlook: &Outlook, handled: Categories) -> Vec<u32> {
    let mut distances = vec![u32::MAX; outlook.edges.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (place, edges) in outlook.edges.iter().enumerate() {
            let best = edges.iter().map(|&(_, to, verdicts)| match verdicts.meets(handled) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;
    use crate::watch::Watch;

    /// An instance says what the property says that watches.
    #[test]
    fn an_instance_says_what_a_watch_says() {
        let bodies = [
            "ere: a b* c @match { report \"\"; }",
            "ere: a b a @match { report \"\"; reset; }",
            "ltl: [](a => (b || c)) @violation { report \"\"; }",
            "cfg: S -> a S b | epsilon @match { report \"\"; } @fail { report \"\"; }",
            "fsm: s0 [a -> s1, b -> s0] s1 [b -> s2, c -> s0] s2 [a -> s1] @s2 { report \"\"; }",
        ];
        let mut reported_at_all = [0, 0];
        for (body, suffix) in bodies.iter().flat_map(|body| [(body, ""), (body, "suffix ")]) {
            let spec = format!("{suffix}property P {{ event a; event b; event c; {body} }}");
            let property = &compile(&spec).unwrap_or_else(|why| panic!("{spec}: {why:#?}")).properties[0];
            let instance = Instance::new(property, 0);
            let mut seed = 3_u64;
            for _ in 0..300 {
                let mut watch = Watch::new(property, |_| None);
                let mut state = instance.start();
                for _ in 0..8 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let event = (seed >> 60) as u32 % 3;
                    let mut heard = Categories::NONE;
                    let mut hear =
                        |verdict: crate::watch::Verdict<'_>| heard = heard.union(verdict.categories);
                    watch.event(event, 0, &[], &mut hear).unwrap();
                    assert_eq!(instance.event(&mut state, event, 0, &[]), heard, "{spec}");
                    reported_at_all[usize::from(!suffix.is_empty())] += usize::from(!heard.is_empty());
                }
            }
        }
        assert!(reported_at_all[0] > 100 && reported_at_all[1] > reported_at_all[0], "{reported_at_all:?}");
    }
}
