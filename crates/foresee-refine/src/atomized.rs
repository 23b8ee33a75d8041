//! A specification for free: the implementation itself, run one method at a time (section 4.4 of the paper).

use std::fmt::Debug;
use std::hash::Hash;

use crate::spec::{Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// An implementation that is run by one thread, one method after the other.
///
/// ```
/// use foresee_refine::Value;
/// use foresee_refine::atomized::{Atomized, Sequential};
/// use foresee_refine::spec::WrongCall;
///
/// #[derive(Clone, Default, Debug, PartialEq, Eq, Hash)]
/// struct Tickets(u64);
///
/// impl Sequential for Tickets {
///     fn call(&mut self, method: &str, args: &[Value]) -> Result<Value, WrongCall> {
///         match (method, args) {
///             ("take", []) => {
///                 self.0 += 1;
///                 Ok(Value::from(self.0))
///             }
///             ("taken", []) => Ok(Value::from(self.0)),
///             _ => Err(WrongCall::new("tickets", "take() or taken()", method, args)),
///         }
///     }
///
///     fn is_observer(&self, method: &str) -> bool {
///         method == "taken"
///     }
/// }
///
/// // The specification.
/// let tickets = Atomized::new(Tickets::default());
/// # let _ = tickets;
/// ```
pub trait Sequential: Clone + Eq + Hash + Debug {
    /// Runs a method to its end.
    fn call(&mut self, method: &str, args: &[Value]) -> Result<Value, WrongCall>;

    /// Whether the method never changes the state.
    fn is_observer(&self, method: &str) -> bool;

    /// The results with which the method may as well end, in any state and without an effect, as it does when threads get in each other's way.
    fn failures(&self, _method: &str) -> Vec<Value> {
        Vec::new()
    }

    /// The view, as a list of its parts and their contents.
    fn view(&self) -> Vec<(Value, Value)> {
        Vec::new()
    }
}

/// The specification that an implementation is of itself: each method is run alone, and must give back what was observed.
#[derive(Clone, Debug)]
pub struct Atomized<T>(T);

impl<T: Sequential> Atomized<T> {
    /// Begins in this state.
    pub fn new(initial: T) -> Atomized<T> {
        Atomized(initial)
    }
}

/// A method with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    method: String,
    args: Vec<Value>,
}

impl<T: Sequential> Specification for Atomized<T> {
    type Op = Call;
    type State = T;

    fn decode(&self, method: &str, args: &[Value]) -> Result<Call, WrongCall> {
        // Whether a call is possible is asked of a copy, which is dropped.
        self.0.clone().call(method, args)?;
        Ok(Call { method: method.to_owned(), args: args.to_vec() })
    }

    fn initial(&self) -> T {
        self.0.clone()
    }

    fn is_observer(&self, op: &Call) -> bool {
        self.0.is_observer(&op.method)
    }

    fn apply(&self, state: &mut T, op: &Call, ret: &Value) -> Outcome {
        let mut next = state.clone();
        match next.call(&op.method, &op.args) {
            Ok(own) if own == *ret && next == *state => Outcome::Unchanged,
            Ok(own) if own == *ret => {
                *state = next;
                Outcome::Changed
            }
            _ => Outcome::unchanged_if(state.failures(&op.method).contains(ret)),
        }
    }

    fn returns(&self, state: &T, op: &Call) -> Vec<Value> {
        let own = state.clone().call(&op.method, &op.args);
        own.into_iter().chain(state.failures(&op.method)).collect()
    }
}

impl<T: Sequential> Viewed for Atomized<T> {
    fn part(&self, state: &T, part: &Value) -> Option<Value> {
        state.view().into_iter().find(|(other, _)| other == part).map(|(_, contents)| contents)
    }

    fn parts(&self, state: &T) -> Vec<Value> {
        state.view().into_iter().map(|(part, _)| part).collect()
    }

    fn touched(&self, _state: &Self::State, _op: &Call) -> Touched {
        Touched::All
    }
}
