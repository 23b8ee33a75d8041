//! The witness checker and the oracle know the same rules and share no code: they must agree on every schedule.

use std::collections::BTreeSet;

use foresee_oracle::{Config, Oracle, Random, for_each_seed, random_execution};
use foresee_trace::{EventId, Execution, Op};
use foresee_witness::checker::{Checker, Claim, Reads, Refusal, Schedule};

/// A random interleaving of the threads: with `careful`, only steps the oracle calls correct.
fn interleaving(
    execution: &Execution,
    oracle: &Oracle<'_>,
    random: &mut Random,
    careful: bool,
) -> Vec<EventId> {
    let mut schedule = Vec::new();
    let mut threads: Vec<Vec<EventId>> = vec![Vec::new(); execution.thread_count()];
    execution.ids().rev().for_each(|id| threads[execution.thread(id).index()].push(id));
    let length = random.below(2 * execution.len());
    for _ in 0..6 * execution.len() {
        let thread = random.below(threads.len());
        let Some(&next) = threads[thread].last() else { continue };
        schedule.push(next);
        if schedule.len() > length + 1 || (careful && !oracle.is_correct(&schedule)) {
            schedule.pop();
        } else {
            threads[thread].pop();
        }
    }
    schedule
}

fn takes_lock(execution: &Execution, id: EventId) -> bool {
    matches!(execution.op(id), Op::Acquire { .. } | Op::Request { .. })
}

/// All schedules one small change away.
fn mutations(execution: &Execution, schedule: &[EventId]) -> Vec<Vec<EventId>> {
    let mut mutants = Vec::new();
    let mut add = |change: &dyn Fn(&mut Vec<EventId>)| {
        let mut mutant = schedule.to_vec();
        change(&mut mutant);
        mutants.push(mutant);
    };
    for i in 0..schedule.len() {
        add(&|m| m.truncate(i));
        add(&|m| {
            m.remove(i);
        });
        add(&|m| m.insert(i, m[m.len() - 1 - i]));
        for j in 0..i {
            add(&|m| m.swap(i, j));
            add(&|m| {
                let moved = m.remove(i);
                m.insert(j, moved);
            });
        }
    }
    let beyond = EventId(execution.len() as u32);
    for id in execution.ids().chain([beyond, EventId(u32::MAX)]) {
        add(&|m| m.push(id));
    }
    mutants
}

#[test]
fn checker_accepts_exactly_the_correct_reorderings() {
    let (mut accepted, mut refused) = (0, 0);
    for_each_seed(1_000, |seed| {
        let atomics = Config { atomics: 60, variables: 1, locks: 1, ..Config::default() };
        let config = if seed % 3 == 0 { atomics } else { Config::default() };
        let execution = random_execution(seed, &config);
        let (oracle, checker) = (Oracle::new(&execution), Checker::new(&execution));
        let random = &mut Random::new(seed);
        let mut agree = |schedule: &[EventId]| {
            let correct = oracle.is_correct(schedule);
            let verdict = checker.check_schedule(schedule);
            assert_eq!(verdict.is_ok(), correct, "{schedule:?}: {verdict:?}\n{execution:?}");
            *(if correct { &mut accepted } else { &mut refused }) += 1;
        };
        let observed: Vec<EventId> = execution.ids().collect();
        let some = [true, true, false].map(|careful| interleaving(&execution, &oracle, random, careful));
        for schedule in some.iter().chain([&observed]) {
            agree(schedule);
            mutations(&execution, schedule).iter().for_each(|mutant| agree(mutant));
        }
    });
    assert!(accepted * 20 > refused, "{accepted} of {} schedules were correct", accepted + refused);
}

/// Executions with branches; in some of them threads copy values, in some of these it is said which.
fn with_branches(seed: u64) -> Config {
    let config = Config { values: 0, branches: 12, variables: 2, ..Config::default() };
    let copying = Config { plain: 60, locking: 4, lock_heavy: 0, waiting: 0, forked: 20, ..config.clone() };
    match seed % 4 {
        0 => config,
        1 => copying,
        2 => Config { dependences: 50, events: 8..=16, ..config },
        _ => Config { dependences: 80, events: 9..=16, ..copying },
    }
}

#[test]
fn checker_goes_by_branches_as_the_oracle_does() {
    let (mut only_by_branches, mut refused, mut races) = (0, 0, 0);
    for_each_seed(1_000, |seed| {
        let execution = random_execution(seed, &with_branches(seed));
        let (strict, oracle) = (Oracle::new(&execution), Oracle::by_branches(&execution));
        let checker = Checker::new(&execution);
        let random = &mut Random::new(seed);
        let check = |schedule: &[EventId]| {
            let [.., first, second] = schedule[..] else { return Ok(()) };
            let as_observed = schedule.iter().enumerate().take_while(|&(n, id)| n == id.index()).count();
            let halves = [0, as_observed]
                .map(|cut| Schedule::after(cut as u32, schedule[cut..].to_vec()))
                .map(|halved| {
                    let claim = Claim::Race { first, second };
                    checker.check_all_with(&[(&halved, claim)], Reads::Relaxed).remove(0)
                });
            // Where both accesses are in the observed part, the claim is not seen to end the schedule.
            assert!(as_observed + 2 > schedule.len() || halves[0] == halves[1], "{schedule:?}: {halves:?}");
            halves[0].clone()
        };
        let some = [true, true, false].map(|careful| interleaving(&execution, &oracle, random, careful));
        for schedule in &some {
            let exist = |mutant: &&Vec<EventId>| mutant.iter().all(|id| id.index() < execution.len());
            for mutant in mutations(&execution, schedule).iter().filter(exist).filter(|m| m.len() > 1) {
                let (correct, verdict) = (oracle.is_correct(mutant), check(mutant));
                let broken = matches!(verdict, Err(Refusal::Broken { .. }));
                assert_eq!(broken, !correct, "{mutant:?}: {verdict:?}\n{execution:?}");
                only_by_branches += u32::from(correct && !strict.is_correct(mutant));
                refused += u32::from(broken);
            }
        }
        for schedule in oracle.race_witnesses().values() {
            assert!(oracle.is_correct(schedule), "{schedule:?}\n{execution:?}");
            assert_eq!(check(schedule), Ok(()), "{schedule:?}\n{execution:?}");
            races += 1;
        }
    });
    let ran_many = std::env::var_os("FORESEE_TEST_SEED").is_none();
    assert!(
        !ran_many || only_by_branches.min(refused).min(races) > 100,
        "{only_by_branches} {refused} {races}"
    );
}

/// A property may look at what depends on no changed read, and at nothing else.
#[test]
fn checker_knows_what_a_property_may_look_at() {
    let (mut accepted, mut refused, mut by_dependences) = (0, 0, 0);
    for_each_seed(1_000, |seed| {
        let execution = random_execution(seed, &with_branches(seed));
        let (oracle, checker) = (Oracle::by_branches(&execution), Checker::new(&execution));
        let has_branches = execution.ids().any(|id| execution.op(id) == Op::Branch);
        let random = &mut Random::new(seed);
        for round in 0..10 {
            let careful = round > 2;
            let schedule = interleaving(&execution, &oracle, random, careful);
            let correct = oracle.is_correct(&schedule);
            for nth in 0..schedule.len() {
                let looks_at = |id: EventId| id == schedule[nth];
                let claim = Claim::sliced_property(&|_, _| true, &looks_at);
                let verdict = checker.check(&schedule, &claim);
                // Where no branch tells, threads end as observed only if all reads are.
                let is_whole = schedule.len() == execution.len() && !has_branches;
                let all_as_observed = || (0..schedule.len()).all(|j| oracle.is_as_observed(&schedule, j));
                let expected =
                    correct && oracle.is_as_observed(&schedule, nth) && (!is_whole || all_as_observed());
                assert_eq!(verdict.is_ok(), expected, "{schedule:?} {nth}: {verdict:?}\n{execution:?}");
                *(if expected { &mut accepted } else { &mut refused }) += 1;
                // Something else was read before, but does not matter.
                let same_thread =
                    |&j: &usize| execution.thread(schedule[j]) == execution.thread(schedule[nth]);
                let all = (0..nth).filter(same_thread).all(|j| oracle.is_as_observed(&schedule, j));
                by_dependences += u32::from(expected && !all);
            }
        }
    });
    let ran_many = std::env::var_os("FORESEE_TEST_SEED").is_none();
    assert!(
        !ran_many || accepted.min(refused) > 1_000 && by_dependences > 20,
        "{accepted} {refused} {by_dependences}"
    );
}

#[test]
fn checker_accepts_the_observed_order() {
    for_each_seed(20_000, |seed| {
        let execution = random_execution(seed, &Config::default());
        let observed: Vec<EventId> = execution.ids().collect();
        let verdict = Checker::new(&execution).check_schedule(&observed);
        assert!(verdict.is_ok(), "{verdict:?}\n{execution:?}");
        assert!(Oracle::new(&execution).is_correct(&observed), "{execution:?}");
    });
}

#[test]
fn checker_accepts_what_the_oracle_shows() {
    let (mut races, mut deadlocks, mut violations) = (0, 0, 0);
    for_each_seed(1_000, |seed| {
        let config = Config { blocks: 12, ..Config::default() };
        let execution = random_execution(seed, &config);
        let (oracle, checker) = (Oracle::new(&execution), Checker::new(&execution));
        let accepted = |schedule: &[EventId], claim: Claim<'_>| {
            let verdict = checker.check(schedule, &claim);
            assert!(verdict.is_ok(), "{schedule:?}: {verdict:?}\n{execution:?}");
        };
        for (pair, schedule) in oracle.race_witnesses() {
            let [.., first, second] = schedule[..] else { panic!("{pair:?} by {schedule:?}") };
            assert_eq!(pair, (first.min(second), first.max(second)));
            assert!(oracle.is_correct(&schedule), "{schedule:?}\n{execution:?}");
            accepted(&schedule, Claim::Race { first, second });
            races += 1;
        }
        for deadlock in oracle.deadlock_witnesses().into_values() {
            accepted(&deadlock.schedule, Claim::Deadlock { blocked: deadlock.blocked });
            deadlocks += 1;
        }
        for violation in oracle.atomicity_witnesses().into_values() {
            accepted(&violation.schedule, Claim::Atomicity { cycle: violation.cycle });
            violations += 1;
        }
    });
    let ran_many = std::env::var_os("FORESEE_TEST_SEED").is_none();
    assert!(!ran_many || races.min(deadlocks).min(violations) > 20, "{races} {deadlocks} {violations}");
}

#[test]
fn checker_refuses_claims_the_oracle_denies() {
    for_each_seed(1_000, |seed| {
        let config = Config { blocks: 12, ..Config::default() };
        let execution = random_execution(seed, &config);
        let (oracle, checker) = (Oracle::new(&execution), Checker::new(&execution));
        let (races, deadlocks) = (oracle.races(), oracle.deadlocks());
        let violated = !oracle.atomicity_violations().is_empty();
        let random = &mut Random::new(seed);
        let all: Vec<EventId> = execution.ids().collect();
        let locking: Vec<EventId> = all.iter().copied().filter(|&id| takes_lock(&execution, id)).collect();
        for _ in 0..30 {
            let schedule = interleaving(&execution, &oracle, random, true);
            if let [.., first, second] = schedule[..]
                && checker.check(&schedule, &Claim::Race { first, second }).is_ok()
            {
                assert!(
                    races.contains(&(first.min(second), first.max(second))),
                    "{schedule:?}\n{execution:?}"
                );
            }
            if let (Some(first), Some(second)) = (random.pick(&all), random.pick(&all)) {
                let ends_so = schedule.ends_with(&[first, second]);
                assert!(ends_so || checker.check(&schedule, &Claim::Race { first, second }).is_err());
                let cycle = vec![(first, second), (random.pick(&all).unwrap(), random.pick(&all).unwrap())];
                let accepted = checker.check(&schedule, &Claim::Atomicity { cycle }).is_ok();
                assert!(violated || !accepted, "{schedule:?}\n{execution:?}");
            }
            let blocked: Vec<EventId> =
                (0..2 + random.below(2)).filter_map(|_| random.pick(&locking)).collect();
            let mut sorted = blocked.clone();
            sorted.sort_unstable();
            if checker.check(&schedule, &Claim::Deadlock { blocked }).is_ok() {
                assert!(deadlocks.contains(&sorted), "{sorted:?} after {schedule:?}\n{execution:?}");
            }
        }
    });
}

/// All schedules, all claims: what the checker accepts is all there is, and the oracle knows it.
#[test]
fn oracle_knows_all_that_the_checker_accepts() {
    let mut deadlocks_seen = 0;
    for_each_seed(300, |seed| {
        let config = Config {
            threads: 2..=3,
            events: 6..=9,
            variables: 1,
            locks: 2,
            lock_heavy: 70,
            blocks: 10,
            requests: 15,
            ..Config::default()
        };
        let execution = random_execution(seed, &config);
        let (oracle, checker) = (Oracle::new(&execution), Checker::new(&execution));
        let all: Vec<EventId> = execution.ids().collect();
        let pairs: Vec<(EventId, EventId)> =
            all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))).collect();
        let (mut races, mut deadlocks) = (BTreeSet::new(), BTreeSet::new());
        let has_block = all.iter().any(|&id| matches!(execution.op(id), Op::BlockBegin { .. }));
        // Where the oracle knows a violation, the checker may accept any.
        let may_interleave = has_block && oracle.atomicity_violations().is_empty();
        let mut schedules = BTreeSet::new();
        oracle.for_each_maximal(&mut |maximal| {
            schedules.extend((0..=maximal.len()).map(|n| maximal[..n].to_vec()));
        });
        for schedule in &schedules {
            let accepts = |claim: Claim<'_>| checker.check(schedule, &claim).is_ok();
            if let [.., first, second] = schedule[..]
                && accepts(Claim::Race { first, second })
            {
                races.insert((first.min(second), first.max(second)));
            }
            for &(a, b) in pairs
                .iter()
                .filter(|&&(a, b)| a < b && takes_lock(&execution, a) && takes_lock(&execution, b))
            {
                if accepts(Claim::Deadlock { blocked: vec![a, b] }) {
                    deadlocks.insert(vec![a, b]);
                }
            }
            if may_interleave && schedule.len() == execution.len() {
                // No circle has two events that are not in the order of the schedule.
                let in_order: Vec<(EventId, EventId)> = (schedule.iter().enumerate())
                    .flat_map(|(at, &a)| schedule[at + 1..].iter().map(move |&b| (a, b)))
                    .filter(|&(a, b)| execution.thread(a) != execution.thread(b))
                    .collect();
                for &(a, b) in &in_order {
                    let back = in_order.iter().filter(|&&(c, _)| execution.thread(c) == execution.thread(b));
                    for &(c, d) in back {
                        let cycle = vec![(a, b), (c, d)];
                        assert!(!accepts(Claim::Atomicity { cycle }), "{schedule:?}\n{execution:?}");
                    }
                }
            }
        }
        assert_eq!(races, oracle.races(), "\n{execution:?}");
        let of_two: BTreeSet<_> =
            oracle.deadlocks().into_iter().filter(|blocked| blocked.len() == 2).collect();
        assert_eq!(deadlocks, of_two, "\n{execution:?}");
        deadlocks_seen += deadlocks.len();
    });
    assert!(std::env::var_os("FORESEE_TEST_SEED").is_some() || deadlocks_seen > 3, "{deadlocks_seen}");
}
