//! What monitors in a program cost: an optimiser of bytecode that iterates all the time, unmonitored and with properties over its
//! collections and iterators, all in one run.

mod collections;
mod optimiser;

use foresee::{Life, Monitor};

use crate::Took;
use collections::{Probe, Unmonitored};

foresee::monitor! {
    property NextAfterEnd(i) {
        event next(i);
        event finished(i);
        ltl: [](finished -> o [] !next)
        @violation { count; }
    }

    property UnsafeIterator(c, i) {
        event create(c, i);
        event update(c);
        event next(i);
        ere: create next* update+ next
        @match { count; }
    }

    property UnsafeMapIterator(m, c, i) {
        event create_coll(m, c);
        event create_iter(c, i);
        event use_iter(i);
        event update_map(m);
        ere: create_coll update_map* create_iter use_iter* update_map+ use_iter
        @match { count; }
    }

    property HasNext(i) {
        event hasnext(i);
        event next(i);
        fsm: start [ next -> unsafe hasnext -> safe ]
             safe [ next -> start hasnext -> safe ]
             unsafe [ next -> unsafe hasnext -> safe ]
        @unsafe { count; }
    }

    perthread property HasNextHere(i) {
        event hasnext(i);
        event next(i);
        fsm: start [ next -> unsafe hasnext -> safe ]
             safe [ next -> start hasnext -> safe ]
             unsafe [ next -> unsafe hasnext -> safe ]
        @unsafe { count; }
    }

    perthread property UnsafeIteratorHere(c, i) {
        event create(c, i);
        event update(c);
        event next(i);
        ere: create next* update+ next
        @match { count; }
    }
}

/// The events of a property, where the program does them.
macro_rules! probe {
    ($name:ident: $($event:ident($($arg:ident),*) $body:block)*) => {
        struct $name;

        impl Probe for $name {
            type Life = Life;

            $(
                #[inline]
                fn $event($($arg: &Life),*) $body
            )*
        }
    };
}

probe! { Ends:
    next(iterator) { next_after_end::next(iterator.id()) }
    finished(iterator) { next_after_end::finished(iterator.id()) }
}

probe! { Iterators:
    create(collection, iterator) { unsafe_iterator::create(collection.id(), iterator.id()) }
    update(collection) { unsafe_iterator::update(collection.id()) }
    next(iterator) { unsafe_iterator::next(iterator.id()) }
}

probe! { IteratorsHere:
    create(collection, iterator) { unsafe_iterator_here::create(collection.id(), iterator.id()) }
    update(collection) { unsafe_iterator_here::update(collection.id()) }
    next(iterator) { unsafe_iterator_here::next(iterator.id()) }
}

probe! { Maps:
    view(map, view) { unsafe_map_iterator::create_coll(map.id(), view.id()) }
    create(collection, iterator) { unsafe_map_iterator::create_iter(collection.id(), iterator.id()) }
    update(map) { unsafe_map_iterator::update_map(map.id()) }
    next(iterator) { unsafe_map_iterator::use_iter(iterator.id()) }
}

// In Java an iterator is asked before each step; a `for` loop does it at every one.
probe! { Checked:
    next(iterator) { has_next::hasnext(iterator.id()); has_next::next(iterator.id()) }
}

probe! { CheckedHere:
    next(iterator) { has_next_here::hasnext(iterator.id()); has_next_here::next(iterator.id()) }
}

/// Only counts what the others report.
struct Counting;

thread_local! {
    static EVENTS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

fn count() {
    EVENTS.set(EVENTS.get() + 1);
}

impl Probe for Counting {
    type Life = ();

    fn create((): &(), (): &()) {
        count();
    }

    fn update((): &()) {
        count();
    }

    fn next((): &()) {
        count();
    }
}

const ROUNDS: usize = 5;

/// Optimises so many functions with each property.
pub(crate) fn run(functions: u64) {
    let expected = optimiser::run::<Counting>(functions);
    let events = EVENTS.get();
    type Run = fn(u64) -> u64;
    let rows: [(&str, Run, &Monitor, f64); 6] = [
        ("NextAfterEnd (ltl)", optimiser::run::<Ends>, &next_after_end::MONITOR, 10.0),
        ("UnsafeMapIterator (ere)", optimiser::run::<Maps>, &unsafe_map_iterator::MONITOR, 10.0),
        ("UnsafeIterator (ere)", optimiser::run::<Iterators>, &unsafe_iterator::MONITOR, 50.0),
        ("  perthread", optimiser::run::<IteratorsHere>, &unsafe_iterator_here::MONITOR, 50.0),
        ("HasNext (fsm)", optimiser::run::<Checked>, &has_next::MONITOR, 50.0),
        ("  perthread", optimiser::run::<CheckedHere>, &has_next_here::MONITOR, 50.0),
    ];
    let mut best = [f64::INFINITY; 7];
    for _ in 0..ROUNDS {
        let runs = [optimiser::run::<Unmonitored> as Run].into_iter().chain(rows.map(|row| row.1));
        for (best, run) in best.iter_mut().zip(runs) {
            let (took, result) = Took::of(events, || run(functions));
            assert_eq!(result, expected, "monitors change nothing");
            *best = best.min(took.seconds);
        }
    }
    let alone = best[0];
    println!("{functions} functions optimised, {events} collection events, best of {ROUNDS} runs each");
    println!("{:<26} {:>8} {:>10} {:>9} {:>11}", "property", "seconds", "overhead", "target", "ns an event");
    println!("{:<26} {alone:>8.3} {:>10} {:>9} {:>11.1}", "unmonitored", "", "", alone * 1e9 / events as f64);
    for ((name, _, monitor, target), seconds) in rows.iter().zip(&best[1..]) {
        let overhead = (seconds / alone - 1.0) * 100.0;
        let per_event = (seconds - alone) * 1e9 / events as f64;
        println!("{name:<26} {seconds:>8.3} {overhead:>9.1}% {target:>8.0}% {per_event:>11.1}");
        assert!(monitor.counts().iter().all(|count| count.count == 0), "{name}: this program is right");
    }
}
