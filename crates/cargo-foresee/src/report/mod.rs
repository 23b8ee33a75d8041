//! From findings to what people and machines read.
//!
//! A [`Report`] has everything a format needs; the formats ([`human`], [`json`], [`sarif`], [`junit`]) only lay it out.

mod calls;
pub(crate) mod details;
mod expression;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod junit;
mod memory;
mod run;
pub(crate) mod sarif;
mod source;
mod story;
pub(crate) mod viewpoint;
mod wording;

use std::collections::BTreeMap;

use foresee_trace::{Damage, Event, Execution, LockId, Names, ThreadId};
use foresee_witness::analysis::EngineStats;
use foresee_witness::judge::{Certainty, Finding, FindingKind};

use details::{Collected, Details, lock, target};
use viewpoint::Viewpoint;

/// All there is to show.
pub(crate) struct Report<'a> {
    /// What the user called the trace.
    pub(crate) trace: String,
    pub(crate) names: &'a Names,
    /// From where it is read.
    pub(crate) viewpoint: Viewpoint,
    /// There if a whole-trace engine ran: witnesses refer to it.
    pub(crate) execution: Option<&'a Execution>,
    pub(crate) findings: Vec<Shown>,
    pub(crate) collected: Collected,
    pub(crate) stats: Stats,
}

/// What happened on the way.
pub(crate) struct Stats {
    pub(crate) events: u64,
    /// How many events whole-trace engines saw, if not all.
    pub(crate) partial: Option<u64>,
    pub(crate) engines: Vec<EngineStats>,
    pub(crate) damage: Option<Damage>,
    /// What of the run is not in the trace, by intention.
    pub(crate) missing: Vec<String>,
    /// Whether the user stopped it.
    pub(crate) interrupted: bool,
    pub(crate) suppressed: u64,
    pub(crate) seconds: f64,
}

impl Stats {
    pub(crate) fn undecided(&self) -> u64 {
        self.engines.iter().map(|engine| engine.undecided).sum()
    }

    pub(crate) fn refused(&self) -> u64 {
        self.engines.iter().map(|engine| engine.refused).sum()
    }
}

/// A finding with all that is said about it.
pub(crate) struct Shown {
    /// `race-1`: the kind, and the number among its kind.
    pub(crate) id: String,
    pub(crate) finding: Finding,
    /// The finding in one line.
    pub(crate) message: String,
    /// Its events, in its order.
    pub(crate) events: Vec<Details>,
}

impl Report<'_> {
    /// A location as `file:line:column`, without the function.
    pub(crate) fn place(&self, loc: foresee_trace::LocId) -> String {
        let text = self.viewpoint.location(self.names, loc);
        match text.split_once(" in ") {
            Some((place, _)) if !place.is_empty() => place.to_owned(),
            _ if text.is_empty() => "an unknown place".to_owned(),
            _ if text.bytes().all(|b| b.is_ascii_digit()) => format!("line {text}"),
            _ => text,
        }
    }

    /// What a lock is called.
    pub(crate) fn lock(&self, id: LockId) -> &str {
        self.collected.locks.get(&id).map_or_else(|| self.names.lock_name(id), String::as_str)
    }

    /// What an event touches.
    pub(crate) fn target(&self, index: u64, event: &Event<'_>) -> String {
        match (self.collected.details.get(&index), lock(&event.op)) {
            (Some(details), _) => details.target.clone(),
            (None, Some(lock)) => self.lock(lock).to_owned(),
            (None, None) => target(self.names, &event.op),
        }
    }

    pub(crate) fn thread(&self, id: ThreadId) -> &str {
        match self.names.thread_name(id) {
            "" => "?",
            name => name,
        }
    }
}

/// Numbers findings and writes their one-line messages.
pub(crate) fn shown(
    findings: Vec<Finding>,
    details: &BTreeMap<u64, Details>,
    names: &Names,
    viewpoint: &Viewpoint,
) -> Vec<Shown> {
    let mut counts: BTreeMap<FindingKind, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(findings.len());
    for finding in findings {
        let number = counts.entry(finding.kind).or_default();
        *number += 1;
        let events: Vec<Details> =
            finding.events.iter().filter_map(|index| details.get(index).cloned()).collect();
        let id = format!("{}-{number}", finding.kind.name());
        let message = wording::message(&finding, &events, names, viewpoint);
        all.push(Shown { id, finding, message, events });
    }
    all
}

/// `predicted data race`.
pub(crate) fn title(kind: FindingKind, certainty: Certainty) -> String {
    let what = match kind {
        FindingKind::Race => "data race",
        FindingKind::Deadlock => "deadlock",
        FindingKind::Atomicity => "atomicity violation",
        FindingKind::Property => "property violation",
        FindingKind::Refinement => "refinement violation",
    };
    match certainty {
        Certainty::Candidate => format!("candidate {what} (not proven)"),
        certainty => format!("{} {what}", certainty.name()),
    }
}
