//! The multiset of the paper: `insert(x)`, `insertPair(x, y)`: "success", or "failure" in any state and then without effect;
//! `delete(x)`: whether there was one, which is gone then; `lookup(x)`.

use smallvec::smallvec;

use crate::models::bag::Bag;
use crate::spec::{Keys, Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// A multiset.
#[derive(Clone, Debug, Default)]
pub struct Multiset;

/// An operation of a multiset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MultisetOp {
    /// Inserts one or two values at once.
    Insert(Keys),
    /// Removes one copy.
    Delete(Value),
    /// Looks for it.
    Lookup(Value),
}

impl Specification for Multiset {
    type Op = MultisetOp;
    type State = Bag;

    fn decode(&self, method: &str, args: &[Value]) -> Result<MultisetOp, WrongCall> {
        Ok(match (method, args) {
            ("insert", [x]) => MultisetOp::Insert(smallvec![x.clone()]),
            ("insertPair", [x, y]) => MultisetOp::Insert(smallvec![x.clone(), y.clone()]),
            ("delete", [x]) => MultisetOp::Delete(x.clone()),
            ("lookup", [x]) => MultisetOp::Lookup(x.clone()),
            _ => {
                let expected = "insert(x), insertPair(x, y), delete(x) or lookup(x)";
                return Err(WrongCall::new("multiset", expected, method, args));
            }
        })
    }

    fn initial(&self) -> Bag {
        Bag::default()
    }

    fn is_observer(&self, op: &MultisetOp) -> bool {
        matches!(op, MultisetOp::Lookup(_))
    }

    fn is_pure(&self, op: &MultisetOp, ret: &Value) -> bool {
        match op {
            MultisetOp::Lookup(_) => true,
            MultisetOp::Delete(_) => *ret == Value::Bool(false),
            MultisetOp::Insert(_) => ret.is_text("failure"),
        }
    }

    fn apply(&self, state: &mut Bag, op: &MultisetOp, ret: &Value) -> Outcome {
        match (op, ret) {
            (MultisetOp::Insert(_), ret) if ret.is_text("failure") => Outcome::Unchanged,
            (MultisetOp::Insert(values), ret) if ret.is_text("success") => {
                values.iter().for_each(|value| state.insert(value.clone()));
                Outcome::Changed
            }
            (MultisetOp::Delete(x), Value::Bool(true)) if state.remove(x) => Outcome::Changed,
            (MultisetOp::Delete(x), Value::Bool(false)) => Outcome::unchanged_if(state.count(x) == 0),
            (MultisetOp::Lookup(x), Value::Bool(seen)) => {
                Outcome::unchanged_if(*seen == (state.count(x) > 0))
            }
            _ => Outcome::Refused,
        }
    }

    fn returns(&self, state: &Bag, op: &MultisetOp) -> Vec<Value> {
        match op {
            MultisetOp::Insert(_) => vec![Value::from("success"), Value::from("failure")],
            MultisetOp::Delete(x) | MultisetOp::Lookup(x) => vec![Value::Bool(state.count(x) > 0)],
        }
    }

    fn keys(&self, op: &MultisetOp) -> Option<Keys> {
        Some(match op {
            MultisetOp::Insert(values) => values.clone(),
            MultisetOp::Delete(x) | MultisetOp::Lookup(x) => smallvec![x.clone()],
        })
    }

    fn join(&self, state: &mut Bag, other: &Bag) -> bool {
        state.add_all(other);
        true
    }

    fn weight(&self, state: &Bag) -> usize {
        state.weight()
    }
}

impl Viewed for Multiset {
    fn part(&self, state: &Bag, part: &Value) -> Option<Value> {
        Some(state.count(part)).filter(|count| *count > 0).map(Value::from)
    }

    fn parts(&self, state: &Bag) -> Vec<Value> {
        state.values().cloned().collect()
    }

    fn touched(&self, _state: &Self::State, op: &MultisetOp) -> Touched {
        Touched::Parts(self.keys(op).unwrap_or_default().into_vec())
    }
}
