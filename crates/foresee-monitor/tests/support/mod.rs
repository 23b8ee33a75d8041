//! What slicing means, written from the definition, with no index, no time stamps and no enable sets; and random
//! properties and traces to compare the slicer with it.

use foresee_monitor::formalism::automaton::Automaton;
use foresee_monitor::formalism::{Categories, Monitor};
use foresee_monitor::slice::params::{EventShape, ParamSet};
use foresee_monitor::slice::plan::{Demands, Plan};
use foresee_oracle::Random;

/// A partial function from parameters to values.
pub(crate) type Binding = Vec<Option<u64>>;

/// One event of a trace: which, and the values of its parameters in the event's order.
pub(crate) type TraceEvent = (u32, Vec<u64>);

/// A verdict: at which event of the trace, for which binding, what.
pub(crate) type Verdict = (usize, Binding, Categories);

/// A property without syntax.
#[derive(Clone, Debug)]
pub(crate) struct Bare {
    pub(crate) events: Vec<EventShape>,
    pub(crate) params: usize,
    pub(crate) demands: Demands,
}

impl Bare {
    pub(crate) fn plan(&self, monitor: &impl Monitor) -> Plan {
        Plan::new(&self.events, self.params, &monitor.outlook(), self.demands)
    }

    pub(crate) fn binding(&self, (event, values): &TraceEvent) -> Binding {
        let mut binding = vec![None; self.params];
        for (param, value) in self.events[*event as usize].params.iter().zip(values) {
            binding[*param as usize] = Some(*value);
        }
        binding
    }

    /// The positions of the events of the slice of `binding`, from the first creation event on.
    pub(crate) fn slice(&self, trace: &[TraceEvent], binding: &Binding, creates: &[bool]) -> Vec<usize> {
        let belongs = |at: &usize| less_informative(&self.binding(&trace[*at]), binding);
        (0..trace.len()).filter(belongs).skip_while(|at| !creates[trace[*at].0 as usize]).collect()
    }

    fn reports(&self, binding: &Binding) -> bool {
        !self.demands.full_binding || binding.iter().all(Option::is_some)
    }
}

/// The events that can begin a slice that reaches a handled verdict, or those marked.
pub(crate) fn creation_events(bare: &Bare, automaton: &Automaton) -> Vec<bool> {
    if bare.events.iter().any(|event| event.creation) {
        return bare
            .events
            .iter()
            .map(|event| event.creation && can_come_of(bare, automaton, event))
            .collect();
    }
    bare.events.iter().map(|event| can_come_of(bare, automaton, event)).collect()
}

fn can_come_of(bare: &Bare, automaton: &Automaton, event: &EventShape) -> bool {
    let letter = bare.events.iter().position(|other| std::ptr::eq(other, event)).unwrap();
    let after = automaton.next(0, letter as u32);
    automaton.can_reach(|state| automaton.verdicts_of(state).meets(bare.demands.handled))[after as usize]
}

pub(crate) fn less_informative(less: &Binding, more: &Binding) -> bool {
    less.iter().zip(more).all(|(less, more)| less.is_none() || less == more)
}

pub(crate) fn join(left: &Binding, right: &Binding) -> Option<Binding> {
    let mut both = left.clone();
    for (slot, value) in both.iter_mut().zip(right) {
        match (&slot, value) {
            (Some(old), Some(new)) if old != new => return None,
            (None, value) => *slot = *value,
            _ => {}
        }
    }
    Some(both)
}

fn domain(binding: &Binding) -> ParamSet {
    (0..binding.len() as u8).filter(|param| binding[*param as usize].is_some()).collect()
}

/// The verdicts by the definition alone: every combination of compatible events is a binding; its monitor reads its
/// slice; it exists while the events of its slice bind all its parameters.
pub(crate) fn by_definition<M: Monitor>(
    bare: &Bare,
    monitor: &M,
    creates: &[bool],
    trace: &[TraceEvent],
) -> Vec<Verdict> {
    let mut bindings: Vec<Binding> = Vec::new();
    for event in trace {
        let own = bare.binding(event);
        let joined: Vec<Binding> = bindings.iter().filter_map(|other| join(other, &own)).collect();
        for binding in joined.into_iter().chain([own]) {
            if !bindings.contains(&binding) {
                bindings.push(binding);
            }
        }
    }
    let mut verdicts = Vec::new();
    for binding in bindings.iter().filter(|binding| bare.reports(binding)) {
        let mut state = monitor.start();
        let mut bound = vec![None; bare.params];
        for at in bare.slice(trace, binding, creates) {
            bound = join(&bound, &bare.binding(&trace[at])).unwrap();
            monitor.react(&mut state, trace[at].0, bare.demands.resets, &mut |reported| {
                if bound == *binding {
                    verdicts.push((at, binding.clone(), reported));
                }
            });
        }
    }
    verdicts.sort();
    verdicts
}

/// Those of the verdicts whose bindings report: where events can connect the parameters, the events of the slice until then have done so.
pub(crate) fn connected_only(
    bare: &Bare,
    plan: &Plan,
    creates: &[bool],
    trace: &[TraceEvent],
    verdicts: Vec<Verdict>,
) -> Vec<Verdict> {
    let is_connected = |binding: &Binding, until: usize| {
        let domain = domain(binding);
        let mut reached: ParamSet = domain.iter().take(1).collect();
        let slice = bare.slice(&trace[..=until], binding, creates);
        let events = || slice.iter().map(|at| bare.events[trace[*at].0 as usize].domain());
        for _ in 0..bare.params {
            for event in events().filter(|event| !event.and(reached).is_empty()).collect::<Vec<_>>() {
                reached = reached.or(event);
            }
        }
        reached == domain
    };
    let mut verdicts = verdicts;
    verdicts.retain(|(at, binding, _)| !plan.needs_connection(domain(binding)) || is_connected(binding, *at));
    verdicts
}

/// The verdicts when only the combinations of `plan` are built: a binding lives from the event that brings it together
/// with an instance that has read its whole slice so far.
pub(crate) fn by_growth<M: Monitor>(
    bare: &Bare,
    monitor: &M,
    plan: &Plan,
    creates: &[bool],
    trace: &[TraceEvent],
) -> Vec<Verdict> {
    let mut living: Vec<Binding> = Vec::new();
    let mut verdicts = Vec::new();
    for (now, event) in trace.iter().enumerate() {
        let own = bare.binding(event);
        let before = |binding: &Binding| bare.slice(&trace[..now], binding, creates);
        let mut born = Vec::new();
        for parent in &living {
            let Some(child) = join(parent, &own) else { continue };
            let from = domain(parent);
            let planned = plan.events[event.0 as usize].joins.iter().any(|join| join.from == from);
            if planned && before(&child) == before(parent) {
                born.push(child);
            }
        }
        if creates[event.0 as usize] && before(&own).is_empty() {
            born.push(own.clone());
        }
        for child in born {
            if !living.contains(&child) {
                living.push(child);
            }
        }
        for binding in
            living.iter().filter(|binding| bare.reports(binding) && less_informative(&own, binding))
        {
            let mut state = monitor.start();
            for at in bare.slice(&trace[..=now], binding, creates) {
                let mut report = |reported| {
                    if at == now {
                        verdicts.push((now, binding.clone(), reported));
                    }
                };
                monitor.react(&mut state, trace[at].0, bare.demands.resets, &mut report);
            }
        }
    }
    verdicts.sort();
    verdicts
}

pub(crate) fn random_bare(random: &mut Random) -> Bare {
    let params = random.below(5);
    let marks = random.percent(20);
    let events = (0..2 + random.below(4))
        .map(|_| {
            let mut event_params: Vec<u8> = (0..params as u8).filter(|_| random.percent(45)).collect();
            if random.percent(50) {
                event_params.reverse();
            }
            EventShape { params: event_params, creation: marks && random.percent(40) }
        })
        .collect();
    let resets = if random.percent(30) { Categories(1) } else { Categories::NONE };
    let demands = Demands {
        handled: Categories(3),
        resets,
        full_binding: random.percent(30),
        connected: random.percent(15),
    };
    Bare { events, params, demands }
}

pub(crate) fn random_automaton(random: &mut Random, letters: u32) -> Automaton {
    let states = 2 + random.below(4) as u32;
    // Transitions to the last state, which nothing leaves, make properties whose instances can run into a dead end.
    let sink = states;
    let row = |random: &mut Random| {
        let to = |random: &mut Random| {
            if random.percent(35) { sink } else { random.below(states as usize) as u32 }
        };
        (0..letters).map(|_| to(random)).collect::<Vec<u32>>()
    };
    let mut rows: Vec<_> = (0..states).map(|_| row(random)).collect();
    rows.push(vec![sink; letters as usize]);
    let sink_reports = random.percent(25);
    let verdicts = (0..=states)
        .map(|state| match (state == sink, random.percent(20)) {
            (true, _) => Categories(if sink_reports { 2 } else { 0 }),
            (false, reported) => Categories(u64::from(reported)),
        })
        .collect();
    Automaton::new(letters, &rows, verdicts)
}

pub(crate) fn random_trace(random: &mut Random, bare: &Bare) -> Vec<TraceEvent> {
    let values = 1 + random.below(3);
    (0..random.below(24))
        .map(|_| {
            let event = random.below(bare.events.len()) as u32;
            let of = |param: &u8| u64::from(*param) * 10 + random.below(values) as u64;
            (event, bare.events[event as usize].params.iter().map(of).collect())
        })
        .collect()
}
