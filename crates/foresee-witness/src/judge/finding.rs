//! Findings: what there is to report, and the schedule that shows it.

use foresee_trace::EventId;

use super::place::Place;
use super::proposal::Proposal;
use super::statement::{Known, PredictedRun, Statement};
use crate::checker::{Claim, Schedule};

/// What kind of bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum FindingKind {
    Race,
    Deadlock,
    Atomicity,
    Property,
    Refinement,
}

impl FindingKind {
    /// The name in every output format.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Race => "race",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Atomicity => "atomicity",
            FindingKind::Property => "property",
            FindingKind::Refinement => "refinement",
        }
    }
}

/// How sure foresee is; the later, the surer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// A heuristic says so; nothing was proven.
    Candidate,
    /// It happens in the witness, a run the program can do.
    Predicted,
    /// It happened in this very run.
    Observed,
}

impl Certainty {
    /// The name in every output format.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Candidate => "candidate",
            Certainty::Predicted => "predicted",
            Certainty::Observed => "observed",
        }
    }
}

/// One thing to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    certainty: Certainty,
    /// Which engine found it.
    pub engine: &'static str,
    /// The events it is about, by index in the observed order. A race: the two accesses. A deadlock: what each thread of
    /// the cycle waits for, in the cycle's order. Atomicity: the edges of the cycle, two events each. A property: the
    /// event that led to the verdict, none if that was the end of the run.
    pub events: Vec<u64>,
    /// Where it is: findings with equal places are one finding. Sorted.
    pub places: Vec<Place>,
    /// How many dynamic instances were seen; at least 1.
    pub instances: u64,
    /// For observed races: whether the race stays real whatever an earlier race did (its accesses can be put side by
    /// side in a correct reordering). Always true for predicted findings.
    pub schedulable: bool,
    witness: Schedule,
    /// For candidates: why it is not certain, where that is known of this one.
    pub reason: Option<String>,
    /// What a property states.
    pub statement: Option<Statement>,
    /// For what a property states of another run: that run, as the property sees it.
    pub run: Option<PredictedRun>,
    /// For what a property states of what a thread knows: that.
    pub known: Vec<Known>,
}

impl Finding {
    /// Something that happened in this very run.
    pub fn observed(
        kind: FindingKind,
        engine: &'static str,
        events: Vec<u64>,
        places: Vec<Place>,
    ) -> Finding {
        Finding {
            kind,
            certainty: Certainty::Observed,
            engine,
            events,
            places,
            instances: 1,
            schedulable: true,
            witness: Schedule::default(),
            reason: None,
            statement: None,
            run: None,
            known: Vec::new(),
        }
    }

    /// Something that a heuristic points at.
    pub fn candidate(
        kind: FindingKind,
        engine: &'static str,
        events: Vec<u64>,
        places: Vec<Place>,
    ) -> Finding {
        let observed = Finding::observed(kind, engine, events, places);
        Finding { certainty: Certainty::Candidate, schedulable: false, ..observed }
    }

    /// What an accepted proposal says. Only the judge calls this.
    pub(super) fn predicted(proposal: Proposal<'_>) -> Finding {
        let Proposal { engine, claim, schedule, places, instances, statement, .. } = proposal;
        let (kind, events) = match claim {
            Claim::Race { first, second } => (FindingKind::Race, indices([first, second])),
            Claim::Deadlock { blocked } => (FindingKind::Deadlock, indices(blocked)),
            Claim::Atomicity { cycle } => {
                (FindingKind::Atomicity, indices(cycle.into_iter().flat_map(|(from, to)| [from, to])))
            }
            Claim::Property { at, .. } => (FindingKind::Property, indices(at)),
            Claim::Refinement { at, .. } => (FindingKind::Refinement, indices([at])),
        };
        let (statement, run) = statement.unzip();
        Finding {
            certainty: Certainty::Predicted,
            instances,
            witness: schedule,
            statement,
            run,
            ..Finding::observed(kind, engine, events, places)
        }
    }

    /// How sure it is.
    pub fn certainty(&self) -> Certainty {
        self.certainty
    }

    /// The schedule that shows it, accepted by the judge. Empty for what needs none or has none.
    pub fn witness(&self) -> &Schedule {
        &self.witness
    }

    /// Makes it a candidate: what it rests on is not certain.
    pub fn doubt(&mut self) {
        self.certainty = Certainty::Candidate;
    }

    /// The same, and says why.
    pub fn doubt_because(&mut self, reason: String) {
        self.doubt();
        self.reason = Some(reason);
    }

    /// Removes the witness, where it cannot be shown.
    pub fn drop_witness(&mut self) {
        self.witness = Schedule::default();
    }

    /// Adds what another engine knows of the same finding.
    pub(crate) fn absorb(&mut self, other: Finding) {
        self.instances = self.instances.max(other.instances);
        if self.witness.is_empty() && !other.witness.is_empty() {
            self.witness = other.witness;
            // A race that a witness shows stands on its own.
            self.events = other.events;
            self.schedulable = true;
            self.engine = other.engine;
        } else if other.certainty > self.certainty {
            self.events = other.events;
            self.engine = other.engine;
        }
        self.certainty = self.certainty.max(other.certainty);
        self.reason = self.reason.take().or(other.reason).filter(|_| self.certainty == Certainty::Candidate);
    }
}

/// Events as findings name them: by index in the observed order.
fn indices(events: impl IntoIterator<Item = EventId>) -> Vec<u64> {
    events.into_iter().map(|event| u64::from(event.0)).collect()
}
