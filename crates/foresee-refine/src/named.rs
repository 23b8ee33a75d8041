//! Models by name: for whoever has a file, and learns only then what is in it.

use std::fmt;
use std::str::FromStr;

use crate::history::History;
use crate::linear::{self, Explanation, Limits, Verdict, Violation};
use crate::models::{Buffers, Counter, Kv, Map, Multiset, PriorityQueue, Queue, Register, Sequence, Set, Stack, Store};
use crate::spec::WrongCall;
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
}

impl Model {
    /// All models, with their names.
    pub const ALL: [(Model, &'static str); 12] = [
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

/// A name that no model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no model is called `{0}`; expected register, kv, set, queue, stack, pqueue, counter, multiset, tree, cache, vector or stringbuffer")]
pub struct UnknownModel(String);

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Model, UnknownModel> {
        let known = Model::ALL.iter().find(|(_, known)| *known == name);
        known.map(|(model, _)| *model).ok_or_else(|| UnknownModel(name.to_owned()))
    }
}

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
