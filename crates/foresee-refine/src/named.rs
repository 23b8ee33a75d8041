//! Models and structures by name: for whoever has a file, and learns only then what is in it.

use std::fmt;
use std::str::FromStr;

use crate::history::History;
use crate::linear::{self, Explanation, Limits, Verdict, Violation};
use crate::log::Log;
use crate::models::{
    Buffers, Channel, Counter, Dictionary, Files, Kv, Map, Multiset, PriorityQueue, Queue, Register,
    Sequence, Set, Stack, Store,
};
use crate::refine::{self, BrokenBlock, Judgement, Mode, RefineError, Replica, Unsupported};
use crate::spec::{Viewed, WrongCall};
use crate::structures::{
    CacheReplica, CellsReplica, DiskReplica, LeavesReplica, SearchTreeReplica, SlotsReplica, VectorReplica,
};
use crate::value::Value;

/// The specifications that histories can be checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// [`Register`]
    Register,
    /// [`Kv`]
    Kv,
    /// [`Set`]
    Set,
    /// [`Queue`]
    Queue,
    /// [`Stack`]
    Stack,
    /// [`PriorityQueue`]
    PriorityQueue,
    /// [`Counter`]
    Counter,
    /// [`Multiset`]
    Multiset,
    /// [`Map`]
    Map,
    /// [`Store`]
    Store,
    /// [`Sequence`]
    Sequence,
    /// [`Buffers`]
    Buffers,
    /// [`Files`]
    Files,
    /// [`Dictionary`]
    Dictionary,
    /// [`Channel`], with room for any number of values
    Channel,
}

impl Model {
    /// All models, with their names.
    const ALL: [(Model, &'static str); 15] = [
        (Model::Register, "register"),
        (Model::Kv, "kv"),
        (Model::Set, "set"),
        (Model::Queue, "queue"),
        (Model::Stack, "stack"),
        (Model::PriorityQueue, "pqueue"),
        (Model::Counter, "counter"),
        (Model::Multiset, "multiset"),
        (Model::Map, "tree"),
        (Model::Store, "cache"),
        (Model::Sequence, "vector"),
        (Model::Buffers, "stringbuffer"),
        (Model::Files, "files"),
        (Model::Dictionary, "map"),
        (Model::Channel, "channel"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Model::ALL.iter().find(|(model, _)| *model == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no model and no structure has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no model is called `{0}`; expected {NAMES}")]
pub struct UnknownModel(String);

/// The names of all models and structures.
pub(crate) const NAMES: &str = "register, kv, set, queue, stack, pqueue, counter, multiset, bst, tree, cache, vector, stringbuffer, files, map or channel";

/// Calls a function for any specification with the one of a model.
macro_rules! with_specification {
    ($model:expr, $initial:expr, |$spec:ident| $does:expr) => {
        match $model {
            Model::Register => {
                let $spec = &Register { initial: $initial.clone() };
                $does
            }
            Model::Kv => with_specification!(@ Kv, $spec, $does),
            Model::Set => with_specification!(@ Set, $spec, $does),
            Model::Queue => with_specification!(@ Queue, $spec, $does),
            Model::Stack => with_specification!(@ Stack, $spec, $does),
            Model::PriorityQueue => with_specification!(@ PriorityQueue, $spec, $does),
            Model::Counter => with_specification!(@ Counter, $spec, $does),
            Model::Multiset => with_specification!(@ Multiset, $spec, $does),
            Model::Map => with_specification!(@ Map, $spec, $does),
            Model::Store => with_specification!(@ Store, $spec, $does),
            Model::Sequence => with_specification!(@ Sequence, $spec, $does),
            Model::Buffers => with_specification!(@ Buffers, $spec, $does),
            Model::Files => with_specification!(@ Files, $spec, $does),
            Model::Dictionary => with_specification!(@ Dictionary, $spec, $does),
            Model::Channel => {
                let $spec = &Channel::default();
                $does
            }
        }
    };
    (@ $type:ident, $spec:ident, $does:expr) => {{
        let $spec = &$type;
        $does
    }};
}

/// Which consistency is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Consistency {
    /// The order of time counts.
    #[default]
    Linearizable,
    /// Only the order of each client counts.
    Sequential,
}

/// Checks a history against a model. A register has the value `initial` at the beginning.
pub fn check(
    model: Model,
    initial: &Value,
    history: &History,
    consistency: Consistency,
    limits: Limits,
) -> Result<Verdict, WrongCall> {
    with_specification!(model, initial, |spec| match consistency {
        Consistency::Linearizable => linear::check(spec, history, limits),
        Consistency::Sequential => linear::check_sequential(spec, history, limits),
    })
}

/// Checks a history, and gives a linearization if there is one.
pub fn linearize(
    model: Model,
    initial: &Value,
    history: &History,
    limits: Limits,
) -> Result<Verdict, WrongCall> {
    with_specification!(model, initial, |spec| linear::check_by_search(spec, history, limits))
}

/// Explains why a history is not linearizable.
pub fn explain(
    model: Model,
    initial: &Value,
    history: &History,
    violation: &Violation,
    limits: Limits,
) -> Result<Explanation, WrongCall> {
    with_specification!(model, initial, |spec| linear::explain(spec, history, violation, limits))
}

/// What a refinement log is of: a specification, and what the writes of the implementation mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A multiset in an array of slots.
    Multiset,
    /// A multiset in a binary search tree.
    SearchTree,
    /// A map in the leaves of a tree.
    Tree,
    /// A cache over a storage.
    Cache,
    /// A growing vector.
    Vector,
    /// Two text buffers.
    StringBuffer,
    /// Files on a disk, with buffers in memory.
    Files,
    /// A model of which only results are compared.
    ResultsOf(Model),
}

impl Structure {
    /// The model whose histories it has.
    pub fn model(self) -> Model {
        match self {
            Structure::Multiset | Structure::SearchTree => Model::Multiset,
            Structure::Tree => Model::Map,
            Structure::Cache => Model::Store,
            Structure::Vector => Model::Sequence,
            Structure::StringBuffer => Model::Buffers,
            Structure::Files => Model::Files,
            Structure::ResultsOf(model) => model,
        }
    }

    /// Whether its writes are known, so that views can be compared.
    pub fn has_view(self) -> bool {
        !matches!(self, Structure::ResultsOf(_))
    }

    /// Whether a variable of this name is one of those that its contents are made of.
    pub fn has_variable(self, name: &str) -> bool {
        fn takes<R: Replica + Default>(name: &str) -> bool {
            R::default().write(name, &Value::Int(0)).is_ok()
        }
        match self {
            Structure::Multiset => takes::<SlotsReplica>(name),
            Structure::SearchTree => takes::<SearchTreeReplica>(name),
            Structure::Tree => takes::<LeavesReplica>(name),
            Structure::Cache => takes::<CacheReplica>(name),
            Structure::Vector => takes::<VectorReplica>(name),
            Structure::StringBuffer => takes::<CellsReplica>(name),
            Structure::Files => takes::<DiskReplica>(name),
            Structure::ResultsOf(_) => false,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Structure::SearchTree => "bst",
            other => other.model().name(),
        }
    }
}

impl FromStr for Structure {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Structure, UnknownModel> {
        Ok(match name {
            "multiset" => Structure::Multiset,
            "bst" => Structure::SearchTree,
            "tree" => Structure::Tree,
            "cache" => Structure::Cache,
            "vector" => Structure::Vector,
            "stringbuffer" => Structure::StringBuffer,
            "files" => Structure::Files,
            other => {
                let known = Model::ALL.iter().find(|(_, known)| *known == other);
                let (model, _) = known.ok_or_else(|| UnknownModel(other.to_owned()))?;
                Structure::ResultsOf(*model)
            }
        })
    }
}

/// What the checks of a log say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refinement {
    /// Of results alone: the violation, with whom to blame.
    pub io: Option<(refine::Violation, Judgement)>,
    /// Of results and views; `None` if there is no view of the structure, or no writes in the log to make one of.
    pub view: Option<Option<(refine::Violation, Judgement)>>,
    /// A commit block that is not one step, where views rest on that: compared after each commit.
    pub block: Option<BrokenBlock>,
}

/// Checks a log of a structure by results, and by views if it has writes.
pub fn refine(structure: Structure, log: &Log, limits: Limits) -> Result<Refinement, RefineError> {
    refine_at(structure, log, Mode::View, limits)
}

/// The same with views compared where `views` says.
pub fn refine_at(
    structure: Structure,
    log: &Log,
    views: Mode,
    limits: Limits,
) -> Result<Refinement, RefineError> {
    let of = (structure, views);
    match structure {
        Structure::Multiset => refine_with::<_, SlotsReplica>(&Multiset, of, log, limits),
        Structure::SearchTree => refine_with::<_, SearchTreeReplica>(&Multiset, of, log, limits),
        Structure::Tree => refine_with::<_, LeavesReplica>(&Map, of, log, limits),
        Structure::Cache => refine_with::<_, CacheReplica>(&Store, of, log, limits),
        Structure::Vector => refine_with::<_, VectorReplica>(&Sequence, of, log, limits),
        Structure::StringBuffer => refine_with::<_, CellsReplica>(&Buffers, of, log, limits),
        Structure::Files => refine_with::<_, DiskReplica>(&Files, of, log, limits),
        Structure::ResultsOf(model) => with_specification!(model, Value::Int(0), |spec| {
            refine_with::<_, Unsupported>(spec, of, log, limits)
        }),
    }
}

fn refine_with<S: Viewed, R: Replica + Default>(
    spec: &S,
    (structure, views): (Structure, Mode),
    log: &Log,
    limits: Limits,
) -> Result<Refinement, RefineError> {
    let judged = |mode| {
        let violation = refine::check_within(spec, R::default(), log, mode, limits)?;
        let judge = |violation: refine::Violation| {
            let judgement = refine::judge::<S, R>(spec, log, &violation, limits)?;
            Ok((violation, judgement))
        };
        violation.map(judge).transpose()
    };
    let io = judged(Mode::Io)?;
    // A log without any write may be one of results alone: then what only the view objects to says nothing, be it a difference or a
    // result that the view had ruled out.
    let mut view = match structure.has_view().then(|| judged(views)).transpose() {
        Err(why) if why.undecided().is_some() && !log.has_writes() => None,
        view => view?,
    };
    if let Some(Some((violation, _))) = &view
        && !log.has_writes()
        && io.as_ref().map(|(violation, _)| violation.first) != Some(violation.first)
    {
        view = None;
    }
    let rests_on_blocks = structure.has_view() && views == Mode::View;
    Ok(Refinement { io, view, block: rests_on_blocks.then(|| refine::broken_block(log)).flatten() })
}
