//! The oracle against the definition, itself, and executions whose answers are known.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use foresee_oracle::{Config, Oracle, arbitrary_execution, for_each_seed, random_execution};
use foresee_trace::{
    Event, EventId, Execution, ExecutionBuilder, LocId, LockId, Mem, Mode, Names, Op, StrId, ThreadId,
};
use proptest::prelude::*;

const X: Mem = Mem { addr: 0x10, size: 8 };
const Y: Mem = Mem { addr: 0x20, size: 8 };

fn write<'a>(mem: Mem) -> Op<'a> {
    Op::Write { mem, value: None }
}

fn read<'a>(mem: Mem) -> Op<'a> {
    Op::Read { mem, value: None }
}

fn acquire<'a>(lock: u32) -> Op<'a> {
    Op::Acquire { lock: LockId(lock), mode: Mode::Exclusive, tried: false }
}

fn release<'a>(lock: u32) -> Op<'a> {
    Op::Release { lock: LockId(lock), mode: Mode::Exclusive }
}

fn execution(events: &[(u32, Op<'_>)]) -> Execution {
    let mut builder = ExecutionBuilder::default();
    for &(thread, op) in events {
        builder.push(&Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op }).unwrap();
    }
    builder.finish(Names::new())
}

fn pairs(pairs: &[(u32, u32)]) -> BTreeSet<(EventId, EventId)> {
    pairs.iter().map(|&(a, b)| (EventId(a), EventId(b))).collect()
}

#[test]
fn a_race_hidden_by_the_order_of_critical_sections() {
    let run = execution(&[
        (0, write(Y)),
        (0, acquire(0)),
        (0, release(0)),
        (1, acquire(0)),
        (1, release(0)),
        (1, write(Y)),
    ]);
    let oracle = Oracle::new(&run);
    assert_eq!(oracle.races(), pairs(&[(0, 5)]));
    assert_eq!(oracle.sync_preserving_races(), pairs(&[(0, 5)]));
    assert!(oracle.witness_race(EventId(5), EventId(0)).is_some());
    assert_eq!(oracle.witness_race(EventId(0), EventId(1)), None);
}

#[test]
fn a_race_that_needs_critical_sections_swapped() {
    let run = execution(&[
        (0, acquire(0)),
        (0, write(Y)),
        (0, release(0)),
        (1, acquire(0)),
        (1, write(X)),
        (1, release(0)),
        (1, write(Y)),
    ]);
    let oracle = Oracle::new(&run);
    assert_eq!(oracle.races(), pairs(&[(1, 6)]));
    assert_eq!(oracle.sync_preserving_races(), pairs(&[]));
}

#[test]
fn a_read_orders_what_follows_it() {
    let handed_over = [(0, write(Y)), (0, write(X)), (1, read(X)), (1, write(Y))];
    assert_eq!(Oracle::new(&execution(&handed_over)).races(), pairs(&[(1, 2)]));
    assert_eq!(Oracle::new(&execution(&handed_over[..3])).races(), pairs(&[(1, 2)]));
}

#[test]
fn a_changed_compare_exchange_may_not_write() {
    let order = foresee_trace::Order::SeqCst;
    let rmw = Op::Rmw { mem: X, order, values: None };
    let store = Op::Store { mem: X, order, value: None };
    // Without the store before it, event 1 would read another value, and perhaps be a failed compare-exchange.
    let run = execution(&[(0, store), (1, rmw), (2, read(X))]);
    let oracle = Oracle::new(&run);
    assert_eq!(oracle.races(), pairs(&[(0, 2), (1, 2)]));
    assert_eq!(oracle.witness_race(EventId(1), EventId(2)).unwrap().len(), 3, "the store must be in it");
}

#[test]
fn a_value_depends_on_what_is_said() {
    let from = |mem| (0, Op::From { mem });
    let half = Mem { size: 4, ..X };
    let run = execution(&[
        (0, read(X)),
        (0, read(Y)),
        (0, read(half)),
        from(X),
        (0, write(Y)),
        (0, Op::Constant),
        (0, write(Y)),
        (0, write(Y)),
        (1, Op::Constant),
        (0, Op::Branch),
        from(half),
        (0, Op::Rmw { mem: X, order: foresee_trace::Order::SeqCst, values: None }),
        from(Mem { size: 16, ..Y }),
        (0, write(Y)),
        from(X),
        (0, write(Y)),
    ]);
    let oracle = Oracle::new(&run);
    let depends = |event| -> Vec<u32> {
        run.ids().filter(|&read| oracle.depends(EventId(event), read)).map(|id| id.0).collect()
    };
    assert_eq!(depends(4), [0, 2], "the last read of each byte");
    assert_eq!(depends(6), []);
    assert_eq!(depends(7), [0, 1, 2]);
    assert_eq!(depends(9), [0, 1, 2]);
    assert_eq!(depends(11), [2, 11]);
    assert_eq!(depends(13), [0, 1, 2, 11], "not all of it was read");
    assert_eq!(depends(15), [2, 11], "what a read-modify-write depends on comes with it");
}

#[test]
fn two_locks_in_two_orders() {
    let run = execution(&[
        (0, acquire(0)),
        (0, acquire(1)),
        (0, release(1)),
        (0, release(0)),
        (1, acquire(1)),
        (1, acquire(0)),
    ]);
    let oracle = Oracle::new(&run);
    assert_eq!(oracle.deadlocks(), BTreeSet::from([vec![EventId(1), EventId(5)]]));
    let witness = &oracle.deadlock_witnesses()[&vec![EventId(1), EventId(5)]];
    assert_eq!(witness.schedule.len(), 2);
}

#[test]
fn an_interleaved_block() {
    let (begin, end) = (Op::BlockBegin { name: StrId::EMPTY }, Op::BlockEnd { name: StrId::EMPTY });
    let run = [(0, begin), (0, read(X)), (0, write(X)), (0, end), (1, write(X))];
    assert_eq!(Oracle::new(&execution(&run)).atomicity_violations(), BTreeSet::from([EventId(0)]));
    let locked = [
        (0, begin),
        (0, acquire(0)),
        (0, read(X)),
        (0, write(X)),
        (0, release(0)),
        (0, end),
        (1, acquire(0)),
        (1, write(X)),
        (1, release(0)),
    ];
    assert_eq!(Oracle::new(&execution(&locked)).atomicity_violations(), BTreeSet::new());
}

/// All interleavings of prefixes of the threads: rule (a) alone.
fn for_each_interleaving(run: &Execution, schedule: &mut Vec<EventId>, visit: &mut dyn FnMut(&[EventId])) {
    visit(schedule);
    for thread in 0..run.thread_count() {
        let next = run.ids().find(|&id| run.thread(id).index() == thread && !schedule.contains(&id));
        if let Some(next) = next {
            schedule.push(next);
            for_each_interleaving(run, schedule, visit);
            schedule.pop();
        }
    }
}

#[test]
fn search_finds_exactly_what_the_definition_allows() {
    let config = Config { events: 4..=7, waiting: 10, variables: 1, locks: 2, ..Config::default() };
    for_each_seed(2_000, |seed| {
        let run = random_execution(seed, &config);
        search_finds_what_the_definition_allows(&run, &Oracle::new(&run));
    });
    let branching = Config { branches: 15, ..config };
    let saying = Config { dependences: 70, locking: 6, plain: 60, ..branching.clone() };
    for_each_seed(4_000, |seed| {
        let run = random_execution(seed, if seed % 2 == 0 { &branching } else { &saying });
        search_finds_what_the_definition_allows(&run, &Oracle::by_branches(&run));
    });
}

fn search_finds_what_the_definition_allows(run: &Execution, oracle: &Oracle<'_>) {
    let mut by_definition = BTreeSet::new();
    for_each_interleaving(run, &mut Vec::new(), &mut |schedule| {
        if oracle.is_correct(schedule) {
            by_definition.insert(schedule.to_vec());
        }
    });
    let mut by_search = BTreeSet::new();
    oracle.for_each_maximal(&mut |maximal| {
        by_search.extend((0..=maximal.len()).map(|n| maximal[..n].to_vec()));
    });
    assert_eq!(by_search, by_definition, "\n{run:?}");

    let races = oracle.races();
    for schedule in &by_definition {
        if let [.., a, b] = schedule[..]
            && races_at_the_end(run, a, b)
        {
            let reads_in_doubt = [a, b].iter().any(|&id| matches!(run.op(id), Op::Rmw { .. }));
            assert!(reads_in_doubt || races.contains(&(a.min(b), a.max(b))), "{schedule:?}\n{run:?}");
        }
    }
    for &(a, b) in &races {
        let shown = |schedule: &Vec<EventId>| schedule.ends_with(&[a, b]) || schedule.ends_with(&[b, a]);
        assert!(by_definition.iter().any(shown) && races_at_the_end(run, a, b), "{a:?} {b:?}\n{run:?}");
    }
    assert!(oracle.sync_preserving_races().is_subset(&races));
}

fn races_at_the_end(run: &Execution, a: EventId, b: EventId) -> bool {
    match (run.access(a), run.access(b)) {
        (Some((x, first)), Some((y, second))) => {
            run.thread(a) != run.thread(b) && run.overlap(x, y) && first.races(second)
        }
        _ => false,
    }
}

#[test]
fn random_executions_are_rich() {
    let (mut all, mut rich, mut deadlocks, mut violations) = (0, 0, 0, 0);
    for_each_seed(1_000, |seed| {
        let run = random_execution(seed, &Config::default());
        let oracle = Oracle::new(&run);
        let hidden_race = oracle.races().iter().any(|&(a, b)| b.0 != a.0 + 1);
        let deadlock = !oracle.deadlocks().is_empty();
        all += 1;
        rich += u32::from(hidden_race || deadlock);
        deadlocks += u32::from(deadlock);
        violations += u32::from(!oracle.atomicity_violations().is_empty());
    });
    println!("of {all} executions: {rich} rich, {deadlocks} deadlock, {violations} violate atomicity");
    assert!(all == 1 || rich * 5 > all, "{rich} of {all}");
    assert!(all == 1 || deadlocks * 50 > all, "{deadlocks} of {all}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_executions_are_correct_reorderings_of_themselves(run in arbitrary_execution(Config::default())) {
        let observed: Vec<EventId> = run.ids().collect();
        prop_assert!(Oracle::new(&run).is_correct(&observed));
        prop_assert!(run.len() <= 14);
        let locations: BTreeSet<LocId> = run.ids().map(|id| run.loc(id)).collect();
        prop_assert_eq!(locations.len(), run.len());
    }
}
