//! Monitors: events per second on the shapes that parametric monitoring is known for, beside a naive monitor that keeps
//! a table from bindings to states and looks through all of it at every event.

use foresee_monitor::watch::Watch;
use foresee_monitor::{Compiled, compile};

use crate::monitor_naive::Naive;
use crate::{Took, peak_memory};

const HAS_NEXT: &str = "property HasNext(i) {
    event hasnext(i);
    event next(i);
    fsm: start [ next -> unsafe hasnext -> safe ]
         safe [ next -> start hasnext -> safe ]
         unsafe [ next -> unsafe hasnext -> safe ]
    @unsafe { count; }
}";

const UNSAFE_ITERATOR: &str = "property UnsafeIterator(c, i) {
    event create(c, i);
    event update(c);
    event next(i);
    ere: create next* update+ next
    @match { count; }
}";

const UNSAFE_MAP_ITERATOR: &str = "property UnsafeMapIterator(m, c, i) {
    event create_coll(m, c);
    event create_iter(c, i);
    event update_map(m);
    event use_iter(i);
    ere: create_coll update_map* create_iter use_iter* update_map+ use_iter
    @match { count; }
}";

const SAFE_ITERATOR: &str = "full-binding property SafeIterator(c, i) {
    event create(c, i);
    event update(c);
    event next(i);
    ltl: [](next => (not update S create))
    @violation { count; }
}";

const BARE: &str = "property Bare {
    event open;
    event put;
    event close;
    ere: (open put* close)*
    @fail { count; reset; }
}";

/// A shape: its spec, the target in million events a second, and the events of `count` iterators.
struct Shape {
    name: &'static str,
    spec: &'static str,
    target: f64,
    events: Program,
}

/// A program with so many iterators, which does its steps on a monitor.
type Program = fn(u64, &mut Monitored<'_>);
type Monitored<'a> = dyn FnMut(Step<'_>) + 'a;

/// What happens in a program.
pub(crate) enum Step<'a> {
    /// An event and its objects.
    Event(u32, &'a [u64]),
    /// The object's life ends.
    Gone(u64),
}

const PER_ITERATOR: u64 = 16;
const COLLECTIONS: u64 = 1000;

fn has_next(count: u64, step: &mut Monitored<'_>) {
    for iterator in 0..count {
        for _ in 0..PER_ITERATOR / 2 {
            step(Step::Event(0, &[iterator]));
            step(Step::Event(1, &[iterator]));
        }
        step(Step::Gone(iterator));
    }
}

/// Collections live on; each iterator is created, used, and its collection updated when it is done.
fn iterators(count: u64, step: &mut Monitored<'_>) {
    for nth in 0..count {
        let (collection, iterator) = (nth % COLLECTIONS, COLLECTIONS + nth);
        step(Step::Event(0, &[collection, iterator]));
        (0..PER_ITERATOR - 2).for_each(|_| step(Step::Event(2, &[iterator])));
        step(Step::Event(1, &[collection]));
        step(Step::Gone(iterator));
    }
}

/// Maps live on; each collection of a map's keys has one iterator, and the map is updated when that is done.
fn map_iterators(count: u64, step: &mut Monitored<'_>) {
    for nth in 0..count {
        let (map, collection, iterator) =
            (nth % COLLECTIONS, COLLECTIONS + 2 * nth, COLLECTIONS + 2 * nth + 1);
        step(Step::Event(0, &[map, collection]));
        step(Step::Event(1, &[collection, iterator]));
        (0..PER_ITERATOR - 3).for_each(|_| step(Step::Event(3, &[iterator])));
        step(Step::Event(2, &[map]));
        step(Step::Gone(iterator));
        step(Step::Gone(collection));
    }
}

fn bare(count: u64, step: &mut Monitored<'_>) {
    for _ in 0..count {
        step(Step::Event(0, &[]));
        (0..PER_ITERATOR - 2).for_each(|_| step(Step::Event(1, &[])));
        step(Step::Event(2, &[]));
    }
}

const SHAPES: [Shape; 5] = [
    Shape { name: "HasNext", spec: HAS_NEXT, target: 60.0, events: has_next },
    Shape { name: "UnsafeIterator", spec: UNSAFE_ITERATOR, target: 25.0, events: iterators },
    Shape { name: "UnsafeMapIterator", spec: UNSAFE_MAP_ITERATOR, target: 10.0, events: map_iterators },
    Shape { name: "SafeIterator (ltl)", spec: SAFE_ITERATOR, target: 0.0, events: iterators },
    Shape { name: "no parameters", spec: BARE, target: 200.0, events: bare },
];

/// Runs all shapes with about this many events, and the naive monitor with a hundredth of them.
pub(crate) fn run(events: u64) {
    println!(
        "{:<20} {:>9} {:>10} {:>8} {:>12} {:>12} {:>11} {:>9}",
        "shape", "M events", "M/s", "ns", "ns program", "target M/s", "instances", "x naive"
    );
    for shape in &SHAPES {
        let compiled = match compile(shape.spec) {
            Ok(compiled) => compiled,
            Err(problems) => return eprintln!("{}: {problems:?}", shape.name),
        };
        let naive = naive(shape, &compiled, events / 100);
        let program = program_alone(shape, events);
        for events in [events / 10, events] {
            let (took, built) = ours(shape, &compiled, events);
            let target = if shape.target > 0.0 { format!("{}", shape.target) } else { "linear".to_owned() };
            println!(
                "{:<20} {:>9.1} {:>10.1} {:>8.1} {:>12.1} {:>12} {:>11} {:>9.1}",
                shape.name,
                events as f64 / 1e6,
                took.millions_per_second(),
                took.nanos(),
                program.nanos(),
                target,
                built,
                naive.nanos() / took.nanos(),
            );
        }
    }
    println!("most memory ever: {} MiB", peak_memory() / 1024);
}

fn ours(shape: &Shape, compiled: &Compiled, events: u64) -> (Took, u64) {
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut verdicts = 0u64;
    let (took, ()) = Took::of(events, || {
        (shape.events)(events / PER_ITERATOR, &mut |step| match step {
            Step::Event(event, objects) => {
                if watch.event(event, 0, objects, &mut |_| verdicts += 1).is_err() {
                    verdicts = u64::MAX;
                }
            }
            Step::Gone(object) => _ = watch.object_gone(object),
        });
    });
    assert_eq!(verdicts, 0, "these programs are right");
    (took, watch.sizes().map(|size| size.built).sum())
}

/// What the program that makes the events takes by itself; it is part of all other figures.
fn program_alone(shape: &Shape, events: u64) -> Took {
    let mut seen = 0;
    let (took, ()) = Took::of(events, || {
        (shape.events)(events / PER_ITERATOR, &mut |step| {
            if let Step::Event(event, objects) = step {
                seen += std::hint::black_box(u64::from(event) + objects.len() as u64);
            }
        });
    });
    std::hint::black_box(seen);
    took
}

fn naive(shape: &Shape, compiled: &Compiled, events: u64) -> Took {
    let mut naive = Naive::new(&compiled.properties[0]);
    let (took, ()) = Took::of(events, || {
        (shape.events)(events / PER_ITERATOR, &mut |step| {
            if let Step::Event(event, objects) = step {
                naive.event(event, objects);
            }
        });
    });
    took
}
