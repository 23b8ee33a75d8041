//! A set: `add(v)`: whether it was absent; `remove(v)`: whether it was present; `contains(v)`.
//!
//! Elements are independent of each other, so a history is checked element by element. If each is added with success and removed with
//! success at most once, the search of an element has at most two steps that change its state: it is linear in its length.

use std::collections::BTreeSet;

use smallvec::smallvec;

use crate::spec::{Access, Keys, Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// A set.
#[derive(Clone, Debug, Default)]
pub struct Set;

/// An operation of a set: on an element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SetOp {
    element: Value,
    does: SetAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SetAction {
    Add,
    Remove,
    Contains,
}

impl Specification for Set {
    type Op = SetOp;
    type State = BTreeSet<Value>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<SetOp, WrongCall> {
        let does = match method {
            "add" => SetAction::Add,
            "remove" => SetAction::Remove,
            "contains" => SetAction::Contains,
            _ => return Err(wrong(method, args)),
        };
        let [element] = args else { return Err(wrong(method, args)) };
        Ok(SetOp { element: element.clone(), does })
    }

    fn initial(&self) -> Self::State {
        BTreeSet::new()
    }

    fn is_observer(&self, op: &SetOp) -> bool {
        op.does == SetAction::Contains
    }

    fn is_pure(&self, op: &SetOp, ret: &Value) -> bool {
        op.does == SetAction::Contains || *ret == Value::Bool(false)
    }

    fn apply(&self, state: &mut Self::State, op: &SetOp, ret: &Value) -> Outcome {
        let Value::Bool(ret) = *ret else { return Outcome::Refused };
        let present = state.contains(&op.element);
        match (op.does, ret) {
            (SetAction::Contains, _) => Outcome::unchanged_if(ret == present),
            (SetAction::Add, false) => Outcome::unchanged_if(present),
            (SetAction::Remove, false) => Outcome::unchanged_if(!present),
            (SetAction::Add, true) if !present => {
                state.insert(op.element.clone());
                Outcome::Changed
            }
            (SetAction::Remove, true) if present => {
                state.remove(&op.element);
                Outcome::Changed
            }
            _ => Outcome::Refused,
        }
    }

    fn returns(&self, state: &Self::State, op: &SetOp) -> Vec<Value> {
        vec![Value::Bool(state.contains(&op.element) != (op.does == SetAction::Add))]
    }

    fn keys(&self, op: &SetOp) -> Option<Keys> {
        Some(smallvec![op.element.clone()])
    }

    fn access(&self, op: &SetOp, ret: Option<&Value>) -> Access {
        let value = op.element.clone();
        match (op.does, ret) {
            (SetAction::Add, None) => Access::MayPut(value),
            (SetAction::Add, Some(Value::Bool(true))) => Access::Put(value),
            (SetAction::Remove, Some(Value::Bool(true))) => Access::Take(value),
            (SetAction::Contains, Some(Value::Bool(true))) => Access::See(value),
            (SetAction::Add, Some(Value::Bool(false))) => Access::See(value),
            _ => Access::Other,
        }
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.iter().map(|element| 48 + element.weight()).sum()
    }
}

impl Viewed for Set {
    fn part(&self, state: &Self::State, part: &Value) -> Option<Value> {
        state.contains(part).then_some(Value::Int(1))
    }

    fn parts(&self, state: &Self::State) -> Vec<Value> {
        state.iter().cloned().collect()
    }

    fn touched(&self, _state: &Self::State, op: &SetOp) -> Touched {
        Touched::Parts(vec![op.element.clone()])
    }
}

fn wrong(method: &str, args: &[Value]) -> WrongCall {
    WrongCall::new("set", "add(v), remove(v) or contains(v)", method, args)
}
