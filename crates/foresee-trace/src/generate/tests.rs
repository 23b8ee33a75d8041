use proptest::prelude::*;

use super::*;
use crate::validate::Validator;

type Seen = (u32, LocId, Op<'static>);

/// The whole execution; panics if it is no possible run or leaves a lock taken.
fn run(shape: &Shape) -> Vec<Seen> {
    let mut source = Generator::new(shape);
    let mut validator = Validator::new();
    let mut events = Vec::new();
    let mut held = 0;
    while source.advance().unwrap() {
        let event = source.current;
        validator.event(&source.names, events.len() as u64, &event);
        match event.op {
            Op::Acquire { .. } => held += 1,
            Op::Release { .. } => held -= 1,
            _ => {}
        }
        events.push((event.thread.0, event.loc, event.op));
    }
    let verdict = validator.finish();
    assert!(verdict.problems.is_empty(), "{shape:?}: {:?}", verdict.problems);
    assert_eq!(held, 0, "{shape:?}: locks still taken");
    events
}

fn shapes() -> impl Strategy<Value = Shape> {
    let forks = prop_oneof![Just(Forks::Star), Just(Forks::Tree), Just(Forks::Chain), Just(Forks::None)];
    let share = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64];
    let counts = (0..400u64, 0..12u32, 0..10u32, 0..6u32, 0..5u32, 0..5u32);
    (counts, forks, 0.0..2.0f64, share(), share(), share(), any::<u64>()).prop_map(
        |(
            (events, threads, variables, locks, section, nesting),
            forks,
            skew,
            inversions,
            writes,
            unprotected,
            seed,
        )| {
            Shape {
                events,
                threads,
                variables,
                locks,
                skew,
                section,
                nesting,
                inversions,
                forks,
                writes,
                unprotected,
                seed,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_shape_gives_a_possible_run(shape in shapes()) {
        let events = run(&shape);
        let missing = shape.events - events.len() as u64;
        let may_miss = u64::from(shape.forks == Forks::None);
        prop_assert!(missing <= may_miss, "{} events", events.len());
        prop_assert!(events == run(&shape), "two runs differ");

        let count = |wanted: fn(&Op<'_>) -> bool| events.iter().filter(|(.., op)| wanted(op)).count();
        prop_assert_eq!(count(|op| matches!(op, Op::Fork { .. })), count(|op| matches!(op, Op::Join { .. })));
        let requests = count(|op| matches!(op, Op::Request { .. }));
        prop_assert!(requests <= count(|op| matches!(op, Op::Acquire { .. })), "{} requests", requests);
    }

    #[test]
    fn protected_variables_are_only_accessed_under_their_lock(shape in shapes()) {
        let shape = Shape { unprotected: 0.0, locks: shape.locks.max(1), ..shape };
        let variables = Generator::new(&shape).memory;
        let mut held = vec![Vec::new(); shape.threads.max(1) as usize];
        // What the main thread reads when all others are joined needs no lock.
        let mut alive = shape.threads.max(1).min((shape.events / 2) as u32 + 1);
        for (thread, _, op) in run(&shape) {
            let held = &mut held[thread as usize];
            match op {
                Op::Acquire { lock, .. } => held.push(lock.0),
                Op::Release { .. } => drop(held.pop()),
                Op::Join { .. } => alive -= 1,
                Op::Read { mem, .. } | Op::Write { mem, .. } if alive > 1 => {
                    let variable = variables.iter().position(|&m| m == mem).unwrap() as u32;
                    prop_assert!(held.contains(&(variable % shape.locks)), "x{variable} holding {held:?}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn shares_come_out_as_asked() {
    let shape = Shape { events: 400_000, unprotected: 0.25, writes: 0.4, ..Shape::default() };
    let mut depth = [0; 8];
    let (mut accesses, mut writes, mut outside) = (0.0, 0.0, 0.0);
    for (thread, _, op) in run(&shape) {
        let depth = &mut depth[thread as usize];
        match op {
            Op::Acquire { .. } => *depth += 1,
            Op::Release { .. } => *depth -= 1,
            _ => {}
        }
        if let Some(access) = op.access() {
            accesses += 1.0;
            writes += f64::from(u8::from(access.writes));
            outside += f64::from(u8::from(*depth == 0));
        }
    }
    assert!((writes / accesses - 0.4_f64).abs() < 0.01, "writes: {}", writes / accesses);
    assert!((outside / accesses - 0.25_f64).abs() < 0.02, "unprotected: {}", outside / accesses);
}

#[test]
fn seeds_differ() {
    let shape = |seed| Shape { events: 1000, seed, ..Shape::default() };
    assert_ne!(run(&shape(1)), run(&shape(2)));
}

#[test]
fn inversions_take_locks_in_both_orders() {
    let orders = |inversions| {
        let shape = Shape { events: 20_000, inversions, nesting: 3, ..Shape::default() };
        let mut held = vec![Vec::new(); 8];
        let (mut up, mut down) = (0, 0);
        for (thread, _, op) in run(&shape) {
            let held = &mut held[thread as usize];
            match op {
                Op::Acquire { lock, .. } => {
                    match held.last() {
                        Some(&outer) if outer < lock => up += 1,
                        Some(_) => down += 1,
                        None => {}
                    }
                    held.push(lock);
                }
                Op::Release { .. } => drop(held.pop()),
                _ => {}
            }
        }
        (up, down)
    };
    assert!(matches!(orders(0.0), (1.., 0)), "{:?}", orders(0.0));
    assert!(matches!(orders(1.0), (0, 1..)), "{:?}", orders(1.0));
    assert!(matches!(orders(0.5), (1.., 1..)), "{:?}", orders(0.5));
}

/// The same bits everywhere: a change here breaks the comparability of all recorded benchmarks.
#[test]
fn executions_do_not_change_between_versions() {
    let shape = Shape { events: 5000, skew: 0.9, inversions: 0.2, seed: 42, ..Shape::default() };
    let digest = run(&shape).iter().fold(0u64, |digest, &(thread, loc, _)| {
        (digest.rotate_left(5) ^ u64::from(thread) ^ (u64::from(loc.0) << 8))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    assert_eq!(digest, 9_183_546_851_247_557_291);
}
