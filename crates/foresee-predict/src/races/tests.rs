//! The engines that build reorderings against the oracle, on very many tiny executions.

use std::collections::BTreeSet;

use foresee_oracle::{Config, Oracle, Random, for_each_seed, random_execution};
use foresee_trace::{EventId, Execution, ExecutionBuilder};

use super::Method;
use crate::lockset::Lockset;
use crate::max::Max;
use crate::reorder::{Facts, Observed};
use crate::reverse::{Reverse, deadlock_schedule};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::checker::{Checker, Claim, Reads, Schedule};
use foresee_witness::engine::{Budget, Case, Outcome, WholeEngine};
use foresee_witness::judge::{Certainty, FindingKind, Place};

type Pairs = BTreeSet<(EventId, EventId)>;
type Places = BTreeSet<Vec<Place>>;

fn run_on(threads: usize, execution: &Execution, engine: &dyn WholeEngine) -> Outcome {
    let case = Case::new(execution, AtomicFunctions::default());
    let outcome = case.run(engine, Budget { threads, ..Budget::unlimited() });
    assert_eq!(case.refused(), 0, "{execution:?}");
    outcome
}

fn run(execution: &Execution, engine: &dyn WholeEngine) -> Outcome {
    run_on(1, execution, engine)
}

fn places(outcome: &Outcome) -> Places {
    outcome.findings.iter().map(|finding| finding.places.clone()).collect()
}

fn places_of(execution: &Execution, races: &Pairs) -> Places {
    let place = |id| {
        let (var, _) = execution.access(id).unwrap();
        Place::new(execution.loc(id), execution.mem(var).addr)
    };
    races.iter().map(|&(a, b)| place(a).pair(place(b))).map(|(a, b)| vec![a, b]).collect()
}

/// All pairs that the method shows; those it cannot decide fail the test.
fn pairs(execution: &Execution, method: &Method, reads: Reads) -> Pairs {
    let (facts, checker) = (Facts::of(execution), Checker::new(execution));
    let mut found = Pairs::new();
    for first in execution.ids() {
        for second in execution.ids().filter(|&second| second > first) {
            let (Some((a, first_access)), Some((b, second_access))) =
                (execution.access(first), execution.access(second))
            else {
                continue;
            };
            if execution.thread(first) == execution.thread(second)
                || !execution.overlap(a, b)
                || !first_access.races(second_access)
            {
                continue;
            }
            let (schedule, unknown) =
                method.decide_pair(Observed { execution, facts: &facts }, first, second, reads);
            assert!(!(unknown && method.is_complete), "undecided: {first:?} {second:?}\n{execution:?}");
            if let Some(schedule) = schedule {
                let claim = Claim::Race { first, second };
                let verdict = checker.check_all_with(&[(&schedule, &claim)], reads);
                assert_eq!(verdict, [Ok(())], "{first:?} {second:?} by {schedule:?}\n{execution:?}");
                found.insert((first, second));
            }
        }
    }
    found
}

#[test]
fn max_decides_every_pair_as_the_oracle_does() {
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, &Config::default());
        let (found, races) =
            (pairs(&execution, &crate::max::METHOD, Reads::SameWrite), Oracle::new(&execution).races());
        assert_eq!(found, races, "max, then the oracle\n{execution:?}");
    });
}

#[test]
fn max_finds_all_places_that_race_and_no_others() {
    let config = Config { values: 0, ..Config::default() };
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, &config);
        let outcome = run(&execution, &Max);
        let races = Oracle::new(&execution).races();
        assert_eq!(outcome.undecided, 0, "{execution:?}");
        assert_eq!(places(&outcome), places_of(&execution, &races), "{execution:?}");
        let candidates = places(&run(&execution, &Lockset));
        assert!(candidates.is_superset(&places(&outcome)), "lockset misses a race\n{execution:?}");
    });
}

#[test]
fn max_uses_branches_as_the_oracle_does() {
    let config = Config { values: 0, branches: 12, ..Config::default() };
    let copying = Config { plain: 60, locking: 10, lock_heavy: 0, forked: 20, ..config.clone() };
    let (mut strict, mut by_branches) = (0, 0);
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, if seed % 2 == 0 { &config } else { &copying });
        let races = Oracle::by_branches(&execution).races();
        let found = pairs(&execution, &crate::max::METHOD, Reads::Relaxed);
        assert_eq!(found, races, "max, then the oracle\n{execution:?}");
        let outcome = run(&execution, &Max);
        assert_eq!(outcome.undecided, 0, "{execution:?}");
        assert_eq!(places(&outcome), places_of(&execution, &races), "{execution:?}");
        strict += Oracle::new(&execution).races().len();
        by_branches += races.len();
    });
    println!("races: {strict}; where only reads before branches count: {by_branches}");
    assert!(by_branches > strict);
}

#[test]
fn values_and_branches_together_only_add_races() {
    let config = Config { values: 100, branches: 12, variables: 2, plain: 60, ..Config::default() };
    let (mut by_branches, mut by_both) = (0, 0);
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, &config);
        let outcome = run(&execution, &Max);
        assert_eq!(outcome.undecided, 0, "{execution:?}");
        let races = places_of(&execution, &Oracle::by_branches(&execution).races());
        assert!(places(&outcome).is_superset(&races), "{execution:?}");
        by_branches += races.len();
        by_both += outcome.findings.len();
    });
    println!("places that race by branches: {by_branches}; by values, too: {by_both}");
    assert!(by_both > by_branches);
}

#[test]
fn values_only_add_races() {
    let config = Config { values: 100, variables: 2, plain: 60, ..Config::default() };
    let (mut by_write, mut by_value) = (0, 0);
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, &config);
        let outcome = run(&execution, &Max);
        assert_eq!(outcome.undecided, 0, "{execution:?}");
        let races = places_of(&execution, &Oracle::new(&execution).races());
        assert!(places(&outcome).is_superset(&races), "{execution:?}");
        by_write += races.len();
        by_value += outcome.findings.len();
    });
    println!("places that race: {by_write}; where values may count instead of writes: {by_value}");
    assert!(by_value > by_write);
}

#[test]
fn reverse_finds_only_races_and_nearly_all() {
    let (mut all, mut found, mut sync_preserving) = (0, 0, 0);
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, &Config::default());
        let oracle = Oracle::new(&execution);
        let (races, reversed) =
            (oracle.races(), pairs(&execution, &crate::reverse::METHOD, Reads::SameWrite));
        assert!(reversed.is_subset(&races), "{execution:?}");
        run(&execution, &Reverse);
        all += races.len();
        found += reversed.len();
        sync_preserving += oracle.sync_preserving_races().len();
    });
    println!("races: {all}; reverse finds {found}, keeping the order of sections {sync_preserving}");
    assert!(found * 1000 >= all * 995, "{found} of {all}");
}

#[test]
fn deadlocks_of_the_oracle_get_witnesses() {
    let (mut all, mut found) = (0, 0);
    for_each_seed(3000, |seed| {
        let execution = random_execution(seed, &Config::default());
        let (facts, checker) = (Facts::of(&execution), Checker::new(&execution));
        for deadlock in Oracle::new(&execution).deadlock_witnesses().values() {
            all += 1;
            let schedule =
                deadlock_schedule(Observed { execution: &execution, facts: &facts }, &deadlock.blocked);
            let claim = Claim::Deadlock { blocked: deadlock.blocked.clone() };
            let is_shown = |schedule: Schedule| checker.check(&schedule.to_vec(), &claim).is_ok();
            found += u32::from(schedule.is_some_and(is_shown));
        }
    });
    println!("deadlocks: {all}; witnesses built: {found}");
    assert!(all > 0 && found * 1000 >= all * 995, "{found} of {all}");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    for_each_seed(100, |seed| {
        let execution = random_execution(seed, &Config::default());
        for engine in [&Reverse as &dyn WholeEngine, &Max] {
            let [one, three] = [1, 3].map(|threads| run_on(threads, &execution, engine));
            assert_eq!(one, three);
        }
    });
}

#[test]
fn impossible_runs_do_no_harm() {
    let config = Config { branches: 5, ..Config::default() };
    for_each_seed(1000, |seed| {
        let run_of_a_program = random_execution(seed, &config);
        let mut ids: Vec<EventId> = run_of_a_program.ids().collect();
        let mut random = Random::new(seed);
        for last in (1..ids.len()).rev() {
            ids.swap(last, random.below(last + 1));
        }
        let mut builder = ExecutionBuilder::default();
        for id in ids {
            builder.push(&run_of_a_program.event(id)).unwrap();
        }
        let shuffled = builder.finish(run_of_a_program.names().clone());
        let checker = Checker::new(&shuffled);
        for engine in [&Lockset as &dyn WholeEngine, &Reverse, &Max] {
            let case = Case::new(&shuffled, AtomicFunctions::default());
            for finding in case.run(engine, Budget::unlimited()).findings {
                let events: Vec<EventId> = finding.events.iter().map(|&id| EventId(id as u32)).collect();
                let claim = match finding.kind {
                    FindingKind::Race => Claim::Race { first: events[0], second: events[1] },
                    _ => Claim::Deadlock { blocked: events },
                };
                if finding.certainty() == Certainty::Predicted {
                    let verdict = checker.check_all_with(&[(finding.witness(), &claim)], Reads::Relaxed);
                    assert_eq!(verdict, [Ok(())], "{shuffled:?}");
                }
            }
        }
    });
}
