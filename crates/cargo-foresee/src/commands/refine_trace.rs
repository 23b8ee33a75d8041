//! `foresee refine TRACE`: the operations of a recorded program against their specification, in the observed run and in others.

use std::path::Path;
use std::time::Instant;

use foresee_refine::linear::Limits;
use foresee_refine::named::Structure;
use foresee_refine::read::{Case, Subject};
use foresee_refine::recorded::{OperationLog, PredictedRefinement, Words};
use foresee_refine::refine::{Judgement, Kind, Mode};
use foresee_trace::{EventId, Execution, Gap, NoEnd, Spoils};
use foresee_witness::analysis::{self, Analysed, Analysis};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::Engine;
use foresee_witness::judge;

use crate::error::CliError;
use crate::input::Input;
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
        let (names, event) = input.event();
        analysis.event(names, &event).map_err(|why| CliError::input(path, why))?;
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
    let checked =
        of_run(execution, execution.ids(), structure, question, limits).map_err(|why| wrong(&why))?;
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
            let mut predicted = of_run(execution, found.witness().iter(), structure, question, limits)
                .map_err(|why| wrong(&why))?;
            predicted.finding = predicted.finding.map(|finding| predicted_finding(finding, found));
            predicted.events = checked.events;
            predicted
        }
        _ => checked,
    };
    let mut checked = checked;
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

/// The log of some run, checked. Its events have the numbers that they have in the trace.
fn of_run(
    execution: &Execution,
    schedule: impl Iterator<Item = foresee_trace::EventId>,
    structure: Structure,
    question: Question,
    limits: Limits,
) -> Result<Checked, refinement::CaseError> {
    let OperationLog { log, events } =
        OperationLog::of(execution, &Words::of(execution, structure), schedule);
    let case = Case::new(None, Subject::Log { structure, log });
    let mut checked = refinement::check(&case, question, limits)?;
    let in_trace = |index: u64| events.get(index as usize).map_or(index, |id| u64::from(id.0));
    checked.renumber(&in_trace);
    Ok(checked)
}

fn predicted_finding(finding: Finding, found: &judge::Finding) -> Finding {
    let schedule = found.witness();
    let then = schedule.then().iter().map(|id| id.0);
    let certainty = Certainty::from(found.certainty());
    Finding {
        witness: (!schedule.is_empty()).then(|| Witness::new(schedule.observed(), then)),
        certainty,
        message: format!("in another order of the recorded events: {}", finding.message),
        ..finding
    }
}
