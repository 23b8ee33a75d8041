//! What a test of a structure came to, in words: as the command `foresee refine` says it.

use std::fmt::{self, Write as _};
use std::string::{String, ToString as _};
use std::time::{Duration, Instant};
use std::vec::Vec;

use foresee_refine::Value;
use foresee_refine::linear::{self, Limits, Verdict};
use foresee_refine::log::{Action, Log};
use foresee_refine::refine::{self, BrokenBlock, Judgement, RefineError, Replica, Violation};
use foresee_refine::shortened::shortened;
use foresee_refine::spec::Viewed;

/// So many differences and operations are shown.
const MOST_SHOWN: usize = 12;

/// What a test came to.
#[derive(Debug)]
pub struct Report {
    /// How many methods were called.
    pub operations: usize,
    /// The first violation.
    pub finding: Option<Finding>,
    /// Operations that did not commit exactly once.
    pub mistakes: Vec<String>,
    /// A commit block that is not one step: what others wrote came in between.
    pub block: Option<BrokenBlock>,
    /// All that was logged.
    pub log: Log,
}

/// A violation of a test.
#[derive(Debug)]
pub struct Finding {
    /// What is wrong.
    pub violation: Violation,
    /// Who is to blame.
    pub judgement: Judgement,
    /// How many methods had been called until then, in the order of the log.
    pub after: usize,
    /// The operation that is wrong, what was expected, what to do, and the smallest part of the history that shows it.
    pub text: String,
}

impl Report {
    /// Whether the structure or its annotations are wrong, and not only the order of its commits: not if another order explains
    /// everything, or may do so. A commit block that is not one step is wrong.
    pub fn is_wrong(&self) -> bool {
        let excused = |finding: &Finding| {
            matches!(finding.judgement, Judgement::CommitPoints { .. } | Judgement::Undecided)
        };
        !self.mistakes.is_empty()
            || self.block.is_some()
            || self.finding.as_ref().is_some_and(|finding| !excused(finding))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mistake in &self.mistakes {
            writeln!(f, "{mistake}")?;
        }
        if let Some(block) = &self.block {
            let thread = |event: usize| &*self.log.threads[self.log.events[event].thread as usize].name;
            writeln!(
                f,
                "a commit block of {} is not one step: {} wrote `{}` after a part of it and before the rest",
                thread(block.begin),
                thread(block.between),
                block.target
            )?;
        }
        match &self.finding {
            None => write!(f, "{} operations, no violation", self.operations),
            Some(finding) => write!(f, "a violation after {} operations: {}", finding.after, finding.text),
        }
    }
}

/// How many methods were called until this event.
pub(super) fn calls(log: &Log, until: usize) -> usize {
    log.events[..until].iter().filter(|event| matches!(event.action, Action::Call { .. })).count()
}

impl Finding {
    /// A violation with whom to blame, and the smallest history that shows it.
    pub(super) fn of<S: Viewed, R: Replica + Default>(
        spec: &S,
        log: &Log,
        violation: Violation,
    ) -> Result<Finding, RefineError> {
        // To know whom to blame is worth some seconds, not more.
        let deadline = Instant::now().checked_add(Duration::from_secs(5));
        let limits = Limits { memory: 1 << 28, deadline };
        let judgement = refine::judge::<S, R>(spec, log, &violation, limits)?;
        let mut text = operation(log, &violation);
        text += refine::describe(violation.kind, &judgement);
        // It takes everything.
        let _ = details(&mut text, &violation, &judgement);
        if violation.kind.is_about_order() && judgement == Judgement::Structure {
            let _ = smallest(&mut text, spec, log, limits);
        }
        let after = calls(log, (violation.first + 1).min(log.events.len()));
        Ok(Finding { violation, judgement, after, text })
    }
}

/// `len() → 6 by T3: `, or the thread alone.
fn operation(log: &Log, violation: &Violation) -> String {
    let thread = |event: usize| log.events.get(event).map(|event| &log.threads[event.thread as usize].name);
    let called = violation.call.and_then(|call| Some((&log.events.get(call)?.action, thread(call)?)));
    match called {
        Some((Action::Call { method, args }, thread)) => {
            let args: Vec<String> = args.iter().map(shortened).collect();
            let ret =
                violation.actual.as_ref().map_or(String::new(), |ret| std::format!(" → {}", shortened(ret)));
            std::format!("{method}({}){ret} by {thread}: ", args.join(", "))
        }
        _ => thread(violation.first).map_or(String::new(), |thread| std::format!("{thread}: ")),
    }
}

fn details(text: &mut String, violation: &Violation, judgement: &Judgement) -> fmt::Result {
    if !violation.expected.is_empty() {
        let expected: Vec<String> = violation.expected.iter().map(shortened).collect();
        write!(text, "\n  the specification allows {}", expected.join(" or "))?;
    }
    let show = |contents: &Option<Value>| contents.as_ref().map_or("nothing".to_string(), shortened);
    for difference in violation.differences.iter().take(MOST_SHOWN) {
        let (own, spec) = (show(&difference.implementation), show(&difference.specification));
        let part = shortened(&difference.part);
        write!(text, "\n  {part}: the structure has {own}, the specification {spec}")?;
    }
    if let Some(invariant) = &violation.invariant {
        write!(text, "\n  {invariant}")?;
    }
    if let Judgement::LaterCommit { .. } = judgement {
        text.push_str(
            "\n  the commit point may be wrong: after a later write of the same operation it would be right",
        );
    }
    if let Some(hint) = judgement.hint() {
        write!(text, "\n  {hint}")?;
    }
    Ok(())
}

/// The smallest part of the history that has no order.
fn smallest<S: Viewed>(text: &mut String, spec: &S, log: &Log, limits: Limits) -> fmt::Result {
    let Ok((history, _)) = log.history() else { return Ok(()) };
    let Ok(Verdict::Violation(wrong)) = linear::check(spec, &history, limits) else { return Ok(()) };
    let Ok(told) = linear::explain(spec, &history, &wrong, limits) else { return Ok(()) };
    let mut ops: Vec<_> = told.minimal.iter().map(|op| &history.ops()[*op]).collect();
    ops.sort_by_key(|op| op.call);
    // The first that no order explains may be another than the one that the order of commits does not.
    match told.unplaced.map(|op| &history.ops()[op]) {
        Some(own) => {
            write!(text, "\n  whatever the order, nothing explains {} of {}. ", shortened(own), own.client)?;
        }
        None => text.push_str("\n  no order explains these operations. "),
    }
    text.push_str("The smallest part that does not fit:");
    let left_out = ops.len().saturating_sub(MOST_SHOWN);
    if left_out > 0 {
        write!(text, "\n    ⋮ {left_out} before")?;
    }
    for op in &ops[left_out..] {
        write!(text, "\n    {} {}", op.client, shortened(*op))?;
    }
    Ok(())
}
