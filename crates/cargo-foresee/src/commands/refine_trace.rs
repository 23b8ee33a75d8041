//! `foresee refine TRACE`: the operations of a recorded program against their specification, in the observed run and in others.

use std::path::Path;
use std::time::Instant;

use foresee_refine::linear::Limits;
use foresee_refine::log::Action;
use foresee_refine::named::Structure;
use foresee_refine::read::{Case, Place, Subject};
use foresee_refine::recorded::{OperationLog, PredictedRefinement, Words};
use foresee_refine::refine::{Judgement, Kind, Mode};
use foresee_refine::{Operation, Value};
use foresee_trace::{EventId, Execution, Gap, NoEnd, Spoils};
use foresee_witness::analysis::{self, Analysed, Analysis};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::Engine;
use foresee_witness::judge;

use crate::error::CliError;
use crate::input::Input;
use crate::report::build::event_of;
use crate::report::build::refinement::{self, Checked, Question};
use crate::report::model::{Certainty, Finding, Refinement, Witness};

/// What came of a trace.
pub(super) struct TraceChecked {
    pub(super) checked: Checked,
    pub(super) undecided: u64,
    pub(super) refused: u64,
}

/// Whether this is a trace, by its ending.
pub(super) fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ft" || ending == "std")
}

/// Checks the observed run; if that is right, looks for another that is not.
pub(super) fn check(
    path: &Path,
    structure: Structure,
    views: Mode,
    limits: Limits,
) -> Result<TraceChecked, CliError> {
    let mut input = Input::open(path)?;
    let engine = Engine {
        name: refinement::ENGINE,
        rest: false,
        stream: None,
        whole: Some(Box::new(PredictedRefinement::new(structure))),
    };
    let own = analysis::Limits {
        deadline: limits.deadline,
        rest: std::time::Duration::ZERO,
        events: u64::from(u32::MAX),
        trace_threads: u64::MAX,
        threads: 1,
        memory: limits.memory,
        interrupt: Some(crate::interrupt::interrupted()),
    };
    let mut analysis = Analysis::new(vec![engine], AtomicFunctions::default(), own, true);
    let mut out_of_time = false;
    while !out_of_time && input.advance()? {
        let event = input.event();
        let names = input.names();
        analysis.event(names, &event);
        out_of_time = limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
    }
    input.warn_of_damage();
    let mut trust = input.source().trust();
    if out_of_time {
        trust.add(Gap::NoEnd(NoEnd::OutOfTime));
    }
    let analysed = analysis.finish(input.source().names(), trust, &mut |_| ());
    let Some(execution) = &analysed.execution else {
        return Err(CliError::Usage(format!("{}: the trace is empty", path.display())));
    };
    let wrong = |why: &dyn std::fmt::Display| CliError::Usage(format!("{}: {why}", path.display()));
    let question = Question { views, ..Question::default() };
    let run = OperationLog::of(execution, &Words::of(execution, structure), execution.ids());
    let is_call = |event: &foresee_refine::log::Event| matches!(event.action, Action::Call { .. });
    if !out_of_time && !run.log.events.iter().any(is_call) {
        return Err(wrong(
            &"no operation in it: nothing was checked; a program says its operations by FORESEE_OPERATION or `#[mutator]`",
        ));
    }
    let checked = of_run(run, structure, question, limits).map_err(|why| wrong(&why))?;
    let (undecided, refused) =
        analysed.engines.iter().fold((0, 0), |(a, b), engine| (a + engine.undecided, b + engine.refused));
    let checked = match analysed.findings.first() {
        // Without a schedule there is nothing to show but that there is something.
        Some(found) if checked.finding.is_none() && found.witness().is_empty() => {
            let message =
                "operations may not refine their specification in another order of the recorded events";
            let what = Refinement {
                model: structure.name().to_owned(),
                blame: Judgement::Undecided.name().to_owned(),
                ..Refinement::default()
            };
            let finding = Finding::of_refinement(refinement::ENGINE, message.to_owned(), None, what);
            Checked { finding: Some(Finding { certainty: Certainty::Candidate, ..finding }), ..checked }
        }
        Some(found) if checked.finding.is_none() => {
            let words = Words::of(execution, structure);
            let run = OperationLog::of(execution, &words, found.witness().iter());
            let mut predicted =
                of_run(run.clone(), structure, question, limits).map_err(|why| wrong(&why))?;
            predicted.finding =
                predicted.finding.map(|finding| predicted_finding(execution, &run, finding, found));
            predicted
        }
        _ => checked,
    };
    let mut checked = Checked { events: execution.len() as u64, ..checked };
    checked.locate(&|index| {
        let event = u32::try_from(index).ok().map(EventId).map(|id| execution.event(id));
        let event = event.map(|event| event_of(execution.names(), &event, index));
        event.map(|event| (event.location, event.place)).unwrap_or_default()
    });
    if let Some(finding) = &mut checked.finding {
        hint_at_commit(execution, structure, finding);
    }
    if let (Some(finding), Some(reason)) = (&mut checked.finding, doubt(&analysed)) {
        finding.certainty = Certainty::Candidate;
        finding.reason = Some(reason);
    }
    // What there was no time to read is not known either.
    Ok(TraceChecked { checked, undecided: undecided + u64::from(out_of_time), refused })
}

/// Says of an operation without a commit before which release of a lock it probably belongs.
fn hint_at_commit(execution: &Execution, structure: Structure, finding: &mut Finding) {
    let Some(refinement) =
        finding.refinement.as_mut().filter(|it| it.violation == Kind::MissingCommit.name())
    else {
        return;
    };
    let id = |index: u64| u32::try_from(index).ok().map(EventId);
    let Some(operation) = &refinement.operation else { return };
    if let Some(call) = id(operation.call)
        && let Some(returned) = operation.returned.and_then(id)
        && let Some(release) =
            OperationLog::commit_place(execution, &Words::of(execution, structure), call, returned)
    {
        let place = execution.names().location_text(execution.loc(release));
        refinement.notes = vec![format!(
            "a commit probably belongs before the lock is released at {place} (event {}), the first time after the last write",
            release.0
        )];
    }
}

/// Why nothing is certain: what a refinement checker says of a run rests on all of it.
fn doubt(analysed: &Analysed) -> Option<String> {
    let gaps = [Spoils::Everything, Spoils::Predictions, Spoils::WholeRun];
    gaps.into_iter().find_map(|what| analysed.trust.spoiled_by(what)).map(ToString::to_string)
}

/// The log of some run, checked. Its events have the numbers that they have in the trace. A program that says nothing of commits is asked whether
/// some order explains what its operations gave back.
fn of_run(
    run: OperationLog,
    structure: Structure,
    question: Question,
    limits: Limits,
) -> Result<Checked, refinement::CaseError> {
    let OperationLog { log, events } = run;
    let place = |index: usize| Place { event: events.get(index).map_or(0, |id| id.0.into()), line: None };
    let case = if log.events.iter().any(|event| event.action == Action::Commit) {
        let places = (0..events.len()).map(place).collect();
        Case { places, ..Case::new(None, Subject::Log { structure, log }) }
    } else {
        let (history, _) = log.history()?;
        // The moments of the history are the places of its events in the log.
        let moment = |(op, returns): (usize, bool)| match (&history.ops()[op], returns) {
            (Operation { returned: Some((at, _)), .. }, true) => *at as usize,
            (own, _) => own.call as usize,
        };
        let places = history.timeline().into_iter().map(moment).map(place).collect();
        let subject = Subject::History { model: structure.model(), initial: Value::Int(0), history };
        Case { places, ..Case::new(None, subject) }
    };
    refinement::check(&case, question, limits)
}

fn predicted_finding(
    execution: &Execution,
    run: &OperationLog,
    finding: Finding,
    found: &judge::Finding,
) -> Finding {
    let schedule = found.witness();
    let then = schedule.then().iter().map(|id| id.0);
    let certainty = Certainty::from(found.certainty());
    let key = steps(run, &finding);
    Finding {
        witness: (!schedule.is_empty()).then(|| Witness::new(schedule.observed(), then)),
        certainty,
        message: format!("in another order of the recorded events: {}", finding.message),
        story: Some(refinement::story(execution, schedule, &key)),
        ..finding
    }
}

/// So many operations that overlap the one that is wrong are told of.
const MOST_TOLD: usize = 4;

/// The calls, commits and returns of the operation that is wrong, and of some that overlap it, in the order of the run.
fn steps(run: &OperationLog, finding: &Finding) -> Vec<EventId> {
    let Some(found) = &finding.refinement else { return Vec::new() };
    let told: Vec<_> = found.operation.iter().chain(found.overlapping.iter().take(MOST_TOLD)).collect();
    let mut under_way: Vec<u32> = Vec::new();
    let mut steps = Vec::new();
    for (event, id) in run.log.events.iter().zip(&run.events) {
        let index = u64::from(id.0);
        if told.iter().any(|own| own.call == index) {
            under_way.push(event.thread);
        }
        let is_step = matches!(event.action, Action::Call { .. } | Action::Commit | Action::Return { .. });
        if is_step && under_way.contains(&event.thread) {
            steps.push(*id);
        }
        if told.iter().any(|own| own.returned == Some(index)) {
            under_way.retain(|thread| *thread != event.thread);
        }
    }
    steps
}
