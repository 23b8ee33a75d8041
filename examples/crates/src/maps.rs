//! Maps and sets.

use foresee::refine::models::{Dictionary, Set};
use foresee::refine::{Choice, Harness, Linearized, RefineError, Specification, Value, logged_call};

use crate::Which;

/// A map from numbers to numbers, or a set of numbers.
pub trait Map: Sync + Default {
    /// What it should behave like.
    type Specification: Specification + Default;
    /// The operations of its specification that it claims to be atomic.
    const CLAIMED: &'static [&'static str];
    /// Those that it offers as well, and does not.
    const BEYOND: &'static [&'static str] = &[];

    /// Calls one of these operations; those without a value ignore it.
    fn call(&self, operation: &str, key: i64, value: i64) -> Value;
}

/// Drives a map, and looks for an order of its operations.
pub fn test<M: Map>(harness: &Harness, which: Which) -> Result<Linearized, RefineError> {
    harness.linearize(&M::Specification::default(), M::default, |map, choice| operate(map, which, choice))
}

fn operate<M: Map>(map: &M, which: Which, choice: &mut Choice) {
    let beyond = if which == Which::All { M::BEYOND } else { &[] };
    let place = choice.below(M::CLAIMED.len() + beyond.len());
    let operation = M::CLAIMED.get(place).copied().unwrap_or_else(|| beyond[place - M::CLAIMED.len()]);
    let (key, value) = (choice.key(), choice.below(1_000_000) as i64);
    let with_value = [Value::from(key), Value::from(value)];
    // What an operation takes is what its specification knows.
    let takes_value = M::Specification::default().decode(operation, &with_value).is_ok();
    let args = &with_value[..if takes_value { 2 } else { 1 }];
    logged_call(operation, args, || map.call(operation, key, value));
}

/// An operation that is not in the lists of the map.
fn unlisted(operation: &str) -> ! {
    panic!("this map does not offer `{operation}`")
}

/// `SkipMap::insert` takes out what is there before it puts in the new value, and says so: in between the key is absent. `SkipMap::remove` of 0.1.3 gives
/// back the entry as well if another thread was faster to remove it (`findings/crossbeam-skiplist-remove.json`); `Entry::remove` tells who it was.
#[derive(Default)]
pub struct SkipList(crossbeam_skiplist::SkipMap<i64, i64>);

impl Map for SkipList {
    type Specification = Dictionary;
    const CLAIMED: &'static [&'static str] = &["get_or_insert", "discard", "get", "contains"];
    const BEYOND: &'static [&'static str] = &["put", "remove"];

    fn call(&self, operation: &str, key: i64, value: i64) -> Value {
        match operation {
            "get_or_insert" => (*self.0.get_or_insert(key, value).value()).into(),
            "put" => {
                self.0.insert(key, value);
                "ok".into()
            }
            "remove" => self.0.remove(&key).map(|entry| *entry.value()).into(),
            "discard" => self.0.get(&key).is_some_and(|entry| entry.remove()).into(),
            "get" => self.0.get(&key).map(|entry| *entry.value()).into(),
            "contains" => self.0.contains_key(&key).into(),
            other => unlisted(other),
        }
    }
}

#[derive(Default)]
pub struct Dash(dashmap::DashMap<i64, i64>);

impl Map for Dash {
    type Specification = Dictionary;
    const CLAIMED: &'static [&'static str] = &["insert", "get_or_insert", "remove", "get", "contains"];

    fn call(&self, operation: &str, key: i64, value: i64) -> Value {
        match operation {
            "insert" => self.0.insert(key, value).into(),
            "get_or_insert" => (*self.0.entry(key).or_insert(value)).into(),
            "remove" => self.0.remove(&key).map(|(_, value)| value).into(),
            "get" => self.0.get(&key).map(|value| *value).into(),
            "contains" => self.0.contains_key(&key).into(),
            other => unlisted(other),
        }
    }
}

#[derive(Default)]
pub struct DashedSet(dashmap::DashSet<i64>);

impl Map for DashedSet {
    type Specification = Set;
    const CLAIMED: &'static [&'static str] = &["add", "remove", "contains"];

    fn call(&self, operation: &str, key: i64, _value: i64) -> Value {
        match operation {
            "add" => self.0.insert(key).into(),
            "remove" => self.0.remove(&key).is_some().into(),
            "contains" => self.0.contains(&key).into(),
            other => unlisted(other),
        }
    }
}

/// Its documentation says that methods which change the map are linearizable.
#[derive(Default)]
pub struct SccMap(scc::HashMap<i64, i64>);

impl Map for SccMap {
    type Specification = Dictionary;
    const CLAIMED: &'static [&'static str] = &["insert", "add", "get_or_insert", "remove", "get", "contains"];

    fn call(&self, operation: &str, key: i64, value: i64) -> Value {
        match operation {
            "insert" => self.0.upsert_sync(key, value).into(),
            "add" => self.0.insert_sync(key, value).is_ok().into(),
            "get_or_insert" => (*self.0.entry_sync(key).or_insert(value).get()).into(),
            "remove" => self.0.remove_sync(&key).map(|(_, value)| value).into(),
            "get" => self.0.read_sync(&key, |_, value| *value).into(),
            "contains" => self.0.contains_sync(&key).into(),
            other => unlisted(other),
        }
    }
}

/// Readers take no lock; they are linearizable on some processors, says the documentation, of which x86-64 is one.
#[derive(Default)]
pub struct SccIndex(scc::HashIndex<i64, i64>);

impl Map for SccIndex {
    type Specification = Dictionary;
    const CLAIMED: &'static [&'static str] = &["add", "discard", "get", "contains"];

    fn call(&self, operation: &str, key: i64, value: i64) -> Value {
        match operation {
            "add" => self.0.insert_sync(key, value).is_ok().into(),
            "discard" => self.0.remove_sync(&key).into(),
            "get" => self.0.peek_with(&key, |_, value| *value).into(),
            "contains" => self.0.contains(&key).into(),
            other => unlisted(other),
        }
    }
}

/// Its documentation says that all methods but iteration are linearizable. In 3.8 `upsert_sync` is not: a `remove_sync` meanwhile may find nothing
/// (`findings/scc-tree-upsert.json`).
#[derive(Default)]
pub struct SccTree(scc::TreeIndex<i64, i64>);

impl Map for SccTree {
    type Specification = Dictionary;
    const CLAIMED: &'static [&'static str] = &["add", "discard", "get", "contains"];
    const BEYOND: &'static [&'static str] = &["put"];

    fn call(&self, operation: &str, key: i64, value: i64) -> Value {
        match operation {
            "add" => self.0.insert_sync(key, value).is_ok().into(),
            "put" => {
                self.0.upsert_sync(key, value);
                "ok".into()
            }
            "discard" => self.0.remove_sync(&key).into(),
            "get" => self.0.peek_with(&key, |_, value| *value).into(),
            "contains" => self.0.contains(&key).into(),
            other => unlisted(other),
        }
    }
}

#[derive(Default)]
pub struct SccSet(scc::HashSet<i64>);

impl Map for SccSet {
    type Specification = Set;
    const CLAIMED: &'static [&'static str] = &["add", "remove", "contains"];

    fn call(&self, operation: &str, key: i64, _value: i64) -> Value {
        match operation {
            "add" => self.0.insert_sync(key).is_ok().into(),
            "remove" => self.0.remove_sync(&key).is_some().into(),
            "contains" => self.0.contains_sync(&key).into(),
            other => unlisted(other),
        }
    }
}

/// A cache that is never full. Of `get_with` it is only promised that concurrent calls compute once: it overwrites what was inserted since it looked
/// (`findings/moka-get-with.json`).
pub struct Moka(moka::sync::Cache<i64, i64>);

impl Default for Moka {
    fn default() -> Moka {
        Moka(moka::sync::Cache::builder().build())
    }
}

impl Map for Moka {
    type Specification = Dictionary;
    const CLAIMED: &'static [&'static str] = &["put", "remove", "get", "contains"];
    const BEYOND: &'static [&'static str] = &["get_or_insert"];

    fn call(&self, operation: &str, key: i64, value: i64) -> Value {
        match operation {
            "put" => {
                self.0.insert(key, value);
                "ok".into()
            }
            "get_or_insert" => self.0.get_with(key, || value).into(),
            "remove" => self.0.remove(&key).into(),
            "get" => self.0.get(&key).into(),
            "contains" => self.0.contains_key(&key).into(),
            other => unlisted(other),
        }
    }
}

#[derive(Default)]
pub struct Papaya(papaya::HashMap<i64, i64>);

impl Map for Papaya {
    type Specification = Dictionary;
    const CLAIMED: &'static [&'static str] = &["insert", "add", "get_or_insert", "remove", "get", "contains"];

    fn call(&self, operation: &str, key: i64, value: i64) -> Value {
        let map = self.0.pin();
        match operation {
            "insert" => map.insert(key, value).copied().into(),
            "add" => map.try_insert(key, value).is_ok().into(),
            "get_or_insert" => (*map.get_or_insert(key, value)).into(),
            "remove" => map.remove(&key).copied().into(),
            "get" => map.get(&key).copied().into(),
            "contains" => map.contains_key(&key).into(),
            other => unlisted(other),
        }
    }
}

#[derive(Default)]
pub struct PapayaSet(papaya::HashSet<i64>);

impl Map for PapayaSet {
    type Specification = Set;
    const CLAIMED: &'static [&'static str] = &["add", "remove", "contains"];

    fn call(&self, operation: &str, key: i64, _value: i64) -> Value {
        let set = self.0.pin();
        match operation {
            "add" => set.insert(key).into(),
            "remove" => set.remove(&key).into(),
            "contains" => set.contains(&key).into(),
            other => unlisted(other),
        }
    }
}
