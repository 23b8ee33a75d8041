//! Monitors and their objects: who they are, when they end, and where the state about them is kept.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use foresee::{Life, Tracked};

foresee::monitor! {
    property UsedAfterClose(f) {
        event close_it(f);
        event use_it(f);
        ere: close_it use_it
        @match { count; }
    }

    perthread property UsedAfterCloseHere(f) {
        event close_here(f);
        event use_here(f);
        ere: close_here use_here
        @match { count; }
    }

    property Leak(f) {
        event open_it(f);
        event end_object(f);
        event end_program;
        ere: open_it (end_object | end_program)
        @match { count; }
    }

    property Temporal(i) {
        event go(i);
        event stop(i);
        ltl: [](stop -> o [] !go)
        @violation { count; }
    }

    property LeftOpen(f) {
        event opened(f);
        event closed(f);
        event end_object(f);
        ere: opened end_object
        @match { count; }
    }

    property HeldAfterDeath(c, i) {
        event make(c, i);
        event use_coll(c);
        event use_iter(i);
        ere: make use_coll* use_iter use_coll
        @match { count; }
    }
}

#[test]
fn an_address_is_used_again() {
    let place = [5_u64];
    for _ in 0..3 {
        used_after_close::use_it(&place);
        used_after_close::close_it(&place);
        foresee::release(&place);
    }
    assert_eq!(used_after_close::MONITOR.count("match"), 0);
    assert_eq!(used_after_close::MONITOR.instances(), 0);
    used_after_close::close_it(&place);
    used_after_close::use_it(&place);
    assert_eq!(used_after_close::MONITOR.count("match"), 1);
}

/// Instances may outlive one of their objects; what lies at its address then is not the same.
#[test]
fn an_address_is_used_again_while_its_object_is_mourned() {
    let (coll, iter) = (Box::new([1_u64]), [2_u64]);
    held_after_death::make(&*coll, &iter);
    held_after_death::use_iter(&iter);
    foresee::release(&iter);
    assert_eq!(held_after_death::MONITOR.instances(), 1, "the collection can still be used");
    let other = [3_u64];
    held_after_death::make(&other, &iter);
    held_after_death::use_coll(&other);
    assert_eq!(held_after_death::MONITOR.count("match"), 0);
    held_after_death::use_coll(&*coll);
    assert_eq!(held_after_death::MONITOR.count("match"), 1);
}

#[test]
fn an_object_that_holds_its_state_ends() {
    let (open, closed, unused, place) = (Life::new(), Life::new(), Life::new(), [1_u64]);
    left_open::opened(open.id());
    left_open::opened(closed.id());
    left_open::closed(closed.id());
    drop((closed, unused));
    assert_eq!(left_open::MONITOR.count("match"), 0);
    drop(open);
    assert_eq!(left_open::MONITOR.count("match"), 1);
    left_open::opened(&place);
    foresee::release(&place);
    assert_eq!(left_open::MONITOR.count("match"), 2);
}

#[test]
fn formulas_forget_dead_objects() {
    for _ in 0..100 {
        let object = Life::new();
        temporal::go(object.id());
        temporal::stop(object.id());
    }
    assert_eq!(temporal::MONITOR.instances(), 0);
}

#[test]
fn threads_hear_of_releases() {
    let place = Arc::new(AtomicU64::new(0));
    used_after_close_here::close_here(&*place);
    let other = Arc::clone(&place);
    std::thread::spawn(move || foresee::release(&*other)).join().unwrap();
    used_after_close_here::use_here(&*place);
    assert_eq!(used_after_close_here::MONITOR.count("match"), 0);
}

#[test]
fn ends_are_events() {
    let file = Tracked::new(vec![1]);
    leak::open_it(file.id());
    drop(file);
    assert_eq!(leak::MONITOR.count("match"), 1);
    let file = Tracked::new(vec![1]);
    leak::open_it(file.id());
    foresee::end_program();
    assert_eq!(leak::MONITOR.count("match"), 2);
    assert_eq!(file.into_inner(), [1]);
}

/// The same properties twice: one is told of objects with lives, which hold its states, the other of addresses, which are looked up.
macro_rules! twice {
    ($($spec:tt)*) => {
        mod in_objects {
            foresee::monitor! { $($spec)* }
        }
        mod in_tables {
            foresee::monitor! { $($spec)* }
        }
    };
}

twice! {
    property Machine(o) {
        event a(o);
        event b(size, o) when size > 4;
        event c(o);
        fsm: start [ a -> first ] first [ b -> second, a -> start ] second [ c -> third, default -> second ] third [ ]
        @second { count; }
        @third { count; reset; }
        @fail { count; }
    }

    property Pattern(o) {
        event a(o);
        event b(size, o);
        creation event c(o);
        ere: (c a* b)+ a
        @match { count; reset; }
        @fail { count; }
    }

    property Formula(o) {
        event a(o);
        event b(size, o);
        event c(o);
        ltl: [](a -> (!b U c))
        @violation { count; }
    }
}

#[test]
fn instances_in_objects_say_the_same() {
    let mut state = 1_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    for _ in 0..2000 {
        let lives: Vec<Life> = (0..3).map(|_| Life::new()).collect();
        let places: Vec<Box<[u8; 1]>> = (0..3).map(|_| Box::new([0])).collect();
        for _ in 0..below(12) {
            let nth = below(3) as usize;
            let (life, place) = (&lives[nth], &*places[nth]);
            let size = below(8);
            match below(3) {
                0 => {
                    in_objects::machine::a(life.id());
                    in_objects::pattern::a(life.id());
                    in_objects::formula::a(life.id());
                    in_tables::machine::a(place);
                    in_tables::pattern::a(place);
                    in_tables::formula::a(place);
                }
                1 => {
                    in_objects::machine::b(size, life.id());
                    in_objects::pattern::b(size, life.id());
                    in_objects::formula::b(size, life.id());
                    in_tables::machine::b(size, place);
                    in_tables::pattern::b(size, place);
                    in_tables::formula::b(size, place);
                }
                _ => {
                    in_objects::machine::c(life.id());
                    in_objects::pattern::c(life.id());
                    in_objects::formula::c(life.id());
                    in_tables::machine::c(place);
                    in_tables::pattern::c(place);
                    in_tables::formula::c(place);
                }
            }
            assert_eq!(in_objects::machine::MONITOR.counts(), in_tables::machine::MONITOR.counts());
            assert_eq!(in_objects::pattern::MONITOR.counts(), in_tables::pattern::MONITOR.counts());
            assert_eq!(in_objects::formula::MONITOR.counts(), in_tables::formula::MONITOR.counts());
        }
        places.iter().for_each(|place| foresee::release(&**place));
    }
    for monitor in
        [&in_objects::machine::MONITOR, &in_objects::pattern::MONITOR, &in_objects::formula::MONITOR]
    {
        assert!(monitor.counts().iter().all(|count| count.count > 20), "{:?}", monitor.counts());
    }
}
