//! A map, as a search tree offers it: `insert(k, d)`: "ok", overwrites; `delete(k)`: whether it was there; `lookup(k)`: d or "none".

use std::collections::BTreeMap;

use smallvec::smallvec;

use crate::spec::{Keys, Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// A map. Its view: each key with the list of its data, of which a map has one.
#[derive(Clone, Debug, Default)]
pub struct Map;

/// An operation of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MapOp {
    /// Sets the data of a key.
    Insert(Value, Value),
    /// Removes a key.
    Delete(Value),
    /// Looks for a key.
    Lookup(Value),
}

impl MapOp {
    fn key(&self) -> &Value {
        match self {
            MapOp::Insert(key, _) | MapOp::Delete(key) | MapOp::Lookup(key) => key,
        }
    }
}

impl Specification for Map {
    type Op = MapOp;
    type State = BTreeMap<Value, Value>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<MapOp, WrongCall> {
        Ok(match (method, args) {
            ("insert", [key, data]) => MapOp::Insert(key.clone(), data.clone()),
            ("delete", [key]) => MapOp::Delete(key.clone()),
            ("lookup", [key]) => MapOp::Lookup(key.clone()),
            _ => return Err(WrongCall::new("tree", "insert(k, d), delete(k) or lookup(k)", method, args)),
        })
    }

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn is_observer(&self, op: &MapOp) -> bool {
        matches!(op, MapOp::Lookup(_))
    }

    fn is_pure(&self, op: &MapOp, ret: &Value) -> bool {
        matches!(op, MapOp::Lookup(_)) || *ret == Value::Bool(false)
    }

    fn apply(&self, state: &mut Self::State, op: &MapOp, ret: &Value) -> Outcome {
        match (op, ret) {
            (MapOp::Insert(key, data), ret) if ret.is_text("ok") => {
                match state.insert(key.clone(), data.clone()) {
                    Some(old) if old == *data => Outcome::Unchanged,
                    _ => Outcome::Changed,
                }
            }
            (MapOp::Delete(key), Value::Bool(true)) if state.remove(key).is_some() => Outcome::Changed,
            (MapOp::Delete(key), Value::Bool(false)) => Outcome::unchanged_if(!state.contains_key(key)),
            (MapOp::Lookup(_), ret) => Outcome::unchanged_if(self.permits(state, op, ret)),
            _ => Outcome::Refused,
        }
    }

    fn returns(&self, state: &Self::State, op: &MapOp) -> Vec<Value> {
        vec![match op {
            MapOp::Insert(..) => Value::from("ok"),
            MapOp::Delete(key) => Value::Bool(state.contains_key(key)),
            MapOp::Lookup(key) => state.get(key).cloned().unwrap_or_else(|| Value::from("none")),
        }]
    }

    fn keys(&self, op: &MapOp) -> Option<Keys> {
        Some(smallvec![op.key().clone()])
    }
}

impl Viewed for Map {
    fn part(&self, state: &Self::State, part: &Value) -> Option<Value> {
        state.get(part).map(|data| Value::List([data.clone()].into()))
    }

    fn parts(&self, state: &Self::State) -> Vec<Value> {
        state.keys().cloned().collect()
    }

    fn touched(&self, _state: &Self::State, op: &MapOp) -> Touched {
        Touched::Parts(vec![op.key().clone()])
    }
}
