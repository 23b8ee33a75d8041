//! Operations that have committed and never return may have had any result: a log is right if some choice of all their results makes it right. All
//! choices are tried here, on very many random small logs, and the checker must say the same.

#![allow(clippy::unwrap_used)]

use foresee_oracle::{Random, for_each_seed};
use foresee_refine::Value;
use foresee_refine::log::{Action, Event, Log, Thread};
use foresee_refine::models::Multiset;
use foresee_refine::refine::{Mode, check};
use foresee_refine::structures::SlotsReplica;

/// What an operation may have given back.
fn results(method: &str) -> [Value; 2] {
    match method {
        "lookup" | "delete" => [true, false].map(Value::from),
        _ => ["success", "failure"].map(Value::from),
    }
}

/// A log of threads that each have one operation on a few elements; some never return, or do not even commit.
fn random_log(random: &mut Random) -> Log {
    let mut log = Log::default();
    let mut threads: Vec<Vec<Action>> = Vec::new();
    for id in 0..3 + random.below(6) {
        log.threads.push(Thread { name: id.to_string().into(), is_internal: false });
        let method = random.pick(&["insert", "insert", "insertPair", "delete", "lookup"]).unwrap();
        let element = |random: &mut Random| Value::from(random.below(4));
        let count = if method == "insertPair" { 2 } else { 1 };
        let args: Vec<Value> = (0..count).map(|_| element(random)).collect();
        let mut actions = vec![Action::Call { method: method.into(), args: args.clone().into() }];
        if count == 1 && random.percent(40) {
            let write =
                |field: &str, value| Action::Write { target: format!("A[{id}].{field}").into(), value };
            actions.push(write("elt", args[0].clone()));
            actions.push(write("valid", random.percent(70).into()));
        }
        if method != "lookup" && random.percent(95) {
            actions.push(Action::Commit);
        }
        let is_right = actions.contains(&Action::Commit) || method == "lookup";
        if is_right && random.percent(50) {
            let ret = results(method)[random.below(2)].clone();
            actions.push(Action::Return { method: method.into(), ret });
        }
        actions.reverse();
        threads.push(actions);
    }
    while threads.iter().any(|actions| !actions.is_empty()) {
        let thread = random.below(threads.len());
        let action = threads[thread].pop();
        log.events.extend(action.map(|action| Event { thread: thread as u32, action }));
    }
    log
}

/// The log with each choice of what its unfinished operations gave back.
fn filled(log: &Log) -> Vec<Log> {
    let of = |thread: u32| {
        log.events.iter().filter(move |event| event.thread == thread).map(|event| &event.action)
    };
    let mut all = vec![log.clone()];
    for thread in 0..log.threads.len() as u32 {
        let is_open = of(thread).any(|action| *action == Action::Commit)
            && !of(thread).any(|action| matches!(action, Action::Return { .. }));
        let method = of(thread).find_map(|action| match action {
            Action::Call { method, .. } => Some(method.clone()),
            _ => None,
        });
        let Some(method) = method.filter(|_| is_open) else { continue };
        let with = |log: &Log, ret: Value| {
            let mut log = log.clone();
            log.events.push(Event { thread, action: Action::Return { method: method.clone(), ret } });
            log
        };
        all = all.iter().flat_map(|log| results(&method).map(|ret| with(log, ret))).collect();
    }
    all
}

#[test]
fn some_choice_of_unknown_results_makes_a_log_right() {
    let mut seen = [0, 0];
    for_each_seed(20_000, |seed| {
        let mut random = Random::new(seed);
        let log = random_log(&mut random);
        for mode in [Mode::Io, Mode::View, Mode::Quiescent] {
            let first = |log: &Log| {
                check(&Multiset, SlotsReplica::default(), log, mode).unwrap().map(|found| found.first)
            };
            // The last choice that is wrong tells where.
            let expected = filled(&log).iter().map(|log| first(log).unwrap_or(usize::MAX)).max().unwrap();
            // Where nothing is left that could be wrong but the end of the log, it is right: what is added there is not in it.
            let expected = Some(expected).filter(|first| *first < log.events.len());
            assert_eq!(first(&log), expected, "{mode:?} {log:#?}");
            seen[usize::from(expected.is_some())] += 1;
        }
    });
    assert!(
        std::env::var_os("FORESEE_TEST_SEED").is_some() || seen.iter().all(|count| *count > 1_000),
        "{seen:?}"
    );
}
