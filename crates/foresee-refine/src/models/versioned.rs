//! A map whose data have version numbers, as Boxwood's data nodes have: 0 when a key is inserted, one more each time its data are overwritten. The
//! operations are those of [`Map`], and do not tell versions; the view does.

use std::collections::BTreeMap;

use super::map::{Map, MapOp};
use crate::spec::{Keys, Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// A map with version numbers. Its view: each key with the list of its data and their versions, of which a map has one.
#[derive(Clone, Debug, Default)]
pub struct VersionedMap;

impl Specification for VersionedMap {
    type Op = MapOp;
    type State = BTreeMap<Value, (Value, i64)>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<MapOp, WrongCall> {
        Map.decode(method, args)
    }

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn is_observer(&self, op: &MapOp) -> bool {
        Map.is_observer(op)
    }

    fn is_pure(&self, op: &MapOp, ret: &Value) -> bool {
        Map.is_pure(op, ret)
    }

    fn apply(&self, state: &mut Self::State, op: &MapOp, ret: &Value) -> Outcome {
        if !self.permits(state, op, ret) {
            return Outcome::Refused;
        }
        match op {
            MapOp::Insert(key, data) => {
                let version = state.get(key).map_or(0, |(_, version)| version + 1);
                state.insert(key.clone(), (data.clone(), version));
            }
            MapOp::Delete(key) if state.remove(key).is_some() => {}
            MapOp::Delete(_) | MapOp::Lookup(_) => return Outcome::Unchanged,
        }
        Outcome::Changed
    }

    fn returns(&self, state: &Self::State, op: &MapOp) -> Vec<Value> {
        vec![match op {
            MapOp::Insert(..) => Value::from("ok"),
            MapOp::Delete(key) => Value::Bool(state.contains_key(key)),
            MapOp::Lookup(key) => {
                state.get(key).map_or_else(|| Value::from("none"), |(data, _)| data.clone())
            }
        }]
    }

    fn keys(&self, op: &MapOp) -> Option<Keys> {
        Map.keys(op)
    }
}

impl Viewed for VersionedMap {
    fn part(&self, state: &Self::State, part: &Value) -> Option<Value> {
        state.get(part).map(|versioned| Value::List([Value::from(versioned.clone())].into()))
    }

    fn parts(&self, state: &Self::State) -> Vec<Value> {
        state.keys().cloned().collect()
    }

    fn touched(&self, _state: &Self::State, op: &MapOp) -> Touched {
        Map.touched(&BTreeMap::new(), op)
    }
}
