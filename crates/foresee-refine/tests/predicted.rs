//! Predicted refinement against the truth, on very many random tiny programs: what is predicted happens in some correct reordering, and of what
//! happens in one, nearly all is predicted. (Not all: threads are held up twice at most.)

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::fmt::Write as _;

use foresee_oracle::{Oracle, Random, for_each_seed};
use foresee_refine::linear::Limits;
use foresee_refine::named::{Model, Structure, refine};
use foresee_refine::recorded::{OperationLog, PredictedRefinement, Words};
use foresee_trace::text::TextReader;
use foresee_trace::{EventId, Execution};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Budget, Case};

/// What a thread of a program does.
#[derive(Clone, Debug)]
enum Step {
    /// Said as it is.
    Word(String),
    Acquire(usize),
    Release(usize),
    /// Adds what is read to what the operation knows.
    Read(usize),
    /// Adds to the variable what it has read last, and this.
    Add(usize, i64),
    /// Gives back what the operation knows.
    ReturnSum(&'static str),
}

fn word(text: impl Into<String>) -> Step {
    Step::Word(text.into())
}

/// A counter in two stripes, each under its lock or under none, with commits anywhere.
fn counter_operation(random: &mut Random) -> Vec<Step> {
    let (stripe, is_locked) = (random.below(2), random.percent(70));
    let method = if random.percent(60) { "inc" } else { "dec" };
    if random.percent(35) {
        let mut steps = vec![word("call(get)")];
        for stripe in [0, 1] {
            steps.extend(is_locked.then_some(Step::Acquire(stripe)));
            steps.push(Step::Read(stripe));
            steps.extend(is_locked.then_some(Step::Release(stripe)));
        }
        steps.push(Step::ReturnSum("get"));
        return steps;
    }
    let mut steps = vec![Step::Add(stripe, if method == "inc" { 1 } else { -1 })];
    if random.percent(30) {
        steps.insert(0, Step::Read(stripe));
    }
    let place = if random.percent(80) { steps.len() } else { random.below(steps.len() + 1) };
    steps.insert(place, word(format!("commit({method})")));
    if is_locked {
        steps.insert(0, Step::Acquire(stripe));
        // A commit that comes late may be after the release.
        let end = if random.percent(85) { steps.len() } else { steps.len() - 1 };
        steps.insert(end, Step::Release(stripe));
    }
    steps.insert(0, word(format!("call({method})")));
    steps.push(word(format!("return({method}, \"ok\")")));
    steps
}

/// An insertion into a slot of its own, in a commit block or not.
fn multiset_operation(random: &mut Random, slot: usize) -> Vec<Step> {
    let (has_block, is_locked) = (random.percent(60), random.percent(60));
    let (element, lock) = (random.below(2), random.below(2));
    let mut inside =
        vec![word(format!("event(log_write, \"A[{slot}].valid\", \"true\")")), word("commit(insert)")];
    if has_block {
        inside.insert(0, word("commit_begin(insert)"));
        inside.push(word("commit_end(insert)"));
    }
    if is_locked {
        inside.insert(0, Step::Acquire(lock));
        inside.push(Step::Release(lock));
    }
    inside.insert(0, word(format!("event(log_write, \"A[{slot}].elt\", {element})")));
    inside.insert(0, word(format!("call(insert, {element})")));
    inside.push(word("return(insert, \"success\")"));
    inside
}

/// A random run of these threads.
fn run(random: &mut Random, threads: &[Vec<Step>]) -> Execution {
    let (mut at, mut known) = (vec![0; threads.len()], vec![(0, 0); threads.len()]);
    let (mut memory, mut holders) = ([0_i64; 2], [None; 2]);
    let mut text = String::new();
    loop {
        let can_go = |thread: &usize| match threads[*thread].get(at[*thread]) {
            Some(Step::Acquire(lock)) => holders[*lock].is_none(),
            step => step.is_some(),
        };
        let ready: Vec<usize> = (0..threads.len()).filter(can_go).collect();
        let Some(thread) = random.pick(&ready) else { break };
        // Threads seldom meet: most runs look right.
        for _ in 0..1 + random.below(6) {
            let Some(step) = threads[thread].get(at[thread]) else { break };
            let (sum, last) = &mut known[thread];
            let said = match step {
                Step::Word(said) => said.clone(),
                Step::Acquire(lock) if holders[*lock].is_some() => break,
                Step::Acquire(lock) => {
                    holders[*lock] = Some(thread);
                    format!("acq(l{lock})")
                }
                Step::Release(lock) => {
                    holders[*lock] = None;
                    format!("rel(l{lock})")
                }
                Step::Read(variable) => {
                    (*sum, *last) = (*sum + memory[*variable], memory[*variable]);
                    format!("r(x{variable}={last})")
                }
                Step::Add(variable, more) => {
                    memory[*variable] += more;
                    format!("w(x{variable}={})", memory[*variable])
                }
                Step::ReturnSum(method) => format!("return({method}, {sum})"),
            };
            if said.starts_with("return") {
                *sum = 0;
            }
            writeln!(text, "T{thread}|{said}").unwrap();
            at[thread] += 1;
        }
    }
    Execution::read(&mut TextReader::new(text.as_bytes())).unwrap_or_else(|why| panic!("{why}: {text}"))
}

fn is_wrong(execution: &Execution, structure: Structure, schedule: &[EventId]) -> bool {
    let OperationLog { log, .. } = OperationLog::of(execution, &Words::default(), schedule.iter().copied());
    let found = refine(structure, &log, Limits::default()).unwrap();
    found.io.is_some() || found.view.flatten().is_some()
}

/// Checks programs of a structure. Of those that have a run that is wrong, at least so many per cent must be predicted.
fn agrees(structure: Structure, seeds: u64, least: u32, program: &dyn Fn(&mut Random) -> Vec<Vec<Step>>) {
    let (mut wrong, mut predicted, mut right) = (0, 0, 0);
    for_each_seed(seeds, |seed| {
        let mut random = Random::new(seed);
        let threads = program(&mut random);
        let execution = run(&mut random, &threads);
        let observed: Vec<EventId> = execution.ids().collect();
        if is_wrong(&execution, structure, &observed) {
            return;
        }
        let case = Case::new(&execution, AtomicFunctions::default());
        let found = case.run(&PredictedRefinement::new(structure), Budget::unlimited());
        let mut has_wrong_run = false;
        // Only the order of words matters to a log.
        let mut seen: HashSet<Vec<EventId>> = HashSet::new();
        Oracle::new(&execution).for_each_maximal(&mut |schedule| {
            if !has_wrong_run
                && seen
                    .insert(OperationLog::of(&execution, &Words::default(), schedule.iter().copied()).events)
            {
                has_wrong_run = is_wrong(&execution, structure, schedule);
            }
        });
        let show = || {
            execution
                .ids()
                .map(|id| format!("{:?} {:?}", execution.thread(id), execution.op(id)))
                .collect::<Vec<_>>()
        };
        assert_eq!(case.refused(), 0, "{:#?}", show());
        match (has_wrong_run, found.findings.is_empty()) {
            (false, false) => panic!("predicted, but no run is wrong: {:#?}", show()),
            (false, true) => right += 1,
            (true, is_missed) => {
                wrong += 1;
                predicted += u32::from(!is_missed);
            }
        }
        for finding in &found.findings {
            let schedule: Vec<EventId> = finding.witness().iter().collect();
            assert!(Oracle::new(&execution).is_correct(&schedule), "{schedule:?} of {:#?}", show());
            assert!(is_wrong(&execution, structure, &schedule), "{schedule:?} of {:#?}", show());
        }
    });
    if std::env::var_os("FORESEE_TEST_SEED").is_none() {
        assert!(right > 20 && wrong > 20, "{right} {wrong}");
        assert!(predicted * 100 >= wrong * least, "{predicted} of {wrong}");
    }
}

#[test]
fn counters_of_two_threads() {
    agrees(Structure::ResultsOf(Model::Counter), 4_000, 99, &|random| {
        vec![counter_operation(random), counter_operation(random)]
    });
}

#[test]
fn counters_of_three_threads() {
    agrees(Structure::ResultsOf(Model::Counter), 400, 100, &|random| {
        (0..3)
            .map(|_| {
                counter_operation(random)
                    .into_iter()
                    .filter(|step| !matches!(step, Step::Acquire(_) | Step::Release(_)))
                    .collect()
            })
            .collect()
    });
}

#[test]
fn multisets_of_two_threads() {
    agrees(Structure::Multiset, 400, 100, &|random| {
        vec![multiset_operation(random, 0), multiset_operation(random, 1)]
    });
}
