//! All engines, in the order in which they run: the cheap and certain first. Adding an engine is one file in its crate and one entry here.

use foresee_lattice::knowledge::KnownVerdicts;
use foresee_lattice::predict::{PredictedVerdicts, Prediction};
use foresee_lattice::property::ObservedVerdicts;
use foresee_monitor::property::Property;
use foresee_predict::atomicity::{ObservedAtomicity, PredictedAtomicity};
use foresee_predict::deadlock::Deadlocks;
use foresee_predict::hb::HappensBefore;
use foresee_predict::lockset::Lockset;
use foresee_predict::max::Max;
use foresee_predict::reverse::Reverse;
use foresee_predict::syncp::SyncPreserving;
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Engine, Stream, WholeEngine};
use foresee_witness::judge::FindingKind;

/// What a user may configure about engines.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Functions that are meant to be atomic.
    pub atomic: AtomicFunctions,
    /// Properties to hold against the run.
    pub properties: Vec<Property>,
    /// What the user calls the trace: properties may speak of it.
    pub trace: String,
    /// How to predict what properties say of other runs.
    pub prediction: Prediction,
}

/// Makes the streaming part of an engine.
pub type MakeStream = for<'o> fn(&'o Options) -> Stream<'o>;

/// Makes the whole-trace part of an engine.
pub type MakeWhole = for<'o> fn(&'o Options) -> Box<dyn WholeEngine + 'o>;

/// An engine, and how to make it.
pub struct EngineInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// What it finds, in one line.
    pub about: &'static str,
    /// The kind of its findings.
    pub finds: FindingKind,
    /// Whether it runs when no engine is asked for.
    pub default: bool,
    /// Whether it only tries what others left over: see [`Engine::rest`].
    pub rest: bool,
    /// The part that sees each event once.
    pub stream: Option<MakeStream>,
    /// The part that looks at the whole execution.
    pub whole: Option<MakeWhole>,
}

impl EngineInfo {
    /// The engine, ready to run.
    pub fn make<'o>(&self, options: &'o Options) -> Engine<'o> {
        Engine {
            name: self.name,
            rest: self.rest,
            stream: self.stream.map(|make| make(options)),
            whole: self.whole.map(|make| make(options)),
        }
    }
}

/// The engine that works on what `--spec` says of runs.
pub const PROPERTY: &str = "property";

/// The engine that works on what `--spec` says of what threads know.
pub const MTTL: &str = "mttl";

/// All engines, in the order in which they run: the cheap and certain first.
pub const ENGINES: &[EngineInfo] = &[
    EngineInfo {
        name: "hb",
        about: "races of this very run, by happens-before",
        finds: FindingKind::Race,
        default: true,
        rest: false,
        stream: Some(|_| Stream::Apart(Box::new(HappensBefore::new()))),
        whole: None,
    },
    EngineInfo {
        name: "syncp",
        about: "races of runs that keep the order of critical sections",
        finds: FindingKind::Race,
        default: true,
        rest: false,
        stream: None,
        whole: Some(|_| Box::new(SyncPreserving)),
    },
    EngineInfo {
        name: "deadlock",
        about: "deadlocks: observed, and of runs that keep the order of critical sections",
        finds: FindingKind::Deadlock,
        default: true,
        rest: false,
        stream: None,
        whole: Some(|_| Box::new(Deadlocks)),
    },
    EngineInfo {
        name: "atomicity",
        about: "atomic blocks that do not behave like one step",
        finds: FindingKind::Atomicity,
        default: true,
        rest: false,
        stream: Some(|options| Stream::Along(Box::new(ObservedAtomicity::new(options.atomic.clone())))),
        whole: Some(|options| Box::new(PredictedAtomicity::new(options.atomic.clone()))),
    },
    EngineInfo {
        name: PROPERTY,
        about: "what properties say of this very run, and of others that its events allow",
        finds: FindingKind::Property,
        default: true,
        rest: false,
        stream: Some(|options| {
            Stream::Along(Box::new(ObservedVerdicts::new(&options.properties, &options.trace)))
        }),
        whole: Some(|options| {
            let Options { properties, trace, prediction, .. } = options;
            Box::new(PredictedVerdicts::new(properties, trace, *prediction))
        }),
    },
    EngineInfo {
        name: MTTL,
        about: "what properties say of what threads know of each other",
        finds: FindingKind::Property,
        default: true,
        rest: false,
        stream: Some(|options| {
            Stream::Along(Box::new(KnownVerdicts::new(&options.properties, &options.trace)))
        }),
        whole: None,
    },
    EngineInfo {
        name: "reverse",
        about: "races and deadlocks of runs that may reverse critical sections",
        finds: FindingKind::Race,
        default: true,
        rest: true,
        stream: None,
        whole: Some(|_| Box::new(Reverse)),
    },
    EngineInfo {
        name: "max",
        about: "every race that a correct reordering can show, within a window",
        finds: FindingKind::Race,
        default: true,
        rest: true,
        stream: None,
        whole: Some(|_| Box::new(Max)),
    },
    EngineInfo {
        name: "lockset",
        about: "pairs of accesses that share no lock: candidates, not proven",
        finds: FindingKind::Race,
        default: false,
        rest: false,
        stream: None,
        whole: Some(|_| Box::new(Lockset)),
    },
];

/// The engine of this name.
pub fn engine(name: &str) -> Option<&'static EngineInfo> {
    ENGINES.iter().find(|engine| engine.name == name)
}

/// The engines that run when none is asked for.
pub fn default_engines() -> impl Iterator<Item = &'static EngineInfo> {
    ENGINES.iter().filter(|engine| engine.default)
}
