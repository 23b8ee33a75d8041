//! A map as libraries offer it: operations tell what was there before.
//!
//! | operation | gives back |
//! |---|---|
//! | `insert(k, v)` | the value before, or nil; the new one is there then |
//! | `put(k, v)` | "ok"; the same for who does not tell |
//! | `add(k, v)` | whether the key was absent; if not, all stays as it is |
//! | `get_or_insert(k, v)` | the value that is there then |
//! | `remove(k)` | the value before, or nil |
//! | `discard(k)` | whether the key was there; it is not there then |
//! | `get(k)`, `contains(k)` | the value or nil; whether there is one |
//!
//! So nil is no value. Keys are independent of each other, and a history is checked key by key.

use std::collections::BTreeMap;

use smallvec::smallvec;

use crate::spec::{Keys, Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// A map. Its view: each key with its value.
#[derive(Clone, Debug, Default)]
pub struct Dictionary;

/// An operation of a map: on a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DictionaryOp {
    key: Value,
    does: Does,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Does {
    Insert(Value),
    Put(Value),
    Add(Value),
    GetOrInsert(Value),
    Remove,
    Discard,
    Get,
    Contains,
}

impl Specification for Dictionary {
    type Op = DictionaryOp;
    type State = BTreeMap<Value, Value>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<DictionaryOp, WrongCall> {
        let (key, does) = match (method, args) {
            ("remove", [key]) => (key, Does::Remove),
            ("discard", [key]) => (key, Does::Discard),
            ("get", [key]) => (key, Does::Get),
            ("contains", [key]) => (key, Does::Contains),
            (_, [_, Value::Null]) => return Err(wrong(method, args)),
            ("insert", [key, value]) => (key, Does::Insert(value.clone())),
            ("put", [key, value]) => (key, Does::Put(value.clone())),
            ("add", [key, value]) => (key, Does::Add(value.clone())),
            ("get_or_insert", [key, value]) => (key, Does::GetOrInsert(value.clone())),
            _ => return Err(wrong(method, args)),
        };
        Ok(DictionaryOp { key: key.clone(), does })
    }

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn is_observer(&self, op: &DictionaryOp) -> bool {
        matches!(op.does, Does::Get | Does::Contains)
    }

    fn is_pure(&self, op: &DictionaryOp, ret: &Value) -> bool {
        match &op.does {
            Does::Get | Does::Contains => true,
            Does::Remove => *ret == Value::Null,
            Does::Add(_) | Does::Discard => *ret == Value::Bool(false),
            Does::GetOrInsert(value) => ret != value,
            Does::Insert(_) | Does::Put(_) => false,
        }
    }

    fn apply(&self, state: &mut Self::State, op: &DictionaryOp, ret: &Value) -> Outcome {
        if !self.permits(state, op, ret) {
            return Outcome::Refused;
        }
        let known = state.get(&op.key);
        let new = match (&op.does, known) {
            (Does::Get | Does::Contains, _) | (Does::Add(_) | Does::GetOrInsert(_), Some(_)) => {
                return Outcome::Unchanged;
            }
            (Does::Remove | Does::Discard, _) => None,
            (Does::Insert(value) | Does::Put(value) | Does::Add(value) | Does::GetOrInsert(value), _) => {
                Some(value)
            }
        };
        if known == new {
            return Outcome::Unchanged;
        }
        match new {
            Some(value) => drop(state.insert(op.key.clone(), value.clone())),
            None => drop(state.remove(&op.key)),
        }
        Outcome::Changed
    }

    fn returns(&self, state: &Self::State, op: &DictionaryOp) -> Vec<Value> {
        let known = state.get(&op.key);
        vec![match &op.does {
            Does::Insert(_) | Does::Remove | Does::Get => known.cloned().unwrap_or_default(),
            Does::Put(_) => Value::from("ok"),
            Does::Add(_) => Value::Bool(known.is_none()),
            Does::GetOrInsert(value) => known.unwrap_or(value).clone(),
            Does::Discard | Does::Contains => Value::Bool(known.is_some()),
        }]
    }

    fn keys(&self, op: &DictionaryOp) -> Option<Keys> {
        Some(smallvec![op.key.clone()])
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.iter().map(|(key, value)| 64 + key.weight() + value.weight()).sum()
    }
}

impl Viewed for Dictionary {
    fn part(&self, state: &Self::State, part: &Value) -> Option<Value> {
        state.get(part).cloned()
    }

    fn parts(&self, state: &Self::State) -> Vec<Value> {
        state.keys().cloned().collect()
    }

    fn touched(&self, _state: &Self::State, op: &DictionaryOp) -> Touched {
        Touched::Parts(vec![op.key.clone()])
    }
}

fn wrong(method: &str, args: &[Value]) -> WrongCall {
    let expected = "insert(k, v), put(k, v), add(k, v), get_or_insert(k, v), remove(k), discard(k), get(k) or contains(k), where no v is nil";
    WrongCall::new("map", expected, method, args)
}
