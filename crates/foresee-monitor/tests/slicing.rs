//! The slicer against the definition of slicing, on very many random properties and traces, and the paper's example.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use foresee_monitor::formalism::ere::Ere;
use foresee_monitor::formalism::suffix::Suffix;
use foresee_monitor::formalism::{Categories, Handled, Moment, Monitor};
use foresee_monitor::slice::params::{EventShape, ParamSet};
use foresee_monitor::slice::plan::{Demands, Plan};
use foresee_monitor::slice::simple::{Flat, Single};
use foresee_monitor::slice::{SliceVerdict, Slicer};
use foresee_oracle::Random;
use support::*;

/// What the slicer learns besides the events.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Plain,
    /// Every object dies right after its last event.
    Deaths,
    /// An event that changed nothing is left out until something changes, and one that needs known values if one of them is not.
    Skipping,
}

/// The verdicts of the slicer.
fn by_slicer<M: Monitor>(
    bare: &Bare,
    monitor: M,
    plan: Plan,
    trace: &[TraceEvent],
    how: How,
) -> Vec<Verdict> {
    // A free combination may come of an instance after all its objects died.
    let free = plan.events.iter().any(|event| event.joins.iter().any(|join| join.on.is_empty()));
    let mut slicer = Slicer::new(monitor, plan);
    let mut verdicts = Vec::new();
    let (mut idle_at, mut known) = (BTreeMap::new(), BTreeSet::<u64>::new());
    for (at, (event, values)) in trace.iter().enumerate() {
        let before = slicer.changes();
        let is_idle = idle_at.get(&(event, values)) == Some(&before);
        let is_unknown =
            slicer.needs_known_values(*event) && values.iter().any(|value| !known.contains(value));
        if how == How::Skipping && (is_idle || is_unknown) {
            continue;
        }
        slicer.event(Moment::plain(*event, *event), values, &mut |reported| {
            let value = |param: usize| {
                reported.domain.contains(ParamSet::only(param as u8)).then(|| reported.values[param])
            };
            verdicts.push((at, (0..bare.params).map(value).collect(), reported.categories));
        });
        if slicer.changes() == before {
            idle_at.insert((event, values), before);
        } else {
            known.extend(values);
        }
        if how == How::Deaths {
            let seen_later = |value| trace[at + 1..].iter().any(|(_, values)| values.contains(value));
            for value in values.iter().filter(|value| !seen_later(value)) {
                slicer.object_gone(*value);
            }
        }
    }
    if how == How::Deaths && !free && bare.events.iter().all(|event| !event.params.is_empty()) {
        assert_eq!(slicer.size().instances, 0, "instances of dead objects are left");
        assert_eq!(slicer.size().nodes, 0, "something is still known about dead objects");
    }
    verdicts.sort();
    verdicts
}

fn cases() -> u64 {
    std::env::var("FORESEE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(30_000)
}

#[test]
fn the_slicer_agrees_with_the_definition() {
    let (mut exact, mut with_verdicts) = (0, 0);
    for seed in 0..cases() {
        let mut random = Random::new(seed);
        let bare = random_bare(&mut random);
        let automaton = random_automaton(&mut random, bare.events.len() as u32);
        let creates = creation_events(&bare, &automaton);
        let trace = random_trace(&mut random, &bare);
        let plan = bare.plan(&automaton);
        let expected = if plan.drops_unconnected {
            by_growth(&bare, &automaton, &plan, &creates, &trace)
        } else {
            exact += 1;
            connected_only(&bare, &plan, &creates, &trace, by_definition(&bare, &automaton, &creates, &trace))
        };
        with_verdicts += u64::from(!expected.is_empty());
        for how in [How::Plain, How::Deaths, How::Skipping] {
            let found = by_slicer(&bare, automaton.clone(), plan.clone(), &trace, how);
            assert_eq!(
                found, expected,
                "seed {seed}, {how:?}\n{bare:?}\n{automaton:?}\n{trace:?}\n{:?}",
                plan.events
            );
        }
    }
    println!("{exact} of {} by the bare definition, {with_verdicts} with verdicts", cases());
    assert!(exact > cases() / 4 && with_verdicts > cases() / 4, "{exact} {with_verdicts}");
}

/// What runs properties without parameters, or with one that every event binds, in place of the slicer.
#[test]
fn simple_properties_agree_with_the_definition() {
    for seed in 0..cases() / 3 {
        let mut random = Random::new(seed ^ 0xf1a7);
        let mut bare = random_bare(&mut random);
        bare.params = usize::from(random.percent(80));
        bare.events.iter_mut().for_each(|event| event.params = (0..bare.params as u8).collect());
        let automaton = random_automaton(&mut random, bare.events.len() as u32);
        let creates = creation_events(&bare, &automaton);
        let trace = random_trace(&mut random, &bare);
        let plan = bare.plan(&automaton);
        let mut verdicts: Vec<Verdict> = Vec::new();
        let (mut single, mut flat) = (Single::new(automaton.clone(), plan.clone()), None);
        if bare.params == 1 {
            flat = Some(Flat::new(automaton.clone(), plan));
        }
        for (at, (event, values)) in trace.iter().enumerate() {
            let mut hear = |reported: SliceVerdict<'_>| {
                verdicts.push((at, reported.values.iter().copied().map(Some).collect(), reported.categories));
            };
            let Some(flat) = &mut flat else {
                single.event(Moment::plain(*event, *event), &mut hear);
                continue;
            };
            flat.event(Moment::plain(*event, *event), values[0], &mut hear);
            if random.percent(50) && !trace[at + 1..].iter().any(|(_, later)| later == values) {
                flat.object_gone(values[0]);
            }
        }
        verdicts.sort();
        let expected = by_definition(&bare, &automaton, &creates, &trace);
        assert_eq!(verdicts, expected, "seed {seed}: {bare:?} {automaton:?} {trace:?}");
        for object in trace.iter().flat_map(|(_, values)| values) {
            flat.iter_mut().for_each(|flat| flat.object_gone(*object));
        }
        assert!(flat.is_none_or(|flat| flat.size().instances + flat.size().nodes == 0), "seed {seed}");
    }
}

#[test]
fn growing_only_what_connects_reports_nothing_the_definition_does_not() {
    for seed in 0..cases() / 2 {
        let mut random = Random::new(seed ^ 0x5eed_0000);
        let bare = random_bare(&mut random);
        let automaton = random_automaton(&mut random, bare.events.len() as u32);
        let creates = creation_events(&bare, &automaton);
        let trace = random_trace(&mut random, &bare);
        let plan = bare.plan(&automaton);
        let allowed = by_definition(&bare, &automaton, &creates, &trace);
        for verdict in by_slicer(&bare, automaton.clone(), plan.clone(), &trace, How::Plain) {
            assert!(allowed.contains(&verdict), "seed {seed}: {verdict:?}");
        }
    }
}

#[test]
fn suffix_monitors_agree_with_the_definition_too() {
    for seed in 0..cases() / 3 {
        let mut random = Random::new(seed ^ 0x0005_0ff1);
        let bare = random_bare(&mut random);
        let automaton = random_automaton(&mut random, bare.events.len() as u32);
        let creates = creation_events(&bare, &automaton);
        let trace = random_trace(&mut random, &bare);
        let can = automaton.can_reach(|state| !automaton.verdicts_of(state).is_empty());
        let monitor = Suffix::new(automaton, creates.clone(), can.iter().map(|can| !can).collect());
        let plan = bare.plan(&monitor);
        if plan.drops_unconnected {
            continue;
        }
        let expected = by_definition(&bare, &monitor, &creates, &trace);
        let expected = connected_only(&bare, &plan, &creates, &trace, expected);
        let found = by_slicer(&bare, monitor.clone(), plan, &trace, How::Plain);
        assert_eq!(found, expected, "seed {seed}\n{bare:?}\n{monitor:?}\n{trace:?}");
    }
}

/// What two objects did before an event connects them counts: `access(u, f) -> [login(u), logout(u)) && [open(f), close(f))`.
#[test]
fn histories_that_a_later_event_connects_are_combined() {
    let spec = "property Access(u, f) { event login(u); event logout(u); event open(f); event close(f); event access(u, f);
        ptltl: access -> [login, logout) && [open, close) @violation { count; } }";
    let property = foresee_monitor::compile(spec).unwrap().properties.remove(0);
    let [login, logout, open, close, access] = [0, 1, 2, 3, 4];
    let violations = |trace: &[(u32, &[u64])]| {
        let mut watch = foresee_monitor::watch::Watch::new(&property, |_| None);
        let mut found = Vec::new();
        for (at, (event, values)) in trace.iter().enumerate() {
            watch.event(*event, 0, values, &mut |verdict| found.push((at, verdict.values.to_vec()))).unwrap();
        }
        found
    };
    let (ann, bob): (&[u64], &[u64]) = (&[1], &[2]);
    let (file, other): (&[u64], &[u64]) = (&[5], &[6]);
    let closed = [(login, ann), (open, file), (close, file), (access, &[1, 5][..])];
    assert_eq!(violations(&closed), [(3, vec![1, 5])]);
    let opened =
        [(open, file), (login, ann), (login, bob), (open, other), (access, &[1, 5]), (access, &[2, 6])];
    assert_eq!(violations(&opened), []);
    let left =
        [(open, file), (login, ann), (login, bob), (logout, bob), (access, &[1, 5]), (access, &[2, 5])];
    assert_eq!(violations(&left), [(5, vec![2, 5])]);
}

/// UnsafeMapIterator over m, c, i: events create_coll, create_iter, use_iter, update_map.
fn unsafe_map_iterator() -> (Bare, Ere) {
    let shape = |params: &[u8]| EventShape { params: params.into(), creation: false };
    let events = vec![shape(&[0, 1]), shape(&[1, 2]), shape(&[2]), shape(&[0])];
    let [coll, iter, used, update] = [0, 1, 2, 3].map(Ere::Event);
    let parts = [coll, Ere::star(update.clone()), iter, Ere::star(used.clone()), Ere::plus(update), used];
    let pattern = parts.into_iter().rev().reduce(|tail, head| Ere::concat(head, tail)).unwrap();
    let demands = Demands { handled: Categories(1), ..Demands::default() };
    (Bare { events, params: 3, demands }, pattern)
}

#[test]
fn the_papers_eleven_events_give_one_match() {
    let (bare, pattern) = unsafe_map_iterator();
    let automaton = pattern.compile(4, Handled(&["match".into()])).unwrap();
    let (m, c, i) = (|n: u64| 100 + n, |n: u64| 200 + n, |n: u64| 300 + n);
    let trace: Vec<TraceEvent> = vec![
        (0, vec![m(1), c(1)]),
        (0, vec![m(1), c(2)]),
        (1, vec![c(1), i(1)]),
        (1, vec![c(1), i(2)]),
        (2, vec![i(1)]),
        (1, vec![c(2), i(3)]),
        (3, vec![m(1)]),
        (2, vec![i(2)]),
        (0, vec![m(2), c(3)]),
        (1, vec![c(3), i(4)]),
        (2, vec![i(4)]),
    ];
    let matched: Verdict = (7, vec![Some(m(1)), Some(c(1)), Some(i(2))], Categories(1));
    let plan = bare.plan(&automaton);
    assert_eq!(by_slicer(&bare, automaton.clone(), plan.clone(), &trace, How::Plain), [matched]);

    // Fig. 4 has eight instances. <m1> alone cannot match (it has no create_coll), so the slicer never builds it.
    let mut slicer = Slicer::new(automaton, plan);
    trace.iter().for_each(|(event, values)| slicer.event(Moment::plain(*event, *event), values, &mut |_| ()));
    assert_eq!(slicer.size().built, 7);
    let all = [true; 4];
    let fig_4: [(&[Option<u64>], &[usize]); 8] = [
        (&[Some(m(1)), None, None], &[7]),
        (&[Some(m(1)), Some(c(1)), None], &[1, 7]),
        (&[Some(m(1)), Some(c(2)), None], &[2, 7]),
        (&[Some(m(2)), Some(c(3)), None], &[9]),
        (&[Some(m(1)), Some(c(1)), Some(i(1))], &[1, 3, 5, 7]),
        (&[Some(m(1)), Some(c(1)), Some(i(2))], &[1, 4, 7, 8]),
        (&[Some(m(1)), Some(c(2)), Some(i(3))], &[2, 6, 7]),
        (&[Some(m(2)), Some(c(3)), Some(i(4))], &[9, 10, 11]),
    ];
    for (binding, slice) in fig_4 {
        let positions: Vec<usize> = slice.iter().map(|number| number - 1).collect();
        assert_eq!(bare.slice(&trace, &binding.to_vec(), &all), positions, "{binding:?}");
    }
}
