//! The observed engine against a naive one, the predicting one against the oracle, on random executions.

use foresee_oracle::{Config, Oracle, for_each_seed, random_execution};
use foresee_trace::{EventId, Execution, LockId, Mode, Op};

use super::blocks::{Blocks, Boundary};
use super::{ObservedAtomicity, PredictedAtomicity};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::checker::{Checker, Claim};
use foresee_witness::engine::{Budget, Case, Outcome, Proven, StreamEngine, WholeEngine};
use foresee_witness::judge::Place;

pub(super) fn observed(execution: &Execution, functions: &AtomicFunctions) -> Outcome {
    let mut engine = Box::new(ObservedAtomicity::new(functions.clone()));
    engine.names(execution.names());
    for id in execution.ids() {
        engine.event(u64::from(id.0), &execution.event(id));
    }
    engine.finish(execution.names())
}

/// For each event, the one that begins its transaction.
fn transactions(execution: &Execution, functions: &AtomicFunctions) -> Vec<usize> {
    let mut blocks = Blocks::new(functions.clone());
    blocks.learn(execution.names());
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); execution.thread_count()];
    let transaction = |id: EventId| {
        let open = &mut open[execution.thread(id).index()];
        let boundary = blocks.boundary(&execution.op(id));
        if let Some(Boundary::Begin(_)) = boundary {
            open.push(id.index());
        }
        let transaction = open.first().copied().unwrap_or(id.index());
        if boundary == Some(Boundary::End) {
            open.pop();
        }
        transaction
    };
    execution.ids().map(transaction).collect()
}

/// For each event: the lock that it takes (true) or gives.
fn handovers(execution: &Execution) -> Vec<Option<(bool, LockId, Mode)>> {
    let mut held: Vec<Vec<(LockId, Mode, u32)>> = vec![Vec::new(); execution.thread_count()];
    let handover = |id: EventId| {
        let held = &mut held[execution.thread(id).index()];
        match execution.op(id) {
            Op::Acquire { lock, mode, .. } => match held.iter_mut().find(|h| h.0 == lock) {
                Some(again) => {
                    again.2 += 1;
                    None
                }
                None => {
                    held.push((lock, mode, 1));
                    Some((true, lock, mode))
                }
            },
            Op::Release { lock, .. } | Op::Wait { cond: lock, .. } => {
                let at = held.iter().position(|h| h.0 == lock)?;
                held[at].2 -= 1;
                if held[at].2 > 0 && !matches!(execution.op(id), Op::Wait { .. }) {
                    return None;
                }
                let (lock, mode, _) = held.remove(at);
                Some((false, lock, mode))
            }
            _ => None,
        }
    };
    execution.ids().map(handover).collect()
}

/// The transactions on a cycle, by building their whole order.
fn naive(execution: &Execution, functions: &AtomicFunctions) -> Vec<usize> {
    let (transactions, handovers) = (transactions(execution, functions), handovers(execution));
    let conflict = |a: EventId, b: EventId| {
        let memory = match (execution.access(a), execution.access(b)) {
            (Some((a, how_a)), Some((b, how_b))) => execution.overlap(a, b) && how_a.conflicts(how_b),
            _ => false,
        };
        let locks = match (handovers[a.index()], handovers[b.index()]) {
            (Some((false, given, gave)), Some((true, taken, took))) => {
                given == taken && (gave, took) != (Mode::Shared, Mode::Shared)
            }
            _ => false,
        };
        memory
            || locks
            || execution.op(a) == Op::Fork { child: execution.thread(b) }
            || execution.op(b) == Op::Join { child: execution.thread(a) }
            || execution.thread(a) == execution.thread(b)
    };
    let n = execution.len();
    let mut reach = vec![vec![false; n]; n];
    for b in execution.ids() {
        for a in execution.ids().take(b.index()).filter(|&a| conflict(a, b)) {
            let (a, b) = (transactions[a.index()], transactions[b.index()]);
            reach[a][b] |= a != b;
        }
    }
    for via in 0..n {
        let onward = reach[via].clone();
        for row in reach.iter_mut().filter(|row| row[via]) {
            row.iter_mut().zip(&onward).for_each(|(reached, &also)| *reached |= also);
        }
    }
    (0..n).filter(|&t| reach[t][t]).collect()
}

#[test]
fn observed_violations_are_exactly_those_that_there_are() {
    let config = Config { events: 8..=40, blocks: 14, threads: 2..=5, ..Config::default() };
    let (mut violated, mut complete, mut findings) = (0, 0, 0);
    for_each_seed(20_000, |seed| {
        let execution = random_execution(seed, &config);
        let none = AtomicFunctions::default();
        let outcome = observed(&execution, &none);
        let expected = naive(&execution, &none);
        assert_eq!(
            outcome.findings.is_empty(),
            expected.is_empty(),
            "{execution:?}\n{outcome:?} {expected:?}"
        );
        violated += usize::from(!expected.is_empty());
        let transactions = transactions(&execution, &none);
        let checker = Checker::new(&execution);
        let run: Vec<EventId> = execution.ids().collect();
        for finding in &outcome.findings {
            findings += 1;
            let event = |&e: &u64| EventId(e as u32);
            assert!(
                expected.contains(&transactions[finding.events[0] as usize]),
                "{execution:?}\n{finding:?}"
            );
            let cycle =
                finding.events.chunks_exact(2).map(|pair| (event(&pair[0]), event(&pair[1]))).collect();
            if execution.thread(event(&finding.events[0])) != execution.thread(event(&finding.events[1])) {
                complete += 1;
                let verdict = checker.check(&run, &Claim::Atomicity { cycle });
                assert!(verdict.is_ok(), "{execution:?}\n{finding:?}: {verdict:?}");
            }
        }
    });
    println!("{violated} executions violated; {findings} findings, {complete} with their cycle");
    if std::env::var_os("FORESEE_TEST_SEED").is_none() {
        assert!(violated > 100 && complete * 10 > findings * 9);
    }
}

pub(super) fn predicted(execution: &Execution, functions: &AtomicFunctions, proven: &Proven) -> Outcome {
    let case = Case::new(execution, functions.clone());
    let outcome = PredictedAtomicity::new(functions.clone()).run(&case.job(proven, Budget::unlimited()));
    assert_eq!(case.refused(), 0, "{execution:?}");
    outcome
}

/// Looking for what to try takes time, too.
#[test]
fn without_time_nothing_is_looked_at() {
    let config = Config { blocks: 14, lock_heavy: 10, ..Config::default() };
    for_each_seed(200, |seed| {
        let execution = random_execution(seed, &config);
        let case = Case::new(&execution, AtomicFunctions::default());
        let (proven, budget) = (Proven::default(), Budget::lasting(std::time::Duration::ZERO));
        let outcome = PredictedAtomicity::new(AtomicFunctions::default()).run(&case.job(&proven, budget));
        assert!(outcome.findings.is_empty() && outcome.undecided <= 2, "{outcome:?}");
    });
}

#[test]
fn predicted_violations_are_possible() {
    let config = Config { blocks: 14, lock_heavy: 10, ..Config::default() };
    let (mut possible, mut reported) = (0, 0);
    for_each_seed(4000, |seed| {
        let execution = random_execution(seed, &config);
        let none = AtomicFunctions::default();
        let outcome = predicted(&execution, &none, &Proven::default());
        assert_eq!(outcome.undecided, 0, "{execution:?}");
        let transactions = transactions(&execution, &none);
        let block = |event: u64| EventId(transactions[event as usize] as u32);
        let expected = Oracle::new(&execution).atomicity_violations();
        for finding in &outcome.findings {
            assert!(expected.contains(&block(finding.events[0])), "{execution:?}\n{finding:?}");
        }
        let mut blocks: Vec<EventId> = outcome.findings.iter().map(|f| block(f.events[0])).collect();
        blocks.extend(outcome.findings.iter().flat_map(|f| [f.events[1], f.events[2]]).map(block));
        possible += expected.len();
        reported += expected.iter().filter(|block| blocks.contains(block)).count();
    });
    println!("{reported} of {possible} blocks that some schedule violates are reported");
    if std::env::var_os("FORESEE_TEST_SEED").is_none() {
        assert!(reported > 200 && reported * 100 > possible * 93);
    }
}

/// Whether two events touch a cell that a third touches too.
fn share_a_cell(execution: &Execution, events: [EventId; 3]) -> bool {
    let cells = |id| execution.access(id).map(|(var, _)| execution.cells(var));
    let [Some(a), Some(b), Some(c)] = events.map(cells) else { return false };
    a.start.max(b.start).max(c.start) < a.end.min(b.end).min(c.end)
}

#[test]
fn every_sync_preserving_pattern_on_one_variable_is_predicted() {
    let config = Config { blocks: 14, locking: 20, ..Config::default() };
    let mut patterns = 0;
    for_each_seed(6000, |seed| {
        let execution = random_execution(seed, &config);
        let none = AtomicFunctions::default();
        let transactions = transactions(&execution, &none);
        let outcome = predicted(&execution, &none, &Proven::default());
        for (a, b) in Oracle::new(&execution).sync_preserving_races() {
            for (e2, e3) in [(a, b), (b, a)] {
                let block = transactions[e3.index()];
                for e1 in execution.ids().take(e3.index()).filter(|e1| transactions[e1.index()] == block) {
                    let kind = |id| execution.access(id).map(|(_, access)| (access.reads, access.writes));
                    let [Some((_, first)), Some((_, last))] = [kind(e1), kind(e3)] else { continue };
                    let Some((may_read, may_write)) = kind(e2) else { continue };
                    // A read-modify-write at the end of its thread may turn out not to write.
                    let other_writes = may_write && !may_read;
                    let last_writes = last && kind(e3) == Some((false, true));
                    if share_a_cell(&execution, [e1, e2, e3])
                        && (first || other_writes)
                        && (last_writes || other_writes)
                    {
                        patterns += 1;
                        let mut locs = [EventId(block as u32), e1, e2, e3]
                            .map(|id| Place::new(execution.loc(id), 0))
                            .to_vec();
                        locs.sort_unstable();
                        let known = outcome.findings.iter().any(|finding| finding.places == locs);
                        assert!(known, "{execution:?}\n{e1:?} {e2:?} {e3:?} {outcome:?}");
                    }
                }
            }
        }
    });
    println!("{patterns} patterns");
    if std::env::var_os("FORESEE_TEST_SEED").is_none() {
        assert!(patterns > 100);
    }
}
