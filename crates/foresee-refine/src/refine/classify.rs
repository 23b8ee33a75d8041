//! Whom a violation is to be blamed on: the structure, or the commit actions that somebody wrote into it (section 4.1 of the paper).
//!
//! The order of commits is one order of the operations. If what they gave back does not fit to it, another order may explain all of it: then the
//! history is linearizable, and the commit actions are wrong or too strict. If only the views differ, a commit at a later place of the same
//! operation may make the log right; or commit blocks are missing: what an operation wrote before its commit was seen by the commit of another.

use super::{Kind, Mode, RefineError, Replica, Violation, check_within};
use crate::linear::{Limits, Verdict, check_by_search};
use crate::log::{Action, Event, Log};
use crate::spec::Viewed;

/// Who is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The structure: no order explains what it gave back, or its contents are wrong.
    Structure,
    /// The commit actions: this order, of calls by their events, explains all that was given back.
    CommitPoints {
        /// The order.
        order: Vec<usize>,
    },
    /// A commit action: were it directly before this event, this violation would not be there.
    LaterCommit {
        /// The event.
        before: usize,
    },
    /// Commit blocks are missing: with one around each operation up to its commit, the whole log is right.
    MissingBlock,
    /// The annotations: a commit is missing or too many, or calls and returns do not match.
    Annotations,
    /// It is not known whether another order explains it: the search was too long.
    Undecided,
}

impl Judgement {
    /// The name in every format.
    pub fn name(&self) -> &'static str {
        match self {
            Judgement::Structure => "structure",
            Judgement::CommitPoints { .. } | Judgement::LaterCommit { .. } => "commit-points",
            Judgement::MissingBlock | Judgement::Annotations => "annotations",
            Judgement::Undecided => "undecided",
        }
    }
}

/// Logs with more events are not checked again for each other place of a commit.
const LONGEST: usize = 20_000;
/// And not for more places than these.
const MOST_PLACES: usize = 100;

/// Finds out who is to blame for a violation.
pub fn judge<S: Viewed, R: Replica + Default>(
    spec: &S,
    log: &Log,
    violation: &Violation,
    limits: Limits,
) -> Result<Judgement, RefineError> {
    if violation.kind.is_about_annotations() {
        return Ok(Judgement::Annotations);
    }
    let is_at_commit = matches!(log.events.get(violation.first), Some(Event { action: Action::Commit, .. }));
    if violation.kind == Kind::View && is_at_commit && log.events.len() <= LONGEST {
        return match other_annotations::<S, R>(spec, log, violation, limits) {
            Err(why) if why.undecided().is_some() => Ok(Judgement::Undecided),
            other => Ok(other?.unwrap_or(Judgement::Structure)),
        };
    }
    if !violation.kind.is_about_order() {
        return Ok(Judgement::Structure);
    }
    let Ok((history, calls)) = log.history() else { return Ok(Judgement::Structure) };
    let verdict = check_by_search(spec, &history, limits);
    Ok(match verdict.map_err(|why| RefineError::Call { event: violation.first, why })? {
        Verdict::Linearizable { order: Some(order) } => {
            Judgement::CommitPoints { order: order.into_iter().map(|op| calls[op]).collect() }
        }
        Verdict::Linearizable { order: None } | Verdict::Undecided(_) => Judgement::Undecided,
        Verdict::Violation(_) => Judgement::Structure,
    })
}

/// Which other commits or commit blocks would make the log right.
fn other_annotations<S: Viewed, R: Replica + Default>(
    spec: &S,
    log: &Log,
    violation: &Violation,
    limits: Limits,
) -> Result<Option<Judgement>, RefineError> {
    if let Some(before) = later_commit::<S, R>(spec, log, violation, limits)? {
        return Ok(Some(Judgement::LaterCommit { before }));
    }
    let is_right = check_within(spec, R::default(), &with_blocks(log), Mode::View, limits)?.is_none();
    Ok(is_right.then_some(Judgement::MissingBlock))
}

/// The same log with a commit block around each operation, from its call to its commit.
fn with_blocks(log: &Log) -> Log {
    #[derive(Clone, Copy, Default)]
    struct Blocks {
        /// Whether the new block is open, and whether one of the log's own would be.
        is_open: bool,
        own_is_open: bool,
    }
    let mut blocks = vec![Blocks::default(); log.threads.len()];
    let mut events = Vec::with_capacity(2 * log.events.len());
    for event in &log.events {
        let thread = event.thread as usize;
        let Blocks { is_open, own_is_open } = &mut blocks[thread];
        let block = |action| Event { thread: event.thread, action };
        match event.action {
            _ if log.threads[thread].is_internal => events.push(event.clone()),
            Action::Call { .. } => {
                events.extend([event.clone(), block(Action::BlockBegin)]);
                *is_open = true;
            }
            Action::Commit if *is_open => {
                events.extend([event.clone(), block(Action::BlockEnd)]);
                *is_open = false;
                // The rest of its own block.
                events.extend(own_is_open.then(|| block(Action::BlockBegin)));
            }
            Action::Return { .. } | Action::Panic => {
                events.extend(std::mem::take(is_open).then(|| block(Action::BlockEnd)));
                events.push(event.clone());
            }
            Action::BlockBegin | Action::BlockEnd => {
                *own_is_open = event.action == Action::BlockBegin;
                if !*is_open {
                    events.push(event.clone());
                }
            }
            _ => events.push(event.clone()),
        }
    }
    Log { threads: log.threads.clone(), events }
}

/// A later place in the same operation at which its commit would be right: after one of its own writes or blocks. Up to the operation's
/// return, everything must be right then.
fn later_commit<S: Viewed, R: Replica + Default>(
    spec: &S,
    log: &Log,
    violation: &Violation,
    limits: Limits,
) -> Result<Option<usize>, RefineError> {
    let commit = violation.first;
    let thread = log.events[commit].thread;
    let own = log.events.iter().enumerate().skip(commit + 1).filter(|(_, event)| event.thread == thread);
    let mut places = Vec::new();
    for (index, event) in own {
        match event.action {
            Action::Return { .. } | Action::Panic => {
                places.push(index);
                break;
            }
            Action::Call { .. } | Action::Commit => return Ok(None),
            Action::Write { .. } | Action::Replay { .. } | Action::BlockEnd => places.push(index + 1),
            Action::BlockBegin => {}
        }
    }
    let Some(&end) = places.last() else { return Ok(None) };
    for before in places.into_iter().take(MOST_PLACES) {
        let mut moved = log.clone();
        let event = moved.events.remove(commit);
        moved.events.insert(before - 1, event);
        let found = check_within(spec, R::default(), &moved, Mode::View, limits)?;
        if found.is_none_or(|found| found.first > end) {
            return Ok(Some(before));
        }
    }
    Ok(None)
}
