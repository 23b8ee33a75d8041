//! A finding, as it is reported.

use foresee_witness::judge;
use serde::{Deserialize, Serialize};

use super::event::Event;
use super::refinement::Refinement;
use super::run::Run;
use super::story::Story;
use super::witness::Witness;

/// One thing to report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// `race-1`: the kind, and the number among its kind.
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) certainty: Certainty,
    /// The observed program it was found in.
    pub(crate) program: Option<String>,
    /// The program or process it was found in, where a document is about several.
    pub(crate) binary: Option<String>,
    /// The test it was found in, if that is one of several in its program.
    pub(crate) test: Option<String>,
    /// The property that is violated.
    pub(crate) property: Option<String>,
    /// The property's verdict: `match`, `violation`, the name of a state.
    pub(crate) category: Option<String>,
    /// The finding in one line.
    pub(crate) message: String,
    /// What the property's handler reports, with all values filled in.
    pub(crate) property_message: Option<String>,
    /// Which engine found it; `monitor` and `observe` are those of these commands.
    pub(crate) engine: String,
    /// How often it was seen.
    pub(crate) instances: u64,
    /// For observed races: whether the race stays real whatever an earlier race did.
    pub(crate) schedulable: bool,
    /// For candidates: why it is not certain, where that is known of this one.
    pub(crate) reason: Option<String>,
    /// The events it is about; none if a property reported at the end of the run.
    pub(crate) events: Vec<Event>,
    /// The schedule that shows it.
    pub(crate) witness: Option<Witness>,
    /// For what a property reports of another run: that run, as the property sees it.
    pub(crate) run: Option<Run>,
    /// The witness in the few steps that a person needs.
    pub(crate) story: Option<Story>,
    /// For what a property reports of what a thread knew: that.
    pub(crate) known: Vec<Known>,
    /// Of `refine`: the event at which it is established.
    pub(crate) first: Option<u64>,
    /// Of `refine`: what does not fit, and why.
    pub(crate) refinement: Option<Refinement>,
}

/// What a thread knew of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// The other thread.
    pub(crate) thread: String,
    /// What was known of it.
    pub(crate) says: String,
    /// The events that carried the knowledge, from where it came to be to where it was taken; none if nothing the other thread did was known.
    pub(crate) events: Vec<Event>,
}

/// What kind of bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Race,
    Deadlock,
    Atomicity,
    Property,
    Refinement,
}

impl Kind {
    pub(crate) const ALL: [Kind; 5] =
        [Kind::Race, Kind::Deadlock, Kind::Atomicity, Kind::Property, Kind::Refinement];

    /// The name in every format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Deadlock => "deadlock",
            Kind::Atomicity => "atomicity",
            Kind::Property => "property",
            Kind::Refinement => "refinement",
        }
    }

    /// What people call it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Kind::Race => "data race",
            Kind::Deadlock => "deadlock",
            Kind::Atomicity => "atomicity violation",
            Kind::Property => "property violation",
            Kind::Refinement => "refinement violation",
        }
    }
}

impl From<judge::FindingKind> for Kind {
    fn from(kind: judge::FindingKind) -> Kind {
        match kind {
            judge::FindingKind::Race => Kind::Race,
            judge::FindingKind::Deadlock => Kind::Deadlock,
            judge::FindingKind::Atomicity => Kind::Atomicity,
            judge::FindingKind::Property => Kind::Property,
            judge::FindingKind::Refinement => Kind::Refinement,
        }
    }
}

/// How certain a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Certainty {
    /// It happened in this run.
    Observed,
    /// It happens in the witness, a run that the program can do.
    Predicted,
    /// Nothing was proven.
    Candidate,
}

impl Certainty {
    pub(crate) const ALL: [Certainty; 3] = [Certainty::Observed, Certainty::Predicted, Certainty::Candidate];

    /// The name in every format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Certainty::Observed => "observed",
            Certainty::Predicted => "predicted",
            Certainty::Candidate => "candidate",
        }
    }
}

impl From<judge::Certainty> for Certainty {
    fn from(certainty: judge::Certainty) -> Certainty {
        match certainty {
            judge::Certainty::Observed => Certainty::Observed,
            judge::Certainty::Predicted => Certainty::Predicted,
            judge::Certainty::Candidate => Certainty::Candidate,
        }
    }
}

impl Finding {
    /// Whether it is a deadlock of threads that wait for what nobody can do any more, and not for each other's locks alone.
    pub(crate) fn has_stuck_threads(&self) -> bool {
        let is_such = |event: &Event| matches!(event.op.as_str(), "acquire" | "wait" | "await" | "blocked");
        self.kind == Kind::Deadlock && self.witness.is_none() && self.events.iter().any(is_such)
    }

    /// What a property reports of the observed run, at this event.
    pub(crate) fn of_property(
        engine: &str,
        property: &str,
        category: &str,
        message: String,
        event: Option<Event>,
    ) -> Finding {
        Finding {
            id: String::new(),
            kind: Kind::Property,
            certainty: Certainty::Observed,
            program: None,
            binary: None,
            test: None,
            property: Some(property.to_owned()),
            category: Some(category.to_owned()),
            property_message: Some(message.clone()),
            message,
            engine: engine.to_owned(),
            instances: 1,
            schedulable: true,
            reason: None,
            events: event.into_iter().collect(),
            witness: None,
            run: None,
            story: None,
            known: Vec::new(),
            first: None,
            refinement: None,
        }
    }

    /// What does not fit its specification, at this event.
    pub(crate) fn of_refinement(
        engine: &str,
        message: String,
        event: Option<Event>,
        refinement: Refinement,
    ) -> Finding {
        Finding {
            kind: Kind::Refinement,
            property: None,
            category: Some(refinement.violation.clone()),
            property_message: None,
            first: event.as_ref().map(|event| event.index),
            refinement: Some(refinement),
            ..Finding::of_property(engine, "", "", message, event)
        }
    }

    /// Whether it is certain enough to fail a build.
    pub(crate) fn is_alarm(&self) -> bool {
        self.reason.is_none()
    }

    /// `predicted data race`.
    pub(crate) fn title(&self) -> String {
        let what = self.kind.title();
        match self.certainty {
            Certainty::Candidate => format!("candidate {what} (not proven)"),
            certainty => format!("{} {what}", certainty.name()),
        }
    }
}
