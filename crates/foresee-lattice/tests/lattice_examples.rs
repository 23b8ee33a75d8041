//! The papers' examples, with the papers' results.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use foresee_lattice::dependence_slice::DependenceSlice;
use foresee_lattice::explorer::{self, Breadth, Report};
use foresee_lattice::model_name::ModelName::{self, Hb, Sliced, Weak};
use foresee_lattice::predict::{PredictedVerdicts, Prediction};
use foresee_lattice::property::ObservedVerdicts;
use foresee_lattice::run_count::{self, Count};
use foresee_monitor::compile;
use foresee_monitor::formalism::Categories;
use foresee_monitor::formalism::automaton::Automaton;
use foresee_trace::text::TextReader;
use foresee_trace::{EventId, Execution, Op, Trust};
use foresee_witness::analysis::{Analysis, Limits};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Budget, Engine, Stream};
use foresee_witness::judge::{Certainty, Finding, PredictedRun};

fn text(name: &str) -> String {
    let path = format!("{}/../../examples/traces/{name}.std", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn execution(text: &str) -> Execution {
    Execution::read(&mut TextReader::new(text.as_bytes())).unwrap()
}

fn example(name: &str) -> Execution {
    execution(&text(name))
}

/// What the property says of the example under a model.
fn check(name: &str, spec: &str, model: ModelName) -> Vec<Finding> {
    check_text(&text(name), spec, model)
}

fn check_text(trace: &str, spec: &str, model: ModelName) -> Vec<Finding> {
    let execution = execution(trace);
    let properties = compile(spec).unwrap().properties;
    let prediction = Prediction { model, ..Prediction::default() };
    let limits = Limits {
        deadline: None,
        rest: std::time::Duration::from_secs(60),
        events: u64::MAX,
        trace_threads: u64::MAX,
        threads: 2,
        memory: usize::MAX,
        interrupt: None,
    };
    let engine = Engine {
        name: "property",
        rest: false,
        stream: Some(Stream::Along(Box::new(ObservedVerdicts::new(&properties, "")))),
        whole: Some(Box::new(PredictedVerdicts::new(&properties, "", prediction))),
    };
    let mut analysis = Analysis::new(vec![engine], AtomicFunctions::default(), limits, true);
    for id in execution.ids() {
        analysis.event(execution.names(), &execution.event(id));
    }
    let analysed = analysis.finish(execution.names(), Trust::whole(), &mut |_| {});
    assert!(analysed.engines.iter().all(|engine| engine.refused == 0 && engine.undecided == 0));
    analysed.findings
}

/// The one run that is predicted, with the values of the variables along it.
fn predicted(findings: &[Finding]) -> (&PredictedRun, Vec<Vec<i64>>) {
    let [finding] = findings else { panic!("expected one prediction: {findings:?}") };
    assert_eq!(finding.certainty(), Certainty::Predicted);
    let run = finding.run.as_ref().unwrap();
    let values =
        run.events.iter().map(|step| step.values.iter().map(|(_, value)| *value).collect()).collect();
    (run, values)
}

/// The lattice of the events that are relevant.
fn lattice(
    name: &str,
    model: ModelName,
    relevant: impl Fn(&Execution, EventId) -> bool + Sync,
) -> (Report, Option<Count>) {
    let execution = example(name);
    let nothing = Automaton::new(1, &[vec![0]], vec![Categories::NONE]);
    let letter = |id| relevant(&execution, id).then_some(0);
    let (causality, _) = model.model().read(&execution, &letter, false);
    let options = explorer::Options {
        breadth: Breadth::All,
        memory: usize::MAX,
        budget: Budget::unlimited(),
        place: &|event| event.into(),
        violations: 0,
        known: Default::default(),
    };
    let runs = run_count::count(&causality, &nothing);
    (explorer::explore(&causality, &nothing, options), runs)
}

fn writes(execution: &Execution, id: EventId) -> bool {
    matches!(execution.op(id), Op::Write { .. })
}

const FLIGHT: &str = include_str!("../../../examples/traces/flight.rv");

#[test]
fn flight_has_six_states_and_three_runs_of_which_two_are_wrong() {
    for model in [Hb, Weak, Sliced] {
        let (lattice, runs) = lattice("flight", model, writes);
        assert_eq!((lattice.cuts, runs.map(|runs| runs.all)), (6, Some(3)), "{model:?}");
        let findings = check("flight", FLIGHT, model);
        let (run, values) = predicted(&findings);
        assert_eq!(run.runs, Some((2, 3)));
        assert!(run.exhaustive);
        // landing, approved, radio
        assert_eq!(values, [[0, 1, 1], [0, 1, 0], [1, 1, 0]]);
        assert_eq!(run.events.iter().map(|step| step.moved).collect::<Vec<_>>(), [false, true, false]);
    }
}

const XYZ: &str = "
    property Xyz {
        var x: int = -1;
        var y, z: int;
        ptltl: x > 0 -> [y == 0, y > z)
        @violation { report \"wrong\"; }
    }";

#[test]
fn xyz_has_three_runs_of_which_the_rightmost_is_wrong() {
    assert_eq!(lattice("xyz", Hb, writes).1.map(|runs| runs.all), Some(3));
    let findings = check("xyz", XYZ, Hb);
    let (run, values) = predicted(&findings);
    assert_eq!(run.runs, Some((1, 3)));
    assert_eq!(values, [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1]]);
}

const LANDING: &str = "
    property Permit {
        var permit, landing: int;
        ptltl: start(landing == 1) -> (*) permit == 1
        @violation { report \"landing without a permit\"; }
    }";

#[test]
fn weak_causality_finds_the_landing_without_a_permit() {
    assert_eq!(check("landing", LANDING, Hb), []);
    let findings = check("landing", LANDING, Weak);
    let (run, values) = predicted(&findings);
    assert_eq!(values, [[1, 0], [0, 0], [0, 1]]);
    let events: Vec<u64> = run.events.iter().map(|step| step.event).collect();
    assert_eq!(events, [1, 0, 3]);
}

const SIGNS: &str = "
    property NegativeFirst {
        var x: int;
        ptltl: start(x > 0) -> <*> x < 0
        @violation { report \"x is positive before it was negative\"; }
    }";

#[test]
fn positive_may_come_before_negative() {
    assert_eq!(check("signs", SIGNS, Hb), []);
    let findings = check("signs", SIGNS, Weak);
    let (_, values) = predicted(&findings);
    assert_eq!(values, [[1]]);
    // The lattice of figure 3, in which all events are relevant.
    assert_eq!(lattice("signs", Weak, |_, _| true).0.cuts, 13);
    assert_eq!(lattice("signs", Hb, |_, _| true).0.cuts, 10);
}

#[test]
fn a_write_that_nobody_reads_is_relevant() {
    let execution = example("relevance");
    let is_y = |id: EventId| [0, 5, 6].contains(&id.0);
    let letter = |id: EventId| is_y(id).then_some(0);
    let (complete, one_pass) =
        (DependenceSlice::complete(&execution, &letter), DependenceSlice::one_pass(&execution, &letter));
    assert!(execution.ids().all(|id| complete.contains(id)));
    assert!(!one_pass.contains(EventId(4)), "the paper's one walk misses it");
    assert_eq!(complete.difference(&one_pass), 1);

    // The last write of y may come before the first, but not before the look at x.
    let y = |_: &Execution, id: EventId| is_y(id);
    let (all, _) = lattice("relevance", Sliced, y);
    assert!(all.exhaustive);
    let order = "
        property Order {
            var y: int;
            ptltl: start(y == 2) -> !(<*> y == 3)
            @violation { report \"3 before 2\"; }
        }";
    let findings = check("relevance", order, Sliced);
    let (run, _) = predicted(&findings);
    assert_eq!(run.events.iter().map(|step| step.event).collect::<Vec<_>>(), [0, 6, 5]);
    let false_alarm = "
        property Order {
            var y: int;
            ptltl: start(y == 1) -> !(<*> y == 3)
            @violation { report \"3 before 1: nothing does that\"; }
        }";
    assert_eq!(check("relevance", false_alarm, Sliced), []);
}

/// The same trace without what it says of dependences.
fn saying_nothing(trace: &str) -> String {
    let says = |line: &&str| line.contains("|from(") || line.ends_with("|constant");
    trace.lines().filter(|line| !says(line)).map(|line| format!("{line}\n")).collect()
}

const WEATHER: &str = include_str!("../../../examples/traces/weather.rv");

#[test]
fn what_is_only_logged_does_not_decide() {
    let trace = text("weather");
    for model in [Hb, Weak] {
        assert_eq!(check_text(&trace, WEATHER, model), []);
    }
    assert_eq!(check_text(&saying_nothing(&trace), WEATHER, Sliced), []);
    let findings = check_text(&trace, WEATHER, Sliced);
    let (run, values) = predicted(&findings);
    // landing, radio
    assert_eq!(values, [[1, 0]]);
    // The controller has not seen the weather, but the permit.
    let mut witness: Vec<u32> = findings[0].witness().to_vec().iter().map(|id| id.0).collect();
    witness.sort_unstable();
    assert_eq!(witness, [0, 1, 6, 7, 8, 9, 10, 11, 12, 13]);
    assert!(run.exhaustive);
    // Were the landing to depend on the log, it could not come first.
    let read_back = trace.replace("controller|constant\n", "controller|r(log=3)\ncontroller|from(log)\n");
    assert_eq!(check_text(&read_back, WEATHER, Sliced), []);
}

/// Figure 7 with the dependences that the paper names, and with a read that nothing depends on.
#[test]
fn relevance_by_explicit_dependences() {
    let trace = "\
        t1|constant\nt1|w(y=1)\nt2|constant\nt2|w(x=1)\nt2|constant\nt2|w(z=1)\nt1|r(z=1)\n\
        t1|r(x=1)\nt1|from(x)\nt1|branch\nt2|constant\nt2|w(x=0)\nt1|constant\nt1|w(y=2)\nt2|constant\nt2|w(y=3)\n";
    let kept =
        |trace: &str, slice: fn(&Execution, &(dyn Fn(EventId) -> Option<u32> + Sync)) -> DependenceSlice| {
            let execution = execution(trace);
            let names = execution.names();
            let named =
                |id: EventId| execution.op(id).mem().map(|mem| names.mem_text(mem)).unwrap_or_default();
            let letter = |id: EventId| (named(id) == "y").then_some(0);
            let slice = slice(&execution, &letter);
            let accesses = execution.ids().filter(|&id| execution.access(id).is_some());
            accesses.filter(|&id| slice.contains(id)).map(named).collect::<Vec<String>>()
        };
    assert_eq!(kept(trace, DependenceSlice::complete), ["y", "x", "x", "x", "y", "y"]);
    assert_eq!(kept(trace, DependenceSlice::one_pass), ["y", "x", "x", "y", "y"], "e4 is missing");
    let nothing = saying_nothing(trace);
    assert_eq!(kept(&nothing, DependenceSlice::complete), ["y", "x", "z", "z", "x", "x", "y", "y"]);
    // The second write of y may come before t2 sets z, but not before t2 sets x, nor after x is 0 again.
    let order = |first: u32, then: u32| {
        format!(
            "property Order {{ var y: int; ptltl: start(y == {then}) -> !(<*> y == {first}) \
             @violation {{ report \"wrong\"; }} }}"
        )
    };
    let findings = check_text(trace, &order(3, 2), Sliced);
    assert_eq!(predicted(&findings).1, [[1], [3], [2]]);
    assert_eq!(check_text(trace, &order(3, 1), Sliced), []);
}

#[test]
fn what_a_run_ends_with() {
    let spec = "
        property Closed(f) {
            event open(f); event close(f); event end_program;
            ere: (open | close)* open end_program
            @match { report \"open at the end\"; }
        }";
    let trace = "a|fork(b)\na|event(open, @7)\nb|event(close, @7)\na|event(close, @8)\nb|event(done)\n";
    for model in [Hb, Weak, Sliced] {
        let findings = check_text(trace, spec, model);
        let (run, _) = predicted(&findings);
        assert_eq!(run.events.iter().map(|step| step.event).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(run.runs, Some((1, 2)));
        assert_eq!(findings[0].events, [0; 0]);
        assert_eq!(findings[0].witness().len(), 5, "all events");
    }
    // It is closed after b has ended.
    let joined = "a|fork(b)\nb|event(open, @7)\na|join(b)\na|event(close, @7)\n";
    assert_eq!(check_text(joined, spec, Weak), []);
    // What was seen need not be predicted.
    let seen = check_text("a|event(close, @7)\nb|event(open, @7)\n", spec, Weak);
    assert_eq!(seen.iter().map(|finding| finding.certainty()).collect::<Vec<_>>(), [Certainty::Observed]);
}

#[test]
fn every_suffix_of_a_run_may_go_wrong() {
    let spec = "property Twice { event a; event b; ere: a a @match { report \"twice\"; } }";
    let trace = "x|event(a)\nx|event(b)\nx|fork(y)\nx|event(a)\nx|event(b)\ny|event(a)\n";
    assert_eq!(check_text(trace, spec, Weak), []);
    let findings = check_text(trace, &format!("suffix {spec}"), Weak);
    let (run, _) = predicted(&findings);
    assert_eq!(run.events.iter().map(|step| step.event).collect::<Vec<_>>(), [0, 1, 5, 3]);
    // That of y may also come after the other, but not after the second b.
    assert_eq!(run.runs, Some((2, 3)));
}

#[test]
fn what_instances_remember_is_predicted() {
    let spec = r#"property AtMostOne(s) {
        state held: int = 0;
        event over(s) = push(s) when held >= 1;
        event push(s) when held < 1 { held += 1; }
        event pop(s) { held -= 1; }
        ere: (push | pop)* over
        @match { report "{s} holds two"; }
    }"#;
    let trace = "T1|fork(T2)|1\nT1|event(push, @7)|2\nT2|event(pop, @7)|3\nT1|event(push, @7)|4\n";
    let found = check_text(trace, spec, Weak);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].certainty(), Certainty::Predicted);
    assert_eq!(found[0].events, [3]);
    let ordered =
        "T1|fork(T2)|1\nT1|event(push, @7)|2\nT2|event(pop, @7)|3\nT1|join(T2)|3\nT1|event(push, @7)|4\n";
    assert_eq!(check_text(ordered, spec, Weak).len(), 0);
}
