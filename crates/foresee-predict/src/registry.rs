//! All engines. Adding one is a line here and a file beside.

use foresee_monitor::property::Property;

use crate::atomicity::{AtomicFunctions, ObservedAtomicity, PredictedAtomicity};
use crate::deadlock::Deadlocks;
use crate::engine::{StreamEngine, WholeEngine};
use crate::hb::HappensBefore;
use crate::lattice::predict::{PredictedVerdicts, Prediction};
use crate::lockset::Lockset;
use crate::max::Max;
use crate::property::ObservedVerdicts;
use crate::reverse::Reverse;
use crate::survey::Needs;
use crate::syncp::SyncPreserving;

/// What a user may configure about engines.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Functions that are meant to be atomic, by name.
    pub atomic: Vec<String>,
    /// Properties to hold against the run.
    pub properties: Vec<Property>,
    /// What the user calls the trace: properties may speak of it.
    pub trace: String,
    /// How to predict what properties say of other runs.
    pub prediction: Prediction,
}

/// Makes the streaming part of an engine.
pub type MakeStream = for<'o> fn(&'o Options) -> Box<dyn StreamEngine + 'o>;

/// Makes the whole-trace part of an engine.
pub type MakeWhole = fn(&Options) -> Box<dyn WholeEngine>;

/// An engine, and how to make it. It may look at the stream, at the whole execution, or at both.
pub struct EngineInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// What it finds, in one line.
    pub about: &'static str,
    /// Whether it runs when no engine is asked for.
    pub default: bool,
    /// Whether it only tries what others left over, and only for the time that [`Limits::rest`] gives.
    ///
    /// [`Limits::rest`]: crate::analysis::Limits::rest
    pub rest: bool,
    /// What the part for whole executions works on.
    pub needs: Needs,
    /// The part that sees each event once.
    pub stream: Option<MakeStream>,
    /// The part that looks at the whole execution.
    pub whole: Option<MakeWhole>,
}

/// All engines, in the order in which they run: the cheap and certain first.
pub const ENGINES: &[EngineInfo] = &[
    EngineInfo {
        name: "hb",
        about: "races of this very run, by happens-before",
        default: true,
        rest: false,
        needs: Needs::Nothing,
        stream: Some(|_| Box::new(HappensBefore::new())),
        whole: None,
    },
    EngineInfo {
        name: "syncp",
        about: "races of runs that keep the order of critical sections",
        default: true,
        rest: false,
        needs: Needs::OpenRaces,
        stream: None,
        whole: Some(|_| Box::new(SyncPreserving)),
    },
    EngineInfo {
        name: "deadlock",
        about: "deadlocks: observed, and of runs that keep the order of critical sections",
        default: true,
        rest: false,
        needs: Needs::NestedLocks,
        stream: None,
        whole: Some(|_| Box::new(Deadlocks)),
    },
    EngineInfo {
        name: "atomicity",
        about: "atomic blocks that do not behave like one step",
        default: true,
        rest: false,
        needs: Needs::Blocks,
        stream: Some(|options| Box::new(ObservedAtomicity::new(atomic(options)))),
        whole: Some(|options| Box::new(PredictedAtomicity::new(atomic(options)))),
    },
    EngineInfo {
        name: "property",
        about: "what properties say of this very run, and of others that its events allow",
        default: true,
        rest: false,
        needs: Needs::Nothing,
        stream: Some(|options| Box::new(ObservedVerdicts::new(options))),
        whole: Some(|options| Box::new(PredictedVerdicts::new(options))),
    },
    EngineInfo {
        name: "reverse",
        about: "races and deadlocks of runs that may reverse critical sections",
        default: true,
        rest: true,
        needs: Needs::OpenRacesOrNestedLocks,
        stream: None,
        whole: Some(|_| Box::new(Reverse)),
    },
    EngineInfo {
        name: "max",
        about: "every race that a correct reordering can show, within a window",
        default: true,
        rest: true,
        needs: Needs::OpenRaces,
        stream: None,
        whole: Some(|_| Box::new(Max)),
    },
    EngineInfo {
        name: "lockset",
        about: "pairs of accesses that share no lock: candidates, not proven",
        default: false,
        rest: false,
        needs: Needs::Nothing,
        stream: None,
        whole: Some(|_| Box::new(Lockset)),
    },
];

fn atomic(options: &Options) -> AtomicFunctions {
    AtomicFunctions::new(&options.atomic)
}

/// The engine of this name.
pub fn engine(name: &str) -> Option<&'static EngineInfo> {
    ENGINES.iter().find(|engine| engine.name == name)
}

/// The engines that run when none is asked for.
pub fn default_engines() -> impl Iterator<Item = &'static EngineInfo> {
    ENGINES.iter().filter(|engine| engine.default)
}
