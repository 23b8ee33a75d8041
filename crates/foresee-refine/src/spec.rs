//! What a specification is: an object whose methods are atomic, as code that can be run.
//!
//! A specification is *method-atomic* (an operation is one step) and *deterministic given the return value*: an operation may have several
//! results in a state (an insert that may fail), but with its result the next state is fixed. So the observed result is an input of the
//! step, and one sequence of operations with their results leads through one sequence of states.

use std::fmt::Debug;
use std::hash::Hash;

use smallvec::SmallVec;

use crate::shortened::shortened;
use crate::value::Value;

/// An executable specification.
///
/// ```
/// use foresee_refine::Value;
/// use foresee_refine::spec::{Outcome, Specification, Viewed, WrongCall};
///
/// /// A light: `switch()` gives back whether it is on now, and fails with "stuck" whenever it likes; `is_on()`.
/// #[derive(Clone)]
/// struct Light;
///
/// impl Specification for Light {
///     type Op = &'static str;
///     type State = bool;
///
///     fn decode(&self, method: &str, args: &[Value]) -> Result<&'static str, WrongCall> {
///         match (method, args) {
///             ("switch", []) => Ok("switch"),
///             ("is_on", []) => Ok("is_on"),
///             _ => Err(WrongCall::new("light", "switch() or is_on()", method, args)),
///         }
///     }
///
///     fn initial(&self) -> bool {
///         false
///     }
///
///     fn is_observer(&self, op: &&'static str) -> bool {
///         *op == "is_on"
///     }
///
///     fn apply(&self, is_on: &mut bool, op: &&'static str, ret: &Value) -> Outcome {
///         match *op {
///             "switch" if ret.is_text("stuck") => Outcome::Unchanged,
///             "switch" if *ret == Value::Bool(!*is_on) => {
///                 *is_on = !*is_on;
///                 Outcome::Changed
///             }
///             "is_on" => Outcome::unchanged_if(*ret == Value::Bool(*is_on)),
///             _ => Outcome::Refused,
///         }
///     }
///
///     fn returns(&self, is_on: &bool, op: &&'static str) -> Vec<Value> {
///         match *op {
///             "switch" => vec![Value::Bool(!*is_on), Value::from("stuck")],
///             _ => vec![Value::Bool(*is_on)],
///         }
///     }
/// }
///
/// // Only results are compared.
/// impl Viewed for Light {}
/// ```
pub trait Specification {
    /// A method with its arguments.
    type Op: Clone + Eq + Hash + Debug;
    /// The abstract state.
    type State: Clone + Eq + Hash + Debug;

    /// What a call means; an error if the specification has no such method, or not with such arguments.
    fn decode(&self, method: &str, args: &[Value]) -> Result<Self::Op, WrongCall>;

    /// The state at the beginning.
    fn initial(&self) -> Self::State;

    /// Whether the operation is an observer: it changes no state, whatever it gives back.
    fn is_observer(&self, op: &Self::Op) -> bool;

    /// Whether the operation with this result changes no state, wherever it is allowed: a look, a failed attempt.
    fn is_pure(&self, op: &Self::Op, _ret: &Value) -> bool {
        self.is_observer(op)
    }

    /// Takes the one step of this operation with this result. A refused step leaves the state as it was.
    fn apply(&self, state: &mut Self::State, op: &Self::Op, ret: &Value) -> Outcome;

    /// All results that the operation may have in this state; at least one if the specification is total.
    fn returns(&self, state: &Self::State, op: &Self::Op) -> Vec<Value>;

    /// Whether an observer may give this back in this state.
    fn permits(&self, state: &Self::State, op: &Self::Op, ret: &Value) -> bool {
        self.returns(state, op).contains(ret)
    }

    /// The independent parts of the object that the operation touches: a key of a map, an element of a set. What touches different parts
    /// only is checked apart, which is allowed as linearizability is local (Herlihy and Wing). `None`: the object as a whole.
    fn keys(&self, _op: &Self::Op) -> Option<Keys> {
        None
    }

    /// Makes one state of two that operations on different keys have led to, each from the beginning; whether it could. Where it can, logs are
    /// checked apart for different keys, too. Parts of the view must be called as keys are then, and an operation touch only those of its own keys.
    fn join(&self, _state: &mut Self::State, _other: &Self::State) -> bool {
        false
    }

    /// Which known kind of object this is, so that a faster procedure than a search may decide.
    fn shape(&self) -> Shape {
        Shape::General
    }

    /// What the operation does to an object of that kind; the result is `None` if it is not known.
    fn access(&self, _op: &Self::Op, _ret: Option<&Value>) -> Access {
        Access::Other
    }

    /// Whether a history without this operation still has a linearization if the one with it has one.
    fn removal(&self, op: &Self::Op, ret: Option<&Value>) -> Removal {
        let is_pure = self.is_observer(op) || ret.is_some_and(|ret| self.is_pure(op, ret));
        match (is_pure, self.keys(op)) {
            (true, keys) => Removal::Alone(keys.unwrap_or_default()),
            (false, Some(keys)) => Removal::With(keys),
            (false, None) => Removal::Never,
        }
    }

    /// About how many bytes a state takes, for the limit of memory.
    fn weight(&self, _state: &Self::State) -> usize {
        size_of::<Self::State>()
    }

    /// About how many bytes of the state itself the step copies into the next one. Where that is not 0, as few operations as a short log has
    /// can make a state of any size, so it is asked before the step is taken.
    fn growth(&self, _state: &Self::State, _op: &Self::Op) -> usize {
        0
    }

    /// About how many bytes are needed to take the step from this state, if it copies a part of it: the old state and the new one.
    fn room(&self, state: &Self::State, op: &Self::Op) -> usize {
        match self.growth(state, op) {
            0 => 0,
            more => 2 * self.weight(state) + more,
        }
    }
}

/// A specification whose states can be compared with those of an implementation: by their *view*, a map from parts to contents. Without
/// more said, the view has no parts, and only results are compared.
pub trait Viewed: Specification {
    /// The contents of one part of the view; `None` if the part is not there.
    fn part(&self, _state: &Self::State, _part: &Value) -> Option<Value> {
        None
    }

    /// All parts that are there.
    fn parts(&self, _state: &Self::State) -> Vec<Value> {
        Vec::new()
    }

    /// Which parts the operation may have changed; it has led to this state.
    fn touched(&self, _state: &Self::State, _op: &Self::Op) -> Touched {
        Touched::Parts(Vec::new())
    }
}

/// Which parts of a view a step may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// These at most.
    Parts(Vec<Value>),
    /// Any.
    All,
}

/// The keys that an operation touches; most touch one.
pub type Keys = SmallVec<[Value; 2]>;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The specification has no such step here.
    Refused,
    /// The step is there, and leaves the state as it is.
    Unchanged,
    /// The state is another now.
    Changed,
}

impl Outcome {
    /// A step that changes nothing, if it is there.
    pub fn unchanged_if(allowed: bool) -> Outcome {
        if allowed { Outcome::Unchanged } else { Outcome::Refused }
    }
}

/// Objects for which a near-linear procedure is known if no value is put twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// None of those.
    General,
    /// First in, first out.
    Queue,
    /// Last in, first out.
    Stack,
    /// The smallest first, by the order of [`Value`].
    PriorityQueue,
    /// The last one written, which is there from the beginning with this value.
    Register,
}

/// What an operation does, to procedures that know the [`Shape`] of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Puts this value; for a register, writes it.
    Put(Value),
    /// Takes this value.
    Take(Value),
    /// May have taken any value: its result is not known.
    TakeUnknown,
    /// Sees that this value is the next one; for a register, reads it.
    See(Value),
    /// Sees that nothing is there.
    SeeNothing,
    /// Has no effect and no result that must be explained.
    Nothing,
    /// Sees the one value, and puts the other in its place.
    Replace {
        /// What was there.
        old: Value,
        /// What is there then.
        new: Value,
    },
    /// Puts this value, or does nothing.
    MayPut(Value),
    /// Anything else that neither puts nor takes a value: only a search can tell.
    Other,
}

/// Which operations may be left out of a history without making it worse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// This one alone; and it must go with all others that name one of these values.
    Alone(Keys),
    /// This one, with all others that name one of these values, and so on.
    With(Keys),
    /// Not known.
    Never,
}

/// A call that the specification does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{model}: {what}; expected {expected}")]
pub struct WrongCall {
    /// The specification.
    pub model: &'static str,
    /// What is wrong.
    pub what: String,
    /// The calls there are.
    pub expected: &'static str,
}

impl WrongCall {
    /// The error for a call that is none of `expected`: the name of the specification, the calls that it has (`"enq(v) or deq()"`), and the
    /// call that it does not have.
    pub fn new(model: &'static str, expected: &'static str, method: &str, args: &[Value]) -> WrongCall {
        let args: Vec<String> = args.iter().map(shortened).collect();
        let call = format!("{method}({})", args.join(", "));
        WrongCall { model, what: format!("no operation {}", shortened(&call)), expected }
    }
}
