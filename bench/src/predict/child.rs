//! What the processes of their own do: each reads a trace, runs engines, and prints numbers on one line.

use std::path::Path;
use std::time::{Duration, Instant};

use cargo_foresee::engines::{self, EngineInfo, Options, default_engines};
use foresee_trace::{EventId, EventSource, Execution};
use foresee_witness::analysis::{Analysis, Limits};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::checker::{Checker, Claim, Reads};
use foresee_witness::engine::{Budget, Case, Outcome, WholeEngine};
use foresee_witness::judge::{Finding, FindingKind};

use crate::{Took, peak_memory};

/// Nothing is let run longer than this.
const LIMIT: Duration = Duration::from_secs(600);

/// How long the engines that try what is left over may take together.
const REST: Duration = Duration::from_secs(10);

/// One engine that streams; prints events, seconds, peak KiB, findings, refused and undecided.
pub(crate) fn stream(name: &str, path: &str) {
    let make = find(name).stream.expect("an engine that streams");
    let mut source = open(path);
    let (took, (events, outcome)) = Took::of(1, || {
        let options = Options::default();
        let mut engine = make(&options).engine();
        let mut index = 0;
        while source.advance().expect("readable") {
            engine.event(index, &source.event());
            index += 1;
        }
        (index, engine.finish(source.names()))
    });
    print(Took { events, ..took }, &outcome, 0);
}

/// One engine that looks at whole executions; prints the same.
pub(crate) fn whole(name: &str, path: &str) {
    let make = find(name).whole.expect("an engine for whole executions");
    let mut source = open(path);
    let (took, (events, (outcome, refused))) = Took::of(1, || {
        let execution = Execution::read(&mut *source).expect("readable");
        let outcome = analyse(&*make(&Options::default()), &execution);
        (execution.len() as u64, outcome)
    });
    print(Took { events, ..took }, &outcome, refused);
}

fn print(took: Took, outcome: &Outcome, refused: u64) {
    let Outcome { findings, undecided, .. } = outcome;
    let (events, seconds, peak) = (took.events, took.seconds, peak_memory());
    println!("{events} {seconds} {peak} {} {refused} {undecided}", findings.len());
}

/// All default engines, as `foresee check` runs them, on one core. Prints seconds, races, other findings, refused and
/// undecided.
pub(crate) fn pipeline(path: &str) {
    let mut source = open(path);
    let limits = Limits {
        deadline: Instant::now().checked_add(LIMIT),
        rest: REST,
        events: u64::MAX,
        trace_threads: u64::MAX,
        threads: 1,
        memory: usize::MAX,
        interrupt: None,
    };
    let options = Options::default();
    let (took, analysed) = Took::of(1, || {
        let engines = default_engines().map(|engine| engine.make(&options)).collect();
        let mut analysis = Analysis::new(engines, AtomicFunctions::default(), limits, false);
        while source.advance().expect("readable") {
            analysis.event(source.names(), &source.event());
        }
        analysis.finish(source.names(), source.trust(), &mut |_| {})
    });
    let races = analysed.findings.iter().filter(|finding| finding.kind == FindingKind::Race).count();
    let others = analysed.findings.len() - races;
    let refused: u64 = analysed.engines.iter().map(|engine| engine.refused).sum();
    let undecided: u64 = analysed.engines.iter().map(|engine| engine.undecided).sum();
    println!("{} {races} {others} {refused} {undecided}", took.seconds);
}

/// One engine that looks at whole executions. Prints the number of witnesses, the seconds of the analysis, and the
/// seconds that it takes to prepare a checker and check them all again.
pub(crate) fn witnesses(name: &str, path: &str) {
    let execution = Execution::read(&mut *open(path)).expect("readable");
    let options = Options::default();
    let engine = find(name).whole.expect("an engine for whole executions")(&options);
    let (analysis, (outcome, _)) = Took::of(1, || analyse(&*engine, &execution));
    let shown: Vec<&Finding> = outcome.findings.iter().filter(|f| !f.witness().is_empty()).collect();
    let (checking, ()) = Took::of(1, || {
        let checker = Checker::new(&execution);
        let witnesses: Vec<_> = shown.iter().map(|finding| (finding.witness(), claim(finding))).collect();
        let verdicts = checker.check_all_with(&witnesses, Reads::Relaxed);
        assert!(verdicts.iter().all(Result::is_ok), "accepted before");
    });
    println!("{} {} {}", shown.len(), analysis.seconds, checking.seconds);
}

/// What an engine finds, and how many of its proposals are refused.
fn analyse(engine: &dyn WholeEngine, execution: &Execution) -> (Outcome, u64) {
    let case = Case::new(execution, AtomicFunctions::default());
    let outcome = case.run(engine, Budget::lasting(LIMIT));
    (outcome, case.refused())
}

/// What the witness of a finding shows.
fn claim(finding: &Finding) -> Claim<'static> {
    let event = |&index: &u64| EventId(u32::try_from(index).expect("an event of an execution in memory"));
    match finding.kind {
        FindingKind::Deadlock => Claim::Deadlock { blocked: finding.events.iter().map(event).collect() },
        FindingKind::Atomicity => Claim::Atomicity {
            cycle: finding.events.chunks_exact(2).map(|edge| (event(&edge[0]), event(&edge[1]))).collect(),
        },
        FindingKind::Race => {
            let &[first, second] = finding.witness().then().last_chunk().expect("the two accesses");
            Claim::Race { first, second }
        }
        other => panic!("no engine of this benchmark finds a {}", other.name()),
    }
}

fn find(name: &str) -> &'static EngineInfo {
    engines::engine(name).expect("an engine of the registry")
}

fn open(path: &str) -> Box<dyn EventSource> {
    foresee_trace::open(Path::new(path)).expect("a trace")
}
