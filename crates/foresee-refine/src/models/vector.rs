//! A growing sequence: `add(x)`, `clear()`: "ok"; `lastIndexOf(x)`: the index or -1; `size()`.

use crate::spec::{Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// A growing sequence. Its view: each index with its element, and `"size"`.
#[derive(Clone, Debug, Default)]
pub struct Sequence;

/// The part of the view that has the length.
pub const SIZE: &str = "size";

/// An operation of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SequenceOp {
    /// Adds at the end.
    Add(Value),
    /// Removes all.
    Clear,
    /// Where the element is last.
    LastIndexOf(Value),
    /// How many there are.
    Size,
}

impl Specification for Sequence {
    type Op = SequenceOp;
    type State = Vec<Value>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<SequenceOp, WrongCall> {
        Ok(match (method, args) {
            ("add", [x]) => SequenceOp::Add(x.clone()),
            ("clear", []) => SequenceOp::Clear,
            ("lastIndexOf", [x]) => SequenceOp::LastIndexOf(x.clone()),
            ("size", []) => SequenceOp::Size,
            _ => {
                let expected = "add(x), clear(), lastIndexOf(x) or size()";
                return Err(WrongCall::new("vector", expected, method, args));
            }
        })
    }

    fn initial(&self) -> Vec<Value> {
        Vec::new()
    }

    fn is_observer(&self, op: &SequenceOp) -> bool {
        matches!(op, SequenceOp::LastIndexOf(_) | SequenceOp::Size)
    }

    fn apply(&self, state: &mut Vec<Value>, op: &SequenceOp, ret: &Value) -> Outcome {
        match op {
            SequenceOp::LastIndexOf(_) | SequenceOp::Size => {
                Outcome::unchanged_if(self.permits(state, op, ret))
            }
            _ if !ret.is_text("ok") => Outcome::Refused,
            SequenceOp::Add(x) => {
                state.push(x.clone());
                Outcome::Changed
            }
            SequenceOp::Clear if state.is_empty() => Outcome::Unchanged,
            SequenceOp::Clear => {
                state.clear();
                Outcome::Changed
            }
        }
    }

    fn returns(&self, state: &Vec<Value>, op: &SequenceOp) -> Vec<Value> {
        vec![match op {
            SequenceOp::LastIndexOf(x) => {
                state.iter().rposition(|element| element == x).map_or(Value::Int(-1), Value::from)
            }
            SequenceOp::Size => Value::from(state.len()),
            _ => Value::from("ok"),
        }]
    }

    fn weight(&self, state: &Vec<Value>) -> usize {
        64 + state.iter().map(|element| size_of::<Value>() + element.weight()).sum::<usize>()
    }
}

impl Viewed for Sequence {
    fn part(&self, state: &Vec<Value>, part: &Value) -> Option<Value> {
        match part {
            Value::Int(index) => state.get(usize::try_from(*index).ok()?).cloned(),
            _ => Some(Value::from(state.len())).filter(|_| part.is_text(SIZE)),
        }
    }

    fn parts(&self, state: &Vec<Value>) -> Vec<Value> {
        (0..state.len()).map(Value::from).chain([Value::from(SIZE)]).collect()
    }

    fn touched(&self, state: &Self::State, op: &SequenceOp) -> Touched {
        match op {
            SequenceOp::Add(_) => {
                Touched::Parts(vec![Value::from(state.len().saturating_sub(1)), Value::from(SIZE)])
            }
            SequenceOp::Clear => Touched::All,
            SequenceOp::LastIndexOf(_) | SequenceOp::Size => Touched::Parts(Vec::new()),
        }
    }
}
