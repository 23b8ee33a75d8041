//! Variables of instances, and guards that ask for them or for parameters, against their definition: no index, no plan, every binding
//! reads its slice from the beginning.
#![allow(clippy::unwrap_used)]

use foresee_monitor::compile;
use foresee_monitor::formalism::Monitor as _;
use foresee_monitor::instance::Instance;
use foresee_monitor::predicate::{Binding as Bound, Values};
use foresee_monitor::property::{Letters, Machine, Property};
use foresee_monitor::watch::Watch;
use foresee_oracle::Random;

/// One event of a trace: which, by which thread, and what it carries.
type Happening = (u32, u64, Vec<u64>);
/// At which event, for which binding, which handlers.
type Verdict = (usize, Vec<Option<u64>>, u64);

fn binding_of(property: &Property, (event, _, args): &Happening) -> Vec<Option<u64>> {
    let mut binding = vec![None; property.params.len()];
    for (nth, param) in property.events[*event as usize].shape.params.iter().enumerate() {
        binding[usize::from(*param)] = Some(args[nth]);
    }
    binding
}

fn is_part(part: &[Option<u64>], whole: &[Option<u64>]) -> bool {
    part.iter().zip(whole).all(|(part, whole)| part.is_none() || part == whole)
}

fn join(left: &[Option<u64>], right: &[Option<u64>]) -> Option<Vec<Option<u64>>> {
    let joined = left.iter().zip(right).map(|(left, right)| match (left, right) {
        (Some(left), Some(right)) if left != right => None,
        (left, right) => Some(left.or(*right)),
    });
    joined.collect()
}

/// Whether an event counts at all, whatever the instance.
fn counts(property: &Property, (event, thread, args): &Happening) -> bool {
    let guard = property.events[*event as usize].guard.as_ref();
    guard.is_none_or(|guard| guard.holds(Values { args, thread: *thread, ..Values::default() }))
}

fn bindings(property: &Property, trace: &[Happening]) -> Vec<Vec<Option<u64>>> {
    let mut all: Vec<Vec<Option<u64>>> = Vec::new();
    for happening in trace.iter().filter(|happening| counts(property, happening)) {
        let own = binding_of(property, happening);
        let joined: Vec<_> = all.iter().filter_map(|other| join(other, &own)).chain([own.clone()]).collect();
        for binding in joined {
            if !all.contains(&binding) {
                all.push(binding);
            }
        }
    }
    all
}

/// What each binding reports, from the definition. `plain` is the property without guards and changes, whose creation events are those
/// of the body alone.
fn by_definition(property: &Property, plain: &Property, trace: &[Happening]) -> Vec<Verdict> {
    let body = &property.bodies[0];
    let (watch, plain_watch) = (Watch::new(property, |_| None), Watch::new(plain, |_| None));
    let initial: Vec<i64> = property.state.iter().map(|state| state.initial).collect();
    let first = Values { state: &initial, ..Values::default() };
    let machine: Machine = match body.letters {
        Letters::Events => body.machine.clone(),
        Letters::Atoms(_) => body.machine.primed(body.letters.letter(None, first)),
    };
    let mut verdicts = Vec::new();
    for binding in bindings(property, trace) {
        let slice = (0..trace.len())
            .filter(|at| counts(property, &trace[*at]))
            .filter(|at| is_part(&binding_of(property, &trace[*at]), &binding));
        let mut bound = vec![None; property.params.len()];
        let (mut variables, mut state) = (initial.clone(), None);
        for at in slice.skip_while(|at| !watch.creates(trace[*at].0)) {
            let (event, thread, args) = &trace[at];
            bound = join(&bound, &binding_of(property, &trace[at])).unwrap();
            let bits = bound.iter().enumerate().filter(|(_, value)| value.is_some());
            let values: Vec<u64> = bound.iter().map(|value| value.unwrap_or(0)).collect();
            let binding_values =
                Bound { bound: bits.fold(0, |all, (param, _)| all | 1 << param), values: &values };
            let see = |variables: &[i64]| {
                // The borrow ends with the use.
                (variables.to_vec(), *thread, args.clone())
            };
            let declared = &property.events[*event as usize];
            let (now, by, carried) = see(&variables);
            let seen = Values {
                state: &now,
                thread: by,
                args: &carried,
                binding: binding_values,
                ..Values::default()
            };
            let is_read = declared.own_guard.as_ref().is_none_or(|guard| guard.holds(seen));
            if !is_read || state.is_none() && !plain_watch.creates(*event) {
                continue;
            }
            for action in &declared.actions {
                let (now, ..) = see(&variables);
                if let Some(value) = action.value.value(Values { state: &now, ..seen }) {
                    variables[action.state as usize] = value;
                }
            }
            let letter = body.letters.letter(Some(*event), Values { state: &variables, ..seen });
            let mut reset = false;
            let memory = state.get_or_insert_with(|| machine.start());
            machine.react(memory, letter, body.resets(), &mut |categories| {
                reset |= categories.meets(body.resets());
                if bound == binding {
                    verdicts.push((at, binding.clone(), categories.0));
                }
            });
            if reset {
                variables.clone_from(&initial);
            }
        }
    }
    verdicts.sort();
    verdicts
}

fn by_watch(property: &Property, trace: &[Happening]) -> Vec<Verdict> {
    let mut watch = Watch::new(property, |_| None);
    let mut verdicts = Vec::new();
    for (at, (event, thread, args)) in trace.iter().enumerate() {
        watch
            .event(*event, *thread, args, &mut |verdict| {
                let value =
                    |param: usize| (verdict.domain.0 >> param & 1 == 1).then(|| verdict.values[param]);
                let binding = (0..property.params.len()).map(value).collect();
                verdicts.push((at, binding, verdict.categories.0));
            })
            .unwrap();
    }
    verdicts.sort();
    verdicts
}

/// What states that can be compared and hashed report: those of the explorer of other runs.
fn by_instance(property: &Property, trace: &[Happening]) -> Vec<Verdict> {
    let watch = Watch::new(property, |_| None);
    let instance = Instance::new(property, 0);
    let mut verdicts = Vec::new();
    for binding in bindings(property, trace) {
        let mut state = instance.start();
        let (mut bound, mut begun) = (vec![None; property.params.len()], false);
        for (at, happening) in trace.iter().enumerate() {
            let own = binding_of(property, happening);
            let (event, thread, args) = happening;
            let is_of_slice = is_part(&own, &binding) && counts(property, happening);
            begun |= watch.creates(*event) && is_of_slice;
            if !is_of_slice || !begun {
                continue;
            }
            bound = join(&bound, &own).unwrap();
            let categories = instance.event(&mut state, *event, *thread, args);
            if bound == binding && !categories.is_empty() {
                verdicts.push((at, binding.clone(), categories.0));
            }
        }
    }
    verdicts.sort();
    verdicts
}

/// A random property, as text with and without what its instances remember.
fn random_property(random: &mut Random) -> (String, String) {
    let families: [&[&str]; 3] = [&["", "a"], &["", "a", "b"], &["", "a", "a, b"]];
    let shapes = families[random.below(3)];
    let guards = ["", "when count < 2", "when n > count", "when n != a", "when b > a && n > 0", "when !done"];
    let changes =
        ["", "", "{ count += 1; }", "{ count = n; done = n > 1; }", "{ count -= n; }", "{ count = 2 / n; }"];
    let bodies = [
        "ere: x y* z",
        "ere: (x | y) z",
        "fsm: s0 [x -> s1, y -> s0] s1 [z -> s2, x -> s1] s2 [y -> s0]",
        "ptltl: z -> <*> x",
        "ptltl: y -> count < 2",
        "ltl: [](x -> o !z)",
        "cfg: S -> x S z | epsilon",
    ];
    let body = bodies[random.below(bodies.len())];
    let category = match &body[..3] {
        "ere" | "cfg" => "match",
        "fsm" => "s2",
        _ => "violation",
    };
    let handler = if random.percent(30) { "count; reset;" } else { "count;" };
    let (mut full, mut plain) = (String::new(), String::new());
    for name in ["x", "y", "z"] {
        let shape = shapes[random.below(shapes.len())];
        let args = if shape.is_empty() { "n".to_owned() } else { format!("{shape}, n") };
        let (guard, change) = (guards[random.below(guards.len())], changes[random.below(changes.len())]);
        let end = if change.is_empty() { ";" } else { "" };
        full += &format!("event {name}({args}) {guard} {change}{end}\n");
        plain += &format!("event {name}({args});\n");
    }
    let of = |states: &str, events: &str| {
        format!("property P(a, b) {{ {states}\n{events}{body}\n@{category} {{ {handler} }} }}")
    };
    let states = "state count: int = 0; state done: bool;";
    let needed = if body.contains("count") { states } else { "" };
    (of(states, &full), of(needed, &plain))
}

#[test]
fn instances_remember_what_the_definition_says() {
    let mut random = Random::new(20);
    let mut told = 0;
    for _ in 0..6000 {
        let (spec, plain) = random_property(&mut random);
        let full = compile(&spec).unwrap_or_else(|problems| panic!("{spec}\n{problems:#?}"));
        let plain = compile(&plain).unwrap();
        let (property, plain) = (&full.properties[0], &plain.properties[0]);
        let happening = |random: &mut Random| -> Happening {
            let event = random.below(property.events.len());
            let arity = property.events[event].arity;
            let args = (0..arity)
                .map(|nth| if nth + 1 == arity { random.below(4) } else { 1 + random.below(2) } as u64);
            (event as u32, 0, args.collect())
        };
        let trace: Vec<Happening> = (0..random.below(14)).map(|_| happening(&mut random)).collect();
        let expected = by_definition(property, plain, &trace);
        told += expected.len();
        assert_eq!(by_watch(property, &trace), expected, "{spec}\n{trace:?}");
        assert_eq!(by_instance(property, &trace), expected, "{spec}\n{trace:?}");
    }
    assert!(told > 2000, "{told}");
}
