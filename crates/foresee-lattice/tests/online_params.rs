//! The online observer of properties with parameters, against the engine that looks at whole executions.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::time::Duration;

use foresee_lattice::model_name::ModelName;
use foresee_lattice::online::{
    Ended, Limits, Message, OnlineFinding, Relevant, Session, Silent, Speaker, parse, stages,
};
use foresee_lattice::predict::{PredictedVerdicts, Prediction};
use foresee_lattice::property::ObservedVerdicts;
use foresee_monitor::property::Property;
use foresee_oracle::{Config, Random, for_each_seed, random_execution};
use foresee_trace::text::TextReader;
use foresee_trace::{Arg, Event, Execution, ExecutionBuilder, LocId, Mode, Names, Op, ThreadId, Trust};
use foresee_witness::analysis::{Analysis, Limits as Whole};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Engine, Stream};
use foresee_witness::judge::Certainty;

/// Events that bind one parameter, both, the thread, or none; variables; bindings that nothing connects.
const SPEC: &str = r#"
property Iterator(c, i) {
    event create(c, i);
    event update(c);
    event next(i);
    ere: create next* update+ next
    @match { report "{c} {i}"; }
}
property Owner(c, thread) {
    event update(c, thread);
    event create(c, i, thread) when i > 0;
    event next(i);
    ere: update next update | create next
    @match { report "{c} by {thread}"; }
    @fail { count; reset; }
}
property Together(c, i) {
    event update(c);
    event next(i);
    event create(c, i);
    ere: update next create
    @match { report "{c} with {i}"; }
}
connected property Connected(c, i) {
    event update(c);
    event next(i);
    event create(c, i);
    ere: update next create
    @match { report "{c} with {i}"; }
}
full-binding property Full(c, i) {
    event update(c);
    event create(c, i);
    ptltl: create -> <*> update
    @violation { report "{c} {i}"; }
}
property Locks(l) {
    event acquire(l);
    event release(l);
    event stop;
    ere: acquire release stop acquire
    @match { report "{l}"; }
}
"#;

fn properties() -> Vec<Property> {
    foresee_monitor::compile(SPEC).unwrap_or_else(|problems| panic!("{problems:#?}")).properties
}

/// The execution with named events put into it, each event at a place of its own.
fn with_events(random: &mut Random, execution: &Execution) -> Execution {
    let mut names = execution.names().clone();
    let mut builder = ExecutionBuilder::default();
    let [create, update, next, stop] = ["create", "update", "next", "stop"].map(|name| names.intern(name));
    let (share, objects) = (20 + random.below(60) as u32, 1 + random.below(2));
    let mut number = 0;
    let mut push = |names: &mut Names, thread: ThreadId, op: Op<'_>| {
        number += 1;
        let loc = names.location_from_text(&format!("place:{number}"));
        builder.push(&Event { thread, loc, op }).unwrap();
    };
    for id in execution.ids() {
        let Event { thread, op, .. } = execution.event(id);
        // Before the event: a wait returns with it.
        while random.percent(share) {
            let object = |random: &mut Random| Arg::Int(random.below(objects) as i64);
            let (c, i) = (object(random), object(random));
            let (name, args): (_, &[Arg]) = match random.below(7) {
                0 | 1 => (create, &[c, i]),
                2 | 3 => (update, &[c]),
                4 | 5 => (next, &[i]),
                _ => (stop, &[]),
            };
            push(&mut names, thread, Op::Named { name, args });
        }
        push(&mut names, thread, op);
    }
    builder.finish(names)
}

/// A property, its verdict, and where.
type Told = BTreeSet<(String, String, String)>;

/// What the engine says that looks at the whole execution.
fn offline(execution: &Execution, properties: &[Property]) -> Told {
    let prediction =
        Prediction { model: ModelName::Hb, counterexamples: usize::MAX, ..Prediction::default() };
    let whole = Whole {
        deadline: None,
        rest: Duration::from_secs(60),
        events: u64::MAX,
        trace_threads: u64::MAX,
        threads: 1,
        memory: usize::MAX,
        interrupt: None,
    };
    let engine = Engine {
        name: "property",
        rest: false,
        stream: Some(Stream::Along(Box::new(ObservedVerdicts::new(properties, "")))),
        whole: Some(Box::new(PredictedVerdicts::new(properties, "", prediction))),
    };
    let mut analysis = Analysis::new(vec![engine], AtomicFunctions::default(), whole, true);
    for id in execution.ids() {
        analysis.event(execution.names(), &execution.event(id));
    }
    let analysed = analysis.finish(execution.names(), Trust::whole(), &mut |_| {});
    assert!(analysed.engines.iter().all(|engine| engine.refused == 0 && engine.undecided == 0));
    let place = |loc: LocId| execution.names().location_text(loc);
    let reported = analysed.findings.iter().map(|finding| {
        let said = finding.statement.as_ref().unwrap();
        let event = foresee_trace::EventId(finding.events[0] as u32);
        (said.property.clone(), said.category.clone(), place(execution.loc(event)))
    });
    reported.collect()
}

/// What a program that does the execution says.
fn messages(random: &mut Random, execution: &Execution, properties: &[Property]) -> Vec<Message> {
    let numbered = properties.iter().zip(0..);
    let mut speakers: Vec<Speaker<'_>> =
        numbered.map(|(property, position)| Speaker::new(position, property)).collect();
    let mut all = Vec::new();
    // These programs have threads that nobody forked: all are known from the beginning.
    let threads = execution.thread_count() as u32;
    for property in 0..properties.len() as u32 {
        all.extend((0..threads).map(|thread| {
            let (number, clock) = (thread, Vec::new());
            Message::Silent(Silent { property, number, thread, after: None, clock, ended: false })
        }));
    }
    let later = |said: &Message| {
        let mut said = said.clone();
        match &mut said {
            Message::Relevant(Relevant { number, .. }) | Message::Silent(Silent { number, .. }) => {
                *number += threads;
            }
            other => panic!("{other:?}"),
        }
        said
    };
    for id in execution.ids() {
        let looks = random.percent(10);
        for speaker in &mut speakers {
            speaker.event(execution.names(), &execution.event(id), &mut |said| all.push(later(said)));
            if looks {
                speaker.idle(&mut |said| all.push(later(said)));
            }
        }
    }
    let messages = speakers.iter().map(|speaker| speaker.said() + threads).collect();
    all.push(Message::Ended(Ended { messages }));
    all
}

struct Observed {
    found: Vec<OnlineFinding>,
    exhaustive: bool,
    left_out: u64,
}

fn observe(
    messages: &[Message],
    limits: Limits,
    properties: &[Property],
    mut look: impl FnMut() -> bool,
) -> Observed {
    let stages = stages(properties).unwrap();
    let mut session = Session::new(&stages, limits);
    let mut found = Vec::new();
    for message in messages {
        session.hear(parse(&message.line()[..message.line().len() - 1]).unwrap()).unwrap();
        found.extend(if look() { session.look_ahead(None) } else { session.advance(None) });
    }
    assert!(session.is_over());
    found.extend(session.advance(None));
    assert_eq!(session.refused(), 0);
    are_runs(messages, &found, properties);
    Observed { found, exhaustive: session.is_exhaustive(), left_out: session.left_out() }
}

/// The other runs that are reported keep the order of the clocks, of the binding's events and of all others.
fn are_runs(messages: &[Message], found: &[OnlineFinding], properties: &[Property]) {
    for one in found {
        let Some(witness) = &one.witness else {
            assert_eq!(one.certainty(), Certainty::Observed);
            continue;
        };
        assert_eq!(one.certainty(), Certainty::Predicted);
        assert_eq!(witness.events().len(), one.steps.len());
        let property = properties.iter().position(|property| property.name == one.property).unwrap() as u32;
        let clock = |event: &(u32, u32)| {
            messages.iter().find_map(|message| match message {
                Message::Relevant(relevant)
                    if relevant.property == property
                        && relevant.after.unwrap_or(relevant.thread) == event.0
                        && relevant.clock.contains(event) =>
                {
                    Some(relevant.clock.clone())
                }
                _ => None,
            })
        };
        for (at, event) in witness.events().iter().enumerate() {
            let clock = clock(event).unwrap();
            // Nothing that comes later in the run comes before it.
            assert!(witness.events()[at + 1..].iter().all(|(thread, position)| {
                clock.iter().all(|(of, count)| of != thread || count < position)
            }));
        }
    }
}

fn reported(observed: &Observed) -> Told {
    let reported = |one: &OnlineFinding| {
        (one.property.clone(), one.category.clone(), one.steps.last().unwrap().place.clone())
    };
    observed.found.iter().map(reported).collect()
}

/// So many steps of a run are kept at least, and at most; then one more is reported.
const KEPT: usize = 32;
const KEPT_AT_MOST: usize = 64;

/// A run that is reported has all its steps, from the beginning of the program; or it is long, and has the last ones.
fn keeps_enough(found: &OnlineFinding) {
    let begins = found.witness.as_ref().unwrap().after().iter().all(|&(_, done)| done == 0);
    assert_eq!(found.whole, begins, "{found:?}");
    assert!(found.steps.len() <= KEPT_AT_MOST + 1, "{found:?}");
    assert!(found.whole || found.steps.len() > KEPT, "{found:?}");
}

/// Whether the tests run for more than one seed.
fn ran_many() -> bool {
    std::env::var_os("FORESEE_TEST_SEED").is_none()
}

/// How many events a property looks at.
fn relevant(messages: &[Message], of: u32) -> usize {
    let is_of = |message: &&Message| matches!(message, Message::Relevant(event) if event.property == of);
    messages.iter().filter(is_of).count()
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at + 1));
    }
}

/// Whether the clocks of the running program have more order than the definition: a notify counts as waking whoever waits, also one who never
/// goes on, and accesses of one word count as accesses of the same bytes.
fn is_coarser(execution: &Execution) -> bool {
    let last = |thread| execution.ids().rev().find(|&id| execution.thread(id) == thread);
    let threads = (0..execution.thread_count() as u32).map(ThreadId);
    let ends_waiting = threads.filter_map(last).any(|id| matches!(execution.op(id), Op::Wait { .. }));
    let mems: Vec<_> = execution.ids().filter_map(|id| execution.op(id).mem()).collect();
    let shares_word = (mems.iter()).any(|a| mems.iter().any(|b| a.addr / 8 == b.addr / 8 && !a.overlaps(*b)));
    ends_waiting || shares_word
}

#[test]
fn any_order_of_messages_tells_what_is_told_offline() {
    let properties = properties();
    let (mut predicted, mut of_each) = (0, BTreeSet::new());
    for_each_seed(1_500, |seed| {
        let mut random = Random::new(seed ^ 0xb1d);
        let execution = with_events(&mut random, &random_execution(seed, &Config::default()));
        let expected = offline(&execution, &properties);
        let mut messages = messages(&mut random, &execution, &properties);
        let in_order = observe(&messages, Limits::default(), &properties, || false);
        // Of a run that is too long to be kept it is not known whether a property looks at a binding that nothing connects.
        let is_long = (0..properties.len() as u32).any(|nth| relevant(&messages, nth) > KEPT_AT_MOST);
        assert!(in_order.exhaustive || is_long);
        let told = reported(&in_order);
        assert!(told.is_subset(&expected), "{execution:?}");
        assert!(told == expected || !in_order.exhaustive || is_coarser(&execution), "{execution:?}");
        for one in in_order.found.iter().filter(|one| one.witness.is_some()) {
            predicted += 1;
            of_each.insert(one.property.clone());
            keeps_enough(one);
            assert!(!one.message.contains('{') && !one.message.contains('?'), "{one:?}");
        }
        shuffle(&mut random, &mut messages);
        let shuffled = observe(&messages, Limits::default(), &properties, || random.percent(30));
        assert!(shuffled.exhaustive || is_long);
        match in_order.exhaustive && shuffled.exhaustive {
            true => assert_eq!(reported(&shuffled), told, "{execution:?}"),
            false => assert!(reported(&shuffled).is_subset(&expected), "{execution:?}"),
        }
    });
    println!("{predicted} predicted, of {of_each:?}");
    // Of what nothing connects, the one property tells, the other does not.
    assert!(!of_each.contains("Connected"));
    assert!(!ran_many() || (predicted > 100 && of_each.len() == properties.len() - 1));
}

/// The update could have come between any two of the other thread's events. Of the longest of these runs only the last steps are kept,
/// which is said; it is found all the same.
#[test]
fn the_longest_run_is_found_and_not_whole() {
    let properties = properties();
    let nexts = KEPT_AT_MOST;
    let mut text = "T0|event(update, 0)|first\nT1|event(create, 0, 0)|second\n".to_owned();
    text.extend((1..=nexts).map(|nth| format!("T1|event(next, 0)|next:{nth}\n")));
    let execution = Execution::read(&mut TextReader::new(text.as_bytes())).unwrap();
    let messages = messages(&mut Random::new(0), &execution, &properties);
    let observed = observe(&messages, Limits::default(), &properties, || false);
    assert!(observed.exhaustive);
    assert_eq!(reported(&observed), offline(&execution, &properties));
    let predicted: Vec<&OnlineFinding> =
        observed.found.iter().filter(|one| one.property == "Iterator" && one.witness.is_some()).collect();
    assert_eq!(predicted.len(), nexts);
    for one in predicted {
        keeps_enough(one);
        let is_last = one.steps.last().unwrap().place == format!("next:{nexts}");
        assert_eq!(one.whole, !is_last, "{one:?}");
    }
}

/// With too many bindings, some are left alone, which is said; nothing is made up.
#[test]
fn too_many_bindings_only_leave_out() {
    let properties = properties();
    let mut less = 0;
    for_each_seed(500, |seed| {
        let mut random = Random::new(seed ^ 0x1e55);
        let execution = with_events(&mut random, &random_execution(seed, &Config::default()));
        let expected = offline(&execution, &properties);
        let messages = messages(&mut random, &execution, &properties);
        let few = Limits { slices: 4, weigh_after: 4, patience: 8, ..Limits::default() };
        let some = observe(&messages, few, &properties, || false);
        assert!(reported(&some).is_subset(&expected), "{execution:?}");
        if reported(&some) != expected {
            assert!(!some.exhaustive || is_coarser(&execution), "{execution:?}");
            less += u32::from(some.left_out > 0);
        }
    });
    println!("{less} executions with less");
    assert!(!ran_many() || less > 20);
}

/// A long run of two threads that meet now and then.
fn long_execution(random: &mut Random) -> Execution {
    let mut names = Names::default();
    let threads = [names.thread("T0"), names.thread("T1")];
    let lock = names.lock("l");
    let [create, update, next, stop] = ["create", "update", "next", "stop"].map(|name| names.intern(name));
    let mut builder = ExecutionBuilder::default();
    for number in 0..700 {
        let thread = threads[random.below(2)];
        let loc = names.location_from_text(&format!("place:{number}"));
        let mut push = |op: Op<'_>| builder.push(&Event { thread, loc, op }).unwrap();
        let zero = Arg::Int(0);
        match random.below(10) {
            0..3 => push(Op::Named { name: update, args: &[zero] }),
            3..6 => push(Op::Named { name: next, args: &[zero] }),
            6 => push(Op::Named { name: create, args: &[zero, zero] }),
            7 => push(Op::Named { name: stop, args: &[] }),
            _ => {
                push(Op::Acquire { lock, mode: Mode::Exclusive, tried: false });
                push(Op::Release { lock, mode: Mode::Exclusive });
            }
        }
    }
    builder.finish(names)
}

/// Neither the messages nor the runs are kept from the beginning on: what is reported is the same, and checked.
#[test]
fn long_runs_report_what_is_reported_offline() {
    let properties = properties();
    let mut of_the_middle = 0;
    for_each_seed(8, |seed| {
        let mut random = Random::new(seed ^ 0x10e6);
        let execution = long_execution(&mut random);
        let expected = offline(&execution, &properties);
        let mut messages = messages(&mut random, &execution, &properties);
        for _ in 0..2 {
            let all = observe(&messages, Limits::default(), &properties, || random.percent(3));
            // Whether a property looks at a binding that nothing connects is not known in the middle of a run.
            let connects = |(property, ..): &&(String, String, String)| {
                property != "Together" && property != "Connected"
            };
            let reported = reported(&all);
            assert!(reported.is_subset(&expected));
            let (some, all_of): (Vec<_>, Vec<_>) =
                (reported.iter().filter(connects).collect(), expected.iter().filter(connects).collect());
            assert_eq!(some, all_of);
            let middle = all.found.iter().filter(|one| one.witness.is_some() && !one.whole);
            of_the_middle += middle.count();
            // Not in order, but not much later either: what is missing must not be more than may wait.
            messages.chunks_mut(64).for_each(|some| shuffle(&mut random, some));
        }
    });
    println!("{of_the_middle} predicted in the middle of runs");
    assert!(!ran_many() || of_the_middle > 50);
}
