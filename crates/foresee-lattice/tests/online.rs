//! The online observer against the lattice of the whole execution, messages in any order, and clients that mean no good.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::time::Instant;

use foresee_lattice::explorer::Breadth;
use foresee_lattice::online::{
    Act, Clocks, Ended, Idle, Lie, Limits, Message, OnlineFinding, Relevant, Session, Silent, Stamp, parse,
    stages,
};
use foresee_monitor::property::Property;
use foresee_oracle::{Config, Oracle, Random, for_each_seed, random_execution};
use foresee_trace::{Event, EventId, Execution, LocId, Mem, Op, ThreadId};
use foresee_witness::judge::Certainty;

/// The last of three events in a row is reported, if one came before it that must not.
const SPEC: &str = r#"
property Order {
    event a;
    event b;
    event c;
    ere: a b+ c
    @match { report "abc at {loc} by {thread}"; }
    @fail { reset; }
}
property Values {
    var x, y: int;
    ptltl: start(x == 1) -> [y == 1, x == 2)
    @violation { report "x is 1"; }
}
"#;

fn properties() -> Vec<Property> {
    foresee_monitor::compile(SPEC).unwrap().properties
}

/// What some events of an execution are to the properties, at random.
fn acts(random: &mut Random, execution: &Execution) -> Vec<[Option<Act>; 2]> {
    let share = 20 + random.below(50) as u32;
    let one = |random: &mut Random| {
        [
            random.percent(share).then(|| Act::Event(random.below(3) as u32, Vec::new())),
            random.percent(share).then(|| Act::Assign(random.below(2) as u32, random.below(3) as i64)),
        ]
    };
    execution.ids().map(|_| one(random)).collect()
}

/// What a program that does the execution would say. Every event has a place of its own.
fn messages(random: &mut Random, execution: &Execution, acts: &[[Option<Act>; 2]]) -> Vec<Message> {
    let mut said = Vec::new();
    let mut messages = vec![0, 0];
    let mut clocks = [Clocks::new(), Clocks::new()];
    let promise = |idle: Vec<Idle>, property: usize, messages: &mut [u32], said: &mut Vec<Message>| {
        for Idle { thread, place, clock, ended } in idle {
            let after = (thread != place).then_some(place);
            let number = messages[property];
            messages[property] += 1;
            said.push(Message::Silent(Silent {
                property: property as u32,
                number,
                thread,
                after,
                clock,
                ended,
            }));
        }
    };
    // These programs have threads that nobody forked: all are known from the beginning.
    for property in 0..2 {
        let threads = 0..execution.thread_count() as u32;
        let all =
            threads.map(|thread| Idle { thread, place: thread, clock: Vec::new(), ended: false }).collect();
        promise(all, property, &mut messages, &mut said);
    }
    for id in execution.ids() {
        for property in 0..2 {
            let act = acts[id.index()][property].clone();
            let stamp = clocks[property].event(&execution.event(id), act.is_some());
            let (Some(act), Some(Stamp { others, place, clock })) = (act, stamp) else { continue };
            promise(others, property, &mut messages, &mut said);
            said.push(Message::Relevant(Relevant {
                property: property as u32,
                number: messages[property],
                thread: execution.thread(id).0,
                after: (execution.thread(id).0 != place).then_some(place),
                clock,
                acts: vec![act],
                name: format!("T{}", execution.thread(id).0),
                place: id.0.to_string(),
                called: Vec::new(),
            }));
            messages[property] += 1;
        }
        if random.percent(10) {
            for (property, clocks) in clocks.iter_mut().enumerate() {
                promise(clocks.idle(), property, &mut messages, &mut said);
            }
        }
    }
    said.push(Message::Ended(Ended { messages }));
    said
}

/// What is found, and whether that is all.
fn observe(messages: &[Message], limits: Limits, properties: &[Property]) -> (Vec<OnlineFinding>, bool) {
    observe_looking(messages, limits, properties, || false)
}

/// The same; `look` says when to look ahead.
fn observe_looking(
    messages: &[Message],
    limits: Limits,
    properties: &[Property],
    mut look: impl FnMut() -> bool,
) -> (Vec<OnlineFinding>, bool) {
    let stages = stages(properties).unwrap();
    let mut session = Session::new(&stages, limits);
    let mut found = Vec::new();
    for message in messages {
        session.hear(parse(&message.line()).unwrap()).unwrap();
        found.extend(if look() { session.look_ahead(None) } else { session.advance(None) });
    }
    assert!(session.is_over());
    found.extend(session.advance(None));
    (found, session.is_exhaustive())
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at + 1));
    }
}

type Told = BTreeSet<(String, String)>;

fn reported(found: &[OnlineFinding]) -> Told {
    found.iter().map(|one| (one.property.clone(), one.steps.last().unwrap().place.clone())).collect()
}

/// What the definition says: every event at which a property tells something in some run that keeps the order of conflicts.
fn expected(execution: &Execution, acts: &[[Option<Act>; 2]], properties: &[Property]) -> Told {
    let oracle = Oracle::new(execution);
    let mut all = Told::new();
    for (number, property) in properties.iter().enumerate() {
        let instance = foresee_monitor::instance::Instance::new(property, 0);
        let step = |state: &foresee_monitor::instance::State, id: EventId| {
            let mut next = state.clone();
            let handlers = &property.bodies[0].handlers;
            let reported = match &acts[id.index()][number] {
                Some(Act::Event(event, args)) => instance.event(&mut next, *event, 0, args),
                Some(Act::Assign(var, value)) => instance.assign(&mut next, *var as usize, *value),
                None => return (next, false),
            };
            let is_wanted = |handler: usize| handlers[handler].category != "fail";
            (next, reported.indices().any(is_wanted))
        };
        let events = oracle.told(foresee_oracle::Causality::HappensBefore, &|_| true, instance.start(), step);
        all.extend(events.iter().map(|id| (property.name.clone(), id.0.to_string())));
    }
    all
}

/// Whether the clocks of the running program have more order than the definition: a notify counts as waking whoever waits, also one who never
/// goes on.
fn is_coarser(execution: &Execution) -> bool {
    let last = |thread| execution.ids().rev().find(|&id| execution.thread(id) == thread);
    let threads = (0..execution.thread_count() as u32).map(ThreadId);
    threads.filter_map(last).any(|id| matches!(execution.op(id), Op::Wait { .. }))
}

#[test]
fn any_order_of_messages_tells_what_the_definition_says() {
    let properties = properties();
    let (mut predicted, mut observed, mut in_places) = (0, 0, 0);
    for_each_seed(2_000, |seed| {
        let mut random = Random::new(seed ^ 0x5eed);
        let execution = random_execution(seed, &Config::default());
        let acts = acts(&mut random, &execution);
        let mut messages = messages(&mut random, &execution, &acts);
        let of_another =
            |message: &&Message| matches!(message, Message::Relevant(event) if event.after.is_some());
        in_places += messages.iter().filter(of_another).count();
        let (in_order, exhaustive) = observe(&messages, Limits::default(), &properties);
        assert!(exhaustive);
        let expected = expected(&execution, &acts, &properties);
        let told = reported(&in_order);
        assert!(told.is_subset(&expected), "{execution:?}{messages:?}");
        assert!(told == expected || is_coarser(&execution), "{execution:?}{messages:?}");
        for found in &in_order {
            predicted += u32::from(found.certainty() == Certainty::Predicted);
            observed += u32::from(found.certainty() == Certainty::Observed);
            assert!(found.whole && found.steps.len() <= messages.len());
        }
        shuffle(&mut random, &mut messages);
        let (shuffled, exhaustive) =
            observe_looking(&messages, Limits::default(), &properties, || random.percent(30));
        assert!(exhaustive);
        assert_eq!(reported(&shuffled), told, "{execution:?}{messages:?}");
    });
    println!("{predicted} predicted, {observed} observed, {in_places} events in the places of others");
    assert!(predicted > 100 && observed > 100 && in_places > 100);
}

/// What is shown is a run: it keeps the clocks, and the property tells it.
#[test]
fn ways_are_runs() {
    let properties = properties();
    for_each_seed(1_000, |seed| {
        let mut random = Random::new(seed ^ 0x3a9);
        let execution = random_execution(seed, &Config::default());
        let acts = acts(&mut random, &execution);
        let messages = messages(&mut random, &execution, &acts);
        let (found, _) = observe(&messages, Limits::default(), &properties);
        let oracle = Oracle::new(&execution);
        for one in found.iter().filter(|one| one.certainty() == Certainty::Predicted) {
            let events: Vec<EventId> =
                one.steps.iter().map(|step| EventId(step.place.parse().unwrap())).collect();
            for (at, &later) in events.iter().enumerate() {
                let number = usize::from(one.property == "Values");
                for earlier in execution.ids().filter(|id| acts[id.index()][number].is_some()) {
                    let comes_first = earlier != later && oracle.happens_before(earlier, later);
                    assert!(!comes_first || events[..at].contains(&earlier), "{events:?}\n{execution:?}");
                }
            }
        }
    });
}

/// Out of patience, some runs are left out; none is made up.
#[test]
fn impatience_only_leaves_out() {
    let properties = properties();
    let mut less = 0;
    for_each_seed(1_000, |seed| {
        let mut random = Random::new(seed ^ 0x77);
        let execution = random_execution(seed, &Config::default());
        let acts = acts(&mut random, &execution);
        let messages = messages(&mut random, &execution, &acts);
        let (all, _) = observe(&messages, Limits::default(), &properties);
        let few = Limits { patience: 1, breadth: Breadth::Most(1 + random.below(8)), ..Limits::default() };
        let (some, exhaustive) = observe(&messages, few, &properties);
        assert!(reported(&some).is_subset(&reported(&all)));
        if reported(&some) != reported(&all) {
            assert!(!exhaustive);
            less += 1;
        }
    });
    assert!(less > 0);
}

/// Threads that come one after the other, each of which does something relevant: clocks and the observer do not grow with them.
#[test]
fn threads_one_after_the_other_take_one_place() {
    let properties = properties();
    let stages = stages(&properties).unwrap();
    let mut session = Session::new(&stages, Limits { memory: 1 << 20, ..Limits::default() });
    let (mut clocks, mut number, mut longest) = (Clocks::new(), 0, 0);
    let mut next = || {
        number += 1;
        number - 1
    };
    let mut places = BTreeSet::new();
    for guest in 2..20_000 {
        let (child, starter) = (ThreadId(guest), guest % 2);
        let write = Op::Write { mem: Mem { addr: 0x1000, size: 4 }, value: None };
        let does = [
            (starter, Op::Fork { child }),
            (guest, Op::ThreadBegin),
            (guest, write),
            (guest, Op::ThreadEnd),
            (starter, Op::Join { child }),
        ];
        for (thread, op) in does {
            let event = Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op };
            let Some(Stamp { others, place, clock }) = clocks.event(&event, op == write) else { continue };
            for Idle { thread, place, clock, ended } in others {
                let after = (thread != place).then_some(place);
                session
                    .hear(Message::Silent(Silent {
                        property: 1,
                        number: next(),
                        thread,
                        after,
                        clock,
                        ended,
                    }))
                    .unwrap();
            }
            places.insert(place);
            longest = longest.max(clock.len());
            let Message::Relevant(event) = assign(next(), thread, &clock) else { unreachable!() };
            let after = (thread != place).then_some(place);
            session.hear(Message::Relevant(Relevant { after, ..event })).unwrap();
        }
        clocks.forget(child);
        if guest % 100 == 0 {
            session.advance(None);
        }
    }
    session.advance(None);
    assert!(places.len() <= 4 && longest <= 4, "{places:?}, {longest}");
    assert_eq!(session.events(), 19_998);
    assert!(session.is_exhaustive());
}

fn assign(number: u32, thread: u32, clock: &[(u32, u32)]) -> Message {
    Message::Relevant(Relevant {
        property: 1,
        number,
        thread,
        after: None,
        clock: clock.to_vec(),
        acts: vec![Act::Assign(0, number.into())],
        name: "T".to_owned(),
        place: "p".to_owned(),
        called: Vec::new(),
    })
}

fn lie(limits: Limits, messages: Vec<Message>) -> Option<Lie> {
    let properties = properties();
    let stages = stages(&properties).unwrap();
    let mut session = Session::new(&stages, limits);
    let mut lie = None;
    for message in messages {
        lie = lie.or(session.hear(message).err());
        session.advance(None);
    }
    lie
}

#[test]
fn lies_are_told() {
    let of = |messages: Vec<Message>| lie(Limits::default(), messages);
    let first = || assign(0, 1, &[(1, 1)]);
    assert_eq!(of(vec![first(), assign(1, 2, &[(1, 1), (2, 1)])]), None);
    assert_eq!(of(vec![first(), first()]), Some(Lie::Twice(0)));
    assert_eq!(of(vec![assign(3, 1, &[(1, 1)]), assign(3, 1, &[(1, 1)])]), Some(Lie::Twice(3)));
    assert_eq!(of(vec![first(), assign(1, 1, &[(1, 1)])]), Some(Lie::GoesBack(1, 1)));
    assert_eq!(of(vec![first(), assign(1, 1, &[(1, 3)])]), Some(Lie::GoesBack(1, 1)));
    assert_eq!(of(vec![first(), assign(1, 2, &[(1, 2), (2, 1)])]), Some(Lie::Future(1)));
    assert_eq!(of(vec![first(), assign(1, 2, &[(9, 1), (2, 1)])]), Some(Lie::Future(1)));
    let back = vec![first(), assign(1, 2, &[(1, 1), (2, 1)]), assign(2, 2, &[(2, 2)])];
    assert_eq!(of(back), Some(Lie::GoesBack(2, 2)));
    let end = |messages| Message::Ended(Ended { messages });
    assert_eq!(of(vec![first(), end(vec![0, 0])]), Some(Lie::AfterEnd(0)));
    assert_eq!(of(vec![end(vec![0, 0]), first()]), Some(Lie::AfterEnd(0)));
    assert_eq!(of(vec![end(vec![0])]), Some(Lie::Property(1)));
    let ended = Silent { property: 1, number: 1, thread: 1, after: None, clock: vec![(1, 1)], ended: true };
    let again = vec![first(), Message::Silent(ended.clone()), assign(2, 1, &[(1, 2)])];
    assert_eq!(of(again), Some(Lie::Ended(2, 1)));
    let in_place_of = |after, message| {
        let Message::Relevant(event) = message else { unreachable!() };
        Message::Relevant(Relevant { after: Some(after), ..event })
    };
    let next = || in_place_of(1, assign(2, 7, &[(1, 2)]));
    assert_eq!(of(vec![first(), Message::Silent(ended.clone()), next()]), None);
    assert_eq!(
        of(vec![first(), Message::Silent(ended), next(), assign(3, 1, &[(1, 3)])]),
        Some(Lie::Taken(3, 1))
    );
    assert_eq!(of(vec![first(), in_place_of(1, assign(1, 7, &[(1, 2)]))]), Some(Lie::Taken(1, 7)));
    assert_eq!(of(vec![first(), in_place_of(9, assign(1, 7, &[(9, 1)]))]), Some(Lie::Future(1)));
    let strange = |property, act| {
        let Message::Relevant(event) = first() else { unreachable!() };
        of(vec![Message::Relevant(Relevant { property, acts: vec![act], ..event })])
    };
    assert_eq!(strange(2, Act::Assign(0, 0)), Some(Lie::Property(2)));
    assert_eq!(strange(1, Act::Assign(2, 0)), Some(Lie::OutOfRange(0)));
    assert_eq!(strange(0, Act::Event(3, vec![])), Some(Lie::OutOfRange(0)));
    assert_eq!(strange(0, Act::Event(0, vec![1])), Some(Lie::OutOfRange(0)));
}

#[test]
fn too_much_is_refused() {
    let few = Limits { buffered: 10, memory: 4096, ..Limits::default() };
    let gap = (1..20).map(|number| assign(number, 1, &[(1, number + 1)])).collect();
    assert_eq!(lie(few, gap), Some(Lie::Buffered(10)));
    let many = (0..100).map(|number| assign(number, number, &[(number, 1)])).collect();
    assert_eq!(lie(few, many), Some(Lie::Memory(33)));
}

/// A program that never ends needs no more memory: what lies behind is forgotten, and what is found later is still shown.
#[test]
fn long_runs_are_forgotten() {
    let properties = properties();
    let stages = stages(&properties).unwrap();
    let mut session = Session::new(&stages, Limits { patience: 64, ..Limits::default() });
    let mut known = [[0_u32; 2]; 2];
    let mut found = Vec::new();
    for number in 0..100_000_u32 {
        let thread = (number / 7) % 2;
        let (own, other) = (thread as usize, 1 - thread as usize);
        known[own][own] += 1;
        // Now and then they meet.
        if number % 50 == 0 {
            known[own][other] = known[other][other];
        }
        let clock = (0..2).map(|of| (of, known[own][of as usize])).filter(|&(_, count)| count > 0).collect();
        let value = i64::from(number == 99_999);
        session
            .hear(Message::Relevant(Relevant {
                property: 1,
                number,
                thread,
                after: None,
                clock,
                acts: vec![Act::Assign(0, value)],
                name: format!("T{thread}"),
                place: format!("p{}", number % 3),
                called: Vec::new(),
            }))
            .unwrap();
        found.extend(session.advance(None));
    }
    found.extend(session.look_ahead(None));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!found[0].whole && (32..=65).contains(&found[0].steps.len()), "{}", found[0].steps.len());
    assert_eq!(found[0].steps.last().unwrap().number, 99_999);
}

/// Threads that know nothing of each other, and all that they say.
fn strangers(threads: u32, steps: u32) -> Vec<Message> {
    let all = (0..threads * steps).map(|number| {
        let thread = number % threads;
        assign(number, thread, &[(thread, number / threads + 1)])
    });
    all.chain([Message::Ended(Ended { messages: vec![0, threads * steps] })]).collect()
}

/// What there was no time for is done later, and comes to the same.
#[test]
fn looks_may_be_cut_short() {
    let properties = properties();
    let stages = stages(&properties).unwrap();
    let explored = |pauses: bool| {
        let mut session = Session::new(&stages, Limits::default());
        strangers(3, 10).into_iter().for_each(|message| session.hear(message).unwrap());
        let mut found = Vec::new();
        if pauses {
            found.extend(session.advance(Some(Instant::now())));
            assert!(session.is_paused() && session.is_over(), "{}", session.cuts());
            found.extend(session.look_ahead(Some(Instant::now())));
        }
        found.extend(session.advance(None));
        assert!(!session.is_paused());
        (reported(&found), session.cuts(), session.is_exhaustive())
    };
    assert_eq!(explored(true), explored(false));
    assert_eq!(explored(true).1, 11 * 11 * 11 + 1);
}

/// A program that got less memory leaves out runs, and is dropped if its messages alone are too much.
#[test]
fn the_limit_may_change() {
    let properties = properties();
    let stages = stages(&properties).unwrap();
    let explored = |memory: usize| {
        let mut session = Session::new(&stages, Limits::default());
        let limited = session.limit(memory);
        strangers(3, 30).into_iter().for_each(|message| session.hear(message).unwrap());
        session.advance(None);
        (limited, session.is_exhaustive())
    };
    assert_eq!(explored(256 << 20), (Ok(()), true));
    assert_eq!(explored(256 << 10), (Ok(()), false));
    let mut session = Session::new(&stages, Limits::default());
    strangers(100, 1).into_iter().for_each(|message| session.hear(message).unwrap());
    assert_eq!(session.limit(8192), Err(Lie::Memory(100)));
}
