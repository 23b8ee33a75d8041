//! Monitors in a program with threads.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

use std::sync::{Arc, Barrier};

use foresee::Life;

foresee::monitor! {
    property SharedByThreads(o) {
        event before(o);
        event after(o);
        ere: before after
        @match { count; }
    }

    perthread property Own(o) {
        event own_lock(o);
        event own_unlock(o);
        event end_thread;
        ere: (own_lock own_unlock)* own_lock end_thread
        @match { count; }
    }

    unsynchronized property Alone {
        event alone;
        ere: alone alone alone
        @match { count; }
    }
}

/// Two threads take turns: what one has seen, the other knows, also when it remembers having seen nothing.
#[test]
fn threads_share_a_property() {
    const ROUNDS: u64 = 2000;
    let objects: Arc<Vec<Life>> = Arc::new((0..ROUNDS).map(|_| Life::new()).collect());
    let turn = Arc::new(Barrier::new(2));
    let other = {
        let (objects, turn) = (Arc::clone(&objects), Arc::clone(&turn));
        std::thread::spawn(move || {
            for object in objects.iter() {
                shared_by_threads::after(object.id());
                shared_by_threads::after(object.id());
                turn.wait();
                turn.wait();
                shared_by_threads::after(object.id());
            }
        })
    };
    for object in objects.iter() {
        turn.wait();
        shared_by_threads::before(object.id());
        turn.wait();
    }
    other.join().unwrap();
    assert_eq!(shared_by_threads::MONITOR.count("match"), ROUNDS);
}

#[test]
fn threads_have_their_own() {
    let object = 1;
    own::own_lock(object);
    let others: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(move || {
                own::own_lock(object);
                own::own_unlock(object);
                assert_eq!(own::MONITOR.instances(), 1);
                own::own_lock(object);
            })
        })
        .collect();
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(own::MONITOR.count("match"), 4, "at the ends of threads");
}

/// One thread after another; what a second does meanwhile is left out.
#[test]
fn a_promise_of_one_thread() {
    let run =
        |events: u32| std::thread::spawn(move || (0..events).for_each(|_| alone::alone())).join().unwrap();
    run(1);
    let turn = Arc::new(Barrier::new(2));
    let owner = {
        let turn = Arc::clone(&turn);
        std::thread::spawn(move || {
            alone::alone();
            turn.wait();
            turn.wait();
        })
    };
    turn.wait();
    run(5);
    assert_eq!(alone::MONITOR.count("match"), 0);
    turn.wait();
    owner.join().unwrap();
    run(1);
    assert_eq!(alone::MONITOR.count("match"), 1);
}

foresee::monitor! {
    property Turns(o) {
        event turn(o);
        fsm: even [ turn -> odd ] odd [ turn -> even ]
        @even { count; }
    }

    perthread property OwnTurns(o) {
        event own_turn(o);
        fsm: even [ own_turn -> odd ] odd [ own_turn -> even ]
        @even { count; }
    }
}

/// Each thread has a state of its own, also of an object that they share.
#[test]
fn threads_step_one_object_each_for_itself() {
    let object = Arc::new(Life::new());
    let step = |object: Arc<Life>| move || (0..999).for_each(|_| own_turns::own_turn(object.id()));
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(step(Arc::clone(&object)))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(own_turns::MONITOR.count("even"), 4 * 499);
}

/// No step is lost when threads step the same object at once.
#[test]
fn threads_step_one_object() {
    const STEPS: u64 = 20_000;
    let object = Arc::new(Life::new());
    let step = |object: Arc<Life>| move || (0..STEPS).for_each(|_| turns::turn(object.id()));
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(step(Arc::clone(&object)))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(turns::MONITOR.count("even"), 4 * STEPS / 2);
}
