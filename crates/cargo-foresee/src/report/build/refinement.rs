//! Checks one history or log, and makes a finding of what is wrong with it.

use std::collections::HashMap;

use foresee_refine::history::{HistoryError, NEVER};
use foresee_refine::linear::{Explanation, Limits, Verdict};
use foresee_refine::log::{Action, Log};
use foresee_refine::named::{self, Consistency, Model, Structure};
use foresee_refine::read::{Case, Place, Subject};
use foresee_refine::refine::{BrokenBlock, Judgement, Mode, RefineError, Undecided, Violation, describe};
use foresee_refine::shortened::shortened;
use foresee_refine::spec::WrongCall;
use foresee_refine::{History, Value};
use foresee_trace::{EventId, Execution};
use foresee_witness::checker::Schedule;

use super::details::Collected;
use super::resolve::Resolver;
use super::story::story_of;
use crate::report::model::{
    CaseVerdict, Event, Finding, Location, PartDifference, PlacedOperation, Refinement, RefinementVerdict,
    Story,
};

/// Of longer orders only the end is reported.
const LONGEST_ORDER: usize = 1_000;

/// What findings name as their engine.
pub(crate) const ENGINE: &str = "refine";

/// What came of one case.
pub(crate) struct Checked {
    pub(crate) verdict: CaseVerdict,
    pub(crate) finding: Option<Finding>,
    pub(crate) events: u64,
}

impl Checked {
    /// Says where in the program its events are, as far as `place` knows that.
    pub(crate) fn locate(&mut self, place: &impl Fn(u64) -> (Location, String)) {
        let Some(finding) = &mut self.finding else { return };
        for event in &mut finding.events {
            (event.location, event.place) = place(event.index);
        }
        let Some(refinement) = &mut finding.refinement else { return };
        let Refinement { operation, overlapping, order, other_order, minimal, .. } = refinement;
        let lists =
            overlapping.iter_mut().chain(order).chain(minimal).chain(other_order.iter_mut().flatten());
        for placed in lists.chain(operation) {
            (placed.location, _) = place(placed.call);
        }
    }
}

/// A schedule as a few steps, among them these events.
pub(crate) fn story(execution: &Execution, schedule: &Schedule, key: &[EventId]) -> Story {
    let collected = Collected::default();
    story_of(&Resolver { names: execution.names(), collected: &collected }, execution, schedule, key)
}

/// Why a case could not be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaseError {
    #[error(transparent)]
    Call(#[from] WrongCall),
    #[error(transparent)]
    Log(#[from] RefineError),
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// What is asked of a case.
#[derive(Clone, Copy)]
pub(crate) struct Question {
    /// Of a history.
    pub(crate) consistency: Consistency,
    /// Where the views of a log are compared.
    pub(crate) views: Mode,
}

impl Default for Question {
    fn default() -> Question {
        Question { consistency: Consistency::default(), views: Mode::View }
    }
}

/// Checks a case by all means that apply.
pub(crate) fn check(case: &Case, question: Question, limits: Limits) -> Result<Checked, CaseError> {
    let Question { consistency, views } = question;
    match &case.subject {
        Subject::History { model, initial, history } => {
            history_case(case, *model, initial, history, consistency, limits)
        }
        Subject::Log { structure, log } => log_case(case, *structure, log, views, limits),
    }
}

fn history_case(
    case: &Case,
    model: Model,
    initial: &Value,
    history: &History,
    consistency: Consistency,
    limits: Limits,
) -> Result<Checked, CaseError> {
    let found = named::check(model, initial, history, consistency, limits)?;
    let ok = found.is_linearizable();
    let mut finding = None;
    if let Verdict::Violation(violation) = &found {
        let told = match consistency {
            Consistency::Linearizable => Some(named::explain(model, initial, history, violation, limits)?),
            Consistency::Sequential => None,
        };
        finding = Some(of_history(case, model, history, told.as_ref()));
    }
    let first = finding.as_ref().and_then(|finding| finding.first);
    let verdict = CaseVerdict {
        id: case.id.clone(),
        model: model.to_string(),
        ok,
        first,
        io: None,
        view: None,
        blocks: None,
        linearizable: ok.filter(|_| consistency == Consistency::Linearizable),
        undecided: match found {
            Verdict::Undecided(exhausted) => Some(Undecided::from(exhausted).into()),
            Verdict::Linearizable { .. } | Verdict::Violation(_) => None,
        },
    };
    Ok(Checked { verdict, finding, events: history.events().into() })
}

fn of_history(case: &Case, model: Model, history: &History, told: Option<&Explanation>) -> Finding {
    let placed = |op: usize| {
        let Place { event: call, line } = case.place(history.call(op));
        let returned = Some(history.returned(op)).filter(|event| *event != NEVER);
        PlacedOperation {
            call,
            returned: returned.map(|event| case.place(event).event),
            line,
            location: Location::default(),
            thread: history.ops()[op].client.to_string(),
            operation: shortened(&history.ops()[op]),
        }
    };
    let all = |ops: &[usize]| {
        let end = &ops[ops.len().saturating_sub(LONGEST_ORDER)..];
        end.iter().map(|op| placed(*op)).collect::<Vec<_>>()
    };
    let Some(told) = told else {
        let refinement = Refinement {
            case: case.id.clone(),
            model: model.to_string(),
            violation: "sequential-consistency".to_owned(),
            blame: Judgement::Structure.name().to_owned(),
            ..Refinement::default()
        };
        let message = "no order of the operations that keeps each client's own explains what they gave back";
        return Finding::of_refinement(ENGINE, message.to_owned(), None, refinement);
    };
    let mut notes = Vec::new();
    if let Some((ops, why)) = &told.cause {
        let ops: Vec<String> = ops.iter().map(|op| shortened(&history.ops()[*op])).collect();
        notes.push(format!("{why}: {}", ops.join(", ")));
    }
    let own = told.unplaced.map(|op| &history.ops()[op]);
    let actual = own.and_then(|own| own.returned.as_ref()).map(|(_, ret)| shortened(ret));
    let refinement = Refinement {
        case: case.id.clone(),
        model: model.to_string(),
        violation: "linearizability".to_owned(),
        blame: Judgement::Structure.name().to_owned(),
        operation: told.unplaced.map(placed),
        // The last order alone does not tell what is allowed: another may end in another state.
        expected: told.expected.iter().map(shortened).filter(|it| Some(it) != actual.as_ref()).collect(),
        actual,
        notes,
        overlapping: all(&told.overlapping),
        order: told.longest.as_deref().map(all).unwrap_or_default(),
        minimal: all(&told.minimal),
        ..Refinement::default()
    };
    let message = match own {
        Some(own) => {
            format!("no order of the operations explains {} of client {}", shortened(own), own.client)
        }
        None => "no order of the operations explains what they gave back".to_owned(),
    };
    let event = told.first.zip(own).map(|(first, own)| {
        let Place { event: index, line } = case.place(first);
        let location = Location { line, ..Location::default() };
        Event { location, ..event(index, &own.client, "return", shortened(own)) }
    });
    Finding::of_refinement(ENGINE, message, event, refinement)
}

fn log_case(
    case: &Case,
    structure: Structure,
    log: &Log,
    views: Mode,
    limits: Limits,
) -> Result<Checked, CaseError> {
    let events = log.events.len() as u64;
    let found = named::refine_at(structure, log, views, limits);
    if let Some(undecided) = found.as_ref().err().and_then(RefineError::undecided) {
        let verdict = CaseVerdict {
            id: case.id.clone(),
            model: structure.name().to_owned(),
            ok: None,
            first: None,
            io: None,
            view: None,
            blocks: None,
            linearizable: None,
            undecided: Some(undecided.into()),
        };
        return Ok(Checked { verdict, finding: None, events });
    }
    let found = found?;
    let number = |index: usize| number(case, index);
    let verdict_of = |violation: Option<&(Violation, Judgement)>| RefinementVerdict {
        ok: violation.is_none(),
        first: violation.map(|(violation, _)| number(violation.first)),
        call: violation.and_then(|(violation, _)| violation.call).map(number),
        kind: violation.map(|(violation, _)| violation.kind.to_string()),
    };
    // Views are stricter: what they find comes first.
    let worst = found.view.as_ref().and_then(Option::as_ref).or(found.io.as_ref());
    let finding =
        worst.map(|(violation, judgement)| of_log(case, structure, log, violation, judgement, limits));
    let block = found.block.as_ref().map(|block| of_block(case, structure, log, block));
    let linearizable = found.io.as_ref().and_then(|(violation, judgement)| match judgement {
        // What the operations of a log are is not known where calls and returns do not match.
        _ if log.mismatch().is_some() => None,
        Judgement::CommitPoints { .. } => Some(true),
        Judgement::Structure if violation.kind.is_about_order() => Some(false),
        _ => None,
    });
    let has_blocks = structure.has_view() && log.has_writes() && views == Mode::View;
    let blocks = has_blocks.then(|| RefinementVerdict {
        ok: found.block.is_none(),
        first: found.block.as_ref().map(|block| number(block.write)),
        call: found.block.as_ref().and_then(|block| call_before(log, block.begin)).map(number),
        kind: found.block.as_ref().map(|_| NOT_ATOMIC.to_owned()),
    });
    let verdict = CaseVerdict {
        id: case.id.clone(),
        model: structure.name().to_owned(),
        ok: Some(worst.is_none() && found.block.is_none()),
        first: worst
            .map(|(violation, _)| violation.first)
            .or(found.block.as_ref().map(|block| block.write))
            .map(number),
        io: Some(verdict_of(found.io.as_ref())),
        view: found.view.as_ref().map(|view| verdict_of(view.as_ref())),
        blocks,
        linearizable,
        undecided: None,
    };
    Ok(Checked { verdict, finding: finding.or(block), events })
}

/// What a commit block is that is not one step.
const NOT_ATOMIC: &str = "block-not-atomic";

/// The number that an event of a log has in the file, or in the trace that the log was made of.
fn number(case: &Case, index: usize) -> u64 {
    u32::try_from(index).map_or(index as u64, |index| case.place(index).event)
}

/// The call of the operation that was under way, or the last one, at an event.
fn call_before(log: &Log, event: usize) -> Option<usize> {
    let is_own = |it: &foresee_refine::log::Event| {
        it.thread == log.events[event].thread && matches!(it.action, Action::Call { .. })
    };
    log.events[..event].iter().rposition(is_own)
}

/// A commit block that is not one step.
fn of_block(case: &Case, structure: Structure, log: &Log, block: &BrokenBlock) -> Finding {
    let thread = |event: usize| log.threads[log.events[event].thread as usize].name.to_string();
    let (own, other) = (thread(block.write), thread(block.between));
    let refinement = Refinement {
        case: case.id.clone(),
        model: structure.name().to_owned(),
        violation: NOT_ATOMIC.to_owned(),
        blame: Judgement::Annotations.name().to_owned(),
        operation: call_before(log, block.begin).map(|call| Operations::of(case, log).placed(call)),
        notes: vec![format!(
            "{other} wrote `{}` (event {}) after a part of the block that begins at event {}, and before the rest",
            block.target,
            number(case, block.between),
            number(case, block.begin)
        )],
        ..Refinement::default()
    };
    let (op, target) = describe_action(&log.events[block.write].action);
    let message = format!("a commit block of {own} is not one step: what views say rests on that");
    let write = event(number(case, block.write), &own, op, target);
    Finding::of_refinement(ENGINE, message, Some(write), refinement)
}

fn of_log(
    case: &Case,
    structure: Structure,
    log: &Log,
    violation: &Violation,
    judgement: &Judgement,
    limits: Limits,
) -> Finding {
    let operations = Operations::of(case, log);
    let placed = |call: usize| operations.placed(call);
    let all = |calls: &[usize]| {
        let end = &calls[calls.len().saturating_sub(LONGEST_ORDER)..];
        end.iter().map(|call| placed(*call)).collect::<Vec<_>>()
    };
    let mut notes: Vec<String> = violation.invariant.iter().cloned().collect();
    if let Some(write) = violation.last_write {
        notes.push(format!(
            "a commit probably belongs after event {} of the log, its last write, and before the first release of a lock after it",
            number(case, write)
        ));
    }
    notes.extend(judgement.hint().map(str::to_owned));
    if let Judgement::LaterCommit { before } = judgement {
        notes.push(format!(
            "the commit point may be wrong: were it directly before event {} of the log, this would be right",
            number(case, *before)
        ));
    }
    let other_order = match judgement {
        Judgement::CommitPoints { order } => Some(all(order)),
        _ => None,
    };
    let refinement = Refinement {
        case: case.id.clone(),
        model: structure.name().to_owned(),
        violation: violation.kind.to_string(),
        blame: judgement.name().to_owned(),
        operation: violation.call.map(placed),
        actual: violation.actual.as_ref().map(shortened),
        expected: violation.expected.iter().map(shortened).collect(),
        differences: (violation.differences.iter())
            .map(|difference| PartDifference {
                part: shortened(&difference.part),
                implementation: difference.implementation.as_ref().map(shortened),
                specification: difference.specification.as_ref().map(shortened),
            })
            .collect(),
        notes,
        overlapping: violation.call.map_or(Vec::new(), |call| operations.overlapping(call)),
        order: all(&violation.order),
        other_order,
        minimal: minimal(structure, &operations, violation, judgement, limits),
    };
    let thread = log.events.get(violation.first).map_or("", |event| &log.threads[event.thread as usize].name);
    let what = violation.call.map_or_else(|| thread.to_owned(), |call| placed(call).operation);
    let message = format!("{what}: {}", describe(violation.kind, judgement));
    let (op, target) =
        log.events.get(violation.first).map_or(("", String::new()), |event| describe_action(&event.action));
    Finding::of_refinement(
        ENGINE,
        message,
        Some(event(number(case, violation.first), thread, op, target)),
        refinement,
    )
}

/// The operations of a log, with the event of each return.
struct Operations<'a> {
    case: &'a Case,
    log: &'a Log,
    returned: HashMap<usize, usize>,
}

impl<'a> Operations<'a> {
    fn of(case: &'a Case, log: &'a Log) -> Operations<'a> {
        let (mut open, mut returned) = (HashMap::new(), HashMap::new());
        for (index, event) in log.events.iter().enumerate() {
            match event.action {
                Action::Call { .. } => drop(open.insert(event.thread, index)),
                Action::Return { .. } => {
                    returned.extend(open.remove(&event.thread).map(|call| (call, index)));
                }
                Action::Panic => drop(open.remove(&event.thread)),
                _ => {}
            }
        }
        Operations { case, log, returned }
    }

    fn placed(&self, call: usize) -> PlacedOperation {
        let event = &self.log.events[call];
        let returned = self.returned.get(&call);
        let operation = match &event.action {
            Action::Call { method, args } => {
                let args: Vec<String> = args.iter().map(shortened).collect();
                let ret = match returned.map(|index| &self.log.events[*index].action) {
                    Some(Action::Return { ret, .. }) => shortened(ret),
                    _ => "?".to_owned(),
                };
                format!("{method}({}) → {ret}", args.join(", "))
            }
            action => describe_action(action).1,
        };
        PlacedOperation {
            call: number(self.case, call),
            returned: returned.map(|index| number(self.case, *index)),
            line: None,
            location: Location::default(),
            thread: self.log.threads[event.thread as usize].name.to_string(),
            operation,
        }
    }

    fn overlapping(&self, call: usize) -> Vec<PlacedOperation> {
        let end = self.returned.get(&call).copied().unwrap_or(usize::MAX);
        let until = self.log.events.iter().enumerate().take_while(|(index, _)| *index < end);
        let others = until.filter(|(index, event)| {
            matches!(event.action, Action::Call { .. })
                && event.thread != self.log.events[call].thread
                && self.returned.get(index).is_none_or(|returned| *returned > call)
        });
        others.take(LONGEST_ORDER).map(|(index, _)| self.placed(index)).collect()
    }
}

/// The smallest part of the history that has no order, where it is the structure that gave a wrong result.
fn minimal(
    structure: Structure,
    operations: &Operations<'_>,
    violation: &Violation,
    judgement: &Judgement,
    limits: Limits,
) -> Vec<PlacedOperation> {
    let (true, Judgement::Structure, Ok((history, calls))) =
        (violation.kind.is_about_order(), judgement, operations.log.history())
    else {
        return Vec::new();
    };
    let (model, initial) = (structure.model(), Value::Int(0));
    let Ok(Verdict::Violation(wrong)) =
        named::check(model, &initial, &history, Consistency::Linearizable, limits)
    else {
        return Vec::new();
    };
    let told = named::explain(model, &initial, &history, &wrong, limits);
    told.map(|told| told.minimal.iter().map(|op| operations.placed(calls[*op])).collect()).unwrap_or_default()
}

fn describe_action(action: &Action) -> (&'static str, String) {
    match action {
        Action::Call { method, .. } => ("call", method.to_string()),
        Action::Return { method, ret } => ("return", format!("{method} → {}", shortened(ret))),
        Action::Panic => ("panic", String::new()),
        Action::Commit => ("commit", String::new()),
        Action::Write { target, value } => ("write", format!("{target} = {}", shortened(value))),
        Action::Replay { entry, value } => ("replay", format!("{entry} {}", shortened(value))),
        Action::BlockBegin => ("commit_begin", String::new()),
        Action::BlockEnd => ("commit_end", String::new()),
    }
}

fn event(index: u64, thread: &str, op: &str, target: String) -> Event {
    Event {
        index,
        thread: thread.to_owned(),
        op: op.to_owned(),
        target,
        location: Location::default(),
        place: String::new(),
        stack: Vec::new(),
        held: None,
        size: None,
        memory: None,
        thread_created: None,
        values: None,
    }
}
