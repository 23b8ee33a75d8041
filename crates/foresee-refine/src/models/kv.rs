//! A map from keys to texts: `get(k)`, `put(k, text)`: "ok", `append(k, text)`: "ok". A key that was never put has the empty text.

use std::collections::BTreeMap;

use smallvec::smallvec;
use smol_str::SmolStr;

use crate::spec::{Keys, Outcome, Specification, Viewed, WrongCall};
use crate::value::Value;

/// A map from keys to texts.
#[derive(Clone, Debug, Default)]
pub struct Kv;

/// An operation of the map: on a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KvOp {
    key: Value,
    does: KvAction,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum KvAction {
    Get,
    Put(SmolStr),
    Append(SmolStr),
}

impl Specification for Kv {
    type Op = KvOp;
    type State = BTreeMap<Value, SmolStr>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<KvOp, WrongCall> {
        let (key, does) = match (method, args) {
            ("get", [key]) => (key, KvAction::Get),
            ("put", [key, Value::Text(text)]) => (key, KvAction::Put(text.clone())),
            ("append", [key, Value::Text(text)]) => (key, KvAction::Append(text.clone())),
            _ => return Err(WrongCall::new("kv", "get(k), put(k, text) or append(k, text)", method, args)),
        };
        Ok(KvOp { key: key.clone(), does })
    }

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn is_observer(&self, op: &KvOp) -> bool {
        op.does == KvAction::Get
    }

    fn apply(&self, state: &mut Self::State, op: &KvOp, ret: &Value) -> Outcome {
        let old = state.get(&op.key).map_or("", |text| text);
        let new = match &op.does {
            KvAction::Get => return Outcome::unchanged_if(ret.is_text(old)),
            _ if !ret.is_text("ok") => return Outcome::Refused,
            KvAction::Put(text) if **text == *old => return Outcome::Unchanged,
            KvAction::Append(text) if text.is_empty() => return Outcome::Unchanged,
            KvAction::Put(text) => text.clone(),
            KvAction::Append(text) => format!("{old}{text}").into(),
        };
        state.insert(op.key.clone(), new);
        Outcome::Changed
    }

    fn returns(&self, state: &Self::State, op: &KvOp) -> Vec<Value> {
        vec![match op.does {
            KvAction::Get => Value::from(state.get(&op.key).map_or("", |text| text)),
            _ => Value::from("ok"),
        }]
    }

    fn permits(&self, state: &Self::State, op: &KvOp, ret: &Value) -> bool {
        ret.is_text(state.get(&op.key).map_or("", |text| text))
    }

    fn keys(&self, op: &KvOp) -> Option<Keys> {
        Some(smallvec![op.key.clone()])
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.iter().map(|(key, text)| 64 + key.weight() + text.len()).sum()
    }
}

impl Viewed for Kv {}
