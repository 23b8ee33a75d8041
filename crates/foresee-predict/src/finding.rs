//! Findings: what there is to tell the user, and the schedule that shows it.

use foresee_trace::{EventId, Execution, LocId, VarId};

use crate::witness::Schedule;

/// What kind of bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Race,
    Deadlock,
    Atomicity,
    Property,
    Refinement,
}

impl Kind {
    /// The name in every output format.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Deadlock => "deadlock",
            Kind::Atomicity => "atomicity",
            Kind::Property => "property",
            Kind::Refinement => "refinement",
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

/// One thing to tell the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// How sure it is.
    pub certainty: Certainty,
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
    /// The schedule that shows it; accepted by the witness checker. Empty for what was observed without needing one.
    pub witness: Schedule,
    /// For what a property says: its words.
    pub said: Option<Said>,
    /// For what a property says of another run: that run, as the property sees it.
    pub run: Option<Run>,
}

/// A run as a property sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The values of the property's variables at first, by name.
    pub initial: Vec<(String, i64)>,
    /// The events that the property looks at, in order; at the last one it says what it says.
    pub steps: Vec<RunStep>,
    /// The causality model.
    pub model: &'static str,
    /// Whether all runs of the model were looked at.
    pub exhaustive: bool,
    /// How many runs of the model have something told, and how many there are; `u64::MAX` is that many or more.
    pub runs: Option<(u64, u64)>,
}

/// One event of a [`Run`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// The event, by its index in the observed order.
    pub event: u64,
    /// The values of the variables after it, by name.
    pub values: Vec<(String, i64)>,
    /// Whether it is not where it was in the observed run.
    pub moved: bool,
}

/// What a property says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The property's name.
    pub property: String,
    /// The verdict: `match`, `violation`, the name of a state.
    pub category: String,
    /// The report of its handler, with all values filled in.
    pub message: String,
}

/// A place in the program for telling findings apart: a source location or, where the trace has none, the thing touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u64);

impl Place {
    /// The place of an event at `loc`; `target` (an address, a lock's id) stands in for an unknown location.
    #[inline]
    pub fn new(loc: LocId, target: u64) -> Place {
        if loc == LocId::UNKNOWN { Place(1 << 63 | target) } else { Place(u64::from(loc.0)) }
    }

    /// The place of an access to a variable.
    #[inline]
    pub fn of_access(execution: &Execution, access: EventId, var: VarId) -> Place {
        match execution.loc(access) {
            LocId::UNKNOWN => Place::new(LocId::UNKNOWN, execution.mem(var).addr),
            // The variable is not looked up where its address does not count.
            loc => Place::new(loc, 0),
        }
    }

    /// The source location, or [`LocId::UNKNOWN`].
    pub fn loc(self) -> LocId {
        if self.0 >> 62 != 0 { LocId::UNKNOWN } else { LocId(self.0 as u32) }
    }

    /// The place of a verdict: which property, body and handler, by position. Where it came is another place.
    pub fn of_verdict(property: usize, body: usize, handler: usize) -> Place {
        Place(1 << 62 | (property as u64) << 32 | (body as u64 & 0xffff) << 16 | (handler as u64 & 0xffff))
    }

    /// Two places as a key: the order does not matter.
    #[inline]
    pub fn pair(self, other: Place) -> (Place, Place) {
        (self.min(other), self.max(other))
    }
}
