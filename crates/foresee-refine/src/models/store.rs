//! What a cache with the storage behind it is: handles with bytes. `write(h, bytes)`, `flush()`, `revoke(h)`: "ok"; `read(h)`: bytes
//! or "none". Flushing and revoking move bytes around inside, which nobody sees.

use std::collections::BTreeMap;

use smallvec::smallvec;

use crate::spec::{Keys, Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// Handles with bytes.
#[derive(Clone, Debug, Default)]
pub struct Store;

/// An operation of the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreOp {
    /// Writes bytes at a handle.
    Write(Value, Value),
    /// Reads the bytes of a handle.
    Read(Value),
    /// Writes the dirty entry of this handle, or all, to the storage.
    Flush(Option<Value>),
}

impl Specification for Store {
    type Op = StoreOp;
    type State = BTreeMap<Value, Value>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<StoreOp, WrongCall> {
        Ok(match (method, args) {
            ("write", [handle, bytes @ Value::List(_)]) => StoreOp::Write(handle.clone(), bytes.clone()),
            ("read", [handle]) => StoreOp::Read(handle.clone()),
            ("flush", []) => StoreOp::Flush(None),
            ("revoke", [handle]) => StoreOp::Flush(Some(handle.clone())),
            _ => {
                let expected = "write(h, bytes), read(h), flush() or revoke(h)";
                return Err(WrongCall::new("cache", expected, method, args));
            }
        })
    }

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn is_observer(&self, op: &StoreOp) -> bool {
        matches!(op, StoreOp::Read(_))
    }

    fn is_pure(&self, op: &StoreOp, _ret: &Value) -> bool {
        !matches!(op, StoreOp::Write(..))
    }

    fn apply(&self, state: &mut Self::State, op: &StoreOp, ret: &Value) -> Outcome {
        match op {
            StoreOp::Read(_) => Outcome::unchanged_if(self.permits(state, op, ret)),
            _ if !ret.is_text("ok") => Outcome::Refused,
            StoreOp::Flush(_) => Outcome::Unchanged,
            StoreOp::Write(handle, bytes) => match state.insert(handle.clone(), bytes.clone()) {
                Some(old) if old == *bytes => Outcome::Unchanged,
                _ => Outcome::Changed,
            },
        }
    }

    fn returns(&self, state: &Self::State, op: &StoreOp) -> Vec<Value> {
        vec![match op {
            StoreOp::Read(handle) => state.get(handle).cloned().unwrap_or_else(|| Value::from("none")),
            _ => Value::from("ok"),
        }]
    }

    fn keys(&self, op: &StoreOp) -> Option<Keys> {
        match op {
            StoreOp::Write(handle, _) | StoreOp::Read(handle) | StoreOp::Flush(Some(handle)) => {
                Some(smallvec![handle.clone()])
            }
            StoreOp::Flush(None) => Some(smallvec![]),
        }
    }
}

impl Viewed for Store {
    fn part(&self, state: &Self::State, part: &Value) -> Option<Value> {
        state.get(part).cloned()
    }

    fn parts(&self, state: &Self::State) -> Vec<Value> {
        state.keys().cloned().collect()
    }

    fn touched(&self, _state: &Self::State, op: &StoreOp) -> Touched {
        match op {
            StoreOp::Write(handle, _) => Touched::Parts(vec![handle.clone()]),
            _ => Touched::Parts(Vec::new()),
        }
    }
}
