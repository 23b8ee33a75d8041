//! Random executions: against the reference, and schedulable races against the oracle.

use std::collections::BTreeSet;

use foresee_oracle::{Config, Oracle, Random, for_each_seed, random_execution};
use foresee_trace::{Event, EventId, Execution, ExecutionBuilder, LocId, Mem, Op};

use super::{engine_after, reference, run};
use foresee_witness::engine::StreamEngine;
use foresee_witness::judge::Certainty;

/// The same events from few places (or none known), with accesses that are moved and resized now and then.
fn disturbed(execution: &Execution, random: &mut Random) -> Execution {
    // Often enough, words have cells of many kinds. (Not where memory is given out as well: atomics of which a part begins a new life are nobody's.)
    let moves = if execution.ids().any(|id| matches!(execution.op(id), Op::Alloc { .. })) { 10 } else { 80 };
    let moved = |mem, random: &mut Random| if random.percent(moves) { elsewhere(mem, random) } else { mem };
    let places = random.below(6) as u32;
    let mut builder = ExecutionBuilder::default();
    for id in execution.ids() {
        let event = execution.event(id);
        let op = match event.op {
            Op::Read { mem, value } => Op::Read { mem: moved(mem, random), value },
            Op::Write { mem, value } => Op::Write { mem: moved(mem, random), value },
            Op::Free { mem } => Op::Free { mem: moved(mem, random) },
            Op::Alloc { mem } => Op::Alloc { mem: moved(mem, random) },
            Op::Branch => Op::Fence { order: random.pick(&foresee_trace::Order::ALL).unwrap() },
            other => other,
        };
        let loc = if places == 5 { event.loc } else { LocId(random.below(places as usize + 1) as u32) };
        builder.push(&Event { loc, op, ..event }).unwrap();
    }
    builder.finish(execution.names().clone())
}

fn elsewhere(mem: Mem, random: &mut Random) -> Mem {
    let sizes = [1, 3, 8, 13, 40, 4096, 12288];
    Mem { addr: (mem.addr & !0xfff) + random.below(24) as u64, size: random.pick(&sizes).unwrap() }
}

fn configs() -> [Config; 4] {
    let busy = Config { events: 20..=60, threads: 2..=6, branches: 1, ..Config::default() };
    let atomic = Config { atomics: 60, local: 12, branches: 3, locking: 5, ..busy.clone() };
    let mixed = Config { allocation: 15, overlap: 60, forked: 90, waiting: 20, variables: 1, ..busy.clone() };
    let guarded = Config { lock_heavy: 100, overlap: 60, variables: 1, ..busy.clone() };
    [busy, atomic, mixed, guarded]
}

#[test]
fn finds_what_the_definition_says() {
    let configs = configs();
    let mut found = [0_usize; 3];
    for_each_seed(8000, |seed| {
        let mut random = Random::new(!seed);
        let plain = random_execution(seed, &configs[seed as usize % configs.len()]);
        let execution = if random.percent(30) { plain } else { disturbed(&plain, &mut random) };
        let expected = reference::pairs(&execution);
        let engine = engine_after(&execution);
        let counted = (engine.racy().events, engine.schedulable().events);
        let findings = engine.finish(execution.names()).findings;
        let pairs: BTreeSet<_> = findings.iter().map(|f| (f.places[0], f.places[1])).collect();
        assert_eq!(pairs.len(), findings.len(), "one finding per pair of places");
        let schedulable: BTreeSet<_> =
            findings.iter().filter(|f| f.schedulable).map(|f| (f.places[0], f.places[1])).collect();
        assert_eq!((&pairs, &schedulable), (&expected.all, &expected.schedulable), "{execution:?}");
        let certain: BTreeSet<_> = (findings.iter())
            .filter(|f| f.certainty() == Certainty::Observed)
            .map(|f| (f.places[0], f.places[1]))
            .collect();
        assert_eq!(certain, expected.certain, "{execution:?}");
        assert!(findings.iter().all(|f| (f.certainty() == Certainty::Observed) == f.reason.is_none()));
        found[2] += pairs.len() - certain.len();
        assert_eq!(counted, (expected.later.len() as u64, expected.later_schedulable.len() as u64));
        found[0] += pairs.len();
        found[1] += pairs.len() - schedulable.len();
    });
    let [all, not_schedulable, doubtful] = found;
    println!("{all} racy pairs, {not_schedulable} of them not schedulable, {doubtful} doubtful");
}

#[test]
fn schedulable_races_are_real() {
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, &Config::default());
        let findings = run(&execution).findings;
        let schedulable: Vec<_> = findings.iter().filter(|finding| finding.schedulable).collect();
        if schedulable.is_empty() {
            return;
        }
        let real = Oracle::new(&execution).races();
        for finding in schedulable {
            let [a, b] = [0, 1].map(|i| EventId(finding.events[i] as u32));
            assert!(real.contains(&(a, b)) || real.contains(&(b, a)), "{finding:?}\n{execution:?}");
        }
    });
}
