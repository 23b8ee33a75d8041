//! A cache over a storage of chunks: `cached[h]`, `clean[h]`, `dirty[h]`, `entry[h][i]`, `chunk[h][i]`. Its view: each handle with the
//! bytes of its entry if it is cached, otherwise of its chunk.
//!
//! Invariants: (i) a cached clean entry equals its chunk; (ii) a cached entry is in exactly one of the lists of clean and dirty entries, and
//! a handle that is not cached is in neither.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{Target, note};
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

#[derive(Clone, Debug, Default)]
struct Handle {
    cached: bool,
    clean: bool,
    dirty: bool,
    entry: BTreeMap<u32, Value>,
    chunk: BTreeMap<u32, Value>,
}

impl Handle {
    fn broken(&self) -> Option<&'static str> {
        if self.cached && self.clean && self.entry != self.chunk {
            return Some("a clean entry differs from its chunk");
        }
        match (self.cached, self.clean, self.dirty) {
            (true, true, true) => Some("an entry is both clean and dirty"),
            (true, false, false) => Some("an entry is neither clean nor dirty"),
            (false, true, _) | (false, _, true) => {
                Some("a handle that is not cached is in a list of entries")
            }
            _ => None,
        }
    }

    fn bytes(&self) -> Option<Value> {
        let bytes = if self.cached { &self.entry } else { &self.chunk };
        (!bytes.is_empty()).then(|| Value::List(bytes.values().cloned().collect()))
    }
}

/// The handles of a cache.
#[derive(Clone, Debug, Default)]
pub struct CacheReplica {
    handles: FxHashMap<SmolStr, Handle>,
    broken: BTreeSet<SmolStr>,
    changed: Vec<Value>,
}

impl Replica for CacheReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let expected = "cached[h], clean[h], dirty[h] (true or false), entry[h][i] or chunk[h][i]";
        let wrong = || WrongWrite::new(target, expected);
        let Target { name, indices, field: "" } = Target::of(target) else { return Err(wrong()) };
        let Some(key) = indices.first().map(SmolStr::new) else { return Err(wrong()) };
        let handle = self.handles.entry(key.clone()).or_default();
        let flag = match value {
            Value::Bool(it) => Some(*it),
            Value::Int(it) => Some(*it != 0),
            _ => None,
        };
        match (name, &indices[1..], value) {
            ("cached", [], _) => handle.cached = flag.ok_or_else(wrong)?,
            ("clean", [], _) => handle.clean = flag.ok_or_else(wrong)?,
            ("dirty", [], _) => handle.dirty = flag.ok_or_else(wrong)?,
            ("entry" | "chunk", [index], value) => {
                let index = index.parse().map_err(|_| wrong())?;
                let bytes = if name == "entry" { &mut handle.entry } else { &mut handle.chunk };
                match value {
                    Value::Null => drop(bytes.remove(&index)),
                    value => drop(bytes.insert(index, value.clone())),
                }
            }
            _ => return Err(wrong()),
        }
        match handle.broken() {
            Some(_) => self.broken.insert(key.clone()),
            None => !self.broken.is_empty() && self.broken.remove(&key),
        };
        note(&mut self.changed, &key);
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        self.handles.get(part.as_text()?)?.bytes()
    }

    fn parts(&self) -> Vec<Value> {
        let there = self.handles.iter().filter(|(_, handle)| handle.bytes().is_some());
        there.map(|(key, _)| Value::from(key.as_str())).collect()
    }

    fn broken(&self) -> Option<String> {
        let key = self.broken.first()?;
        Some(format!("{key}: {}", self.handles.get(key)?.broken()?))
    }
}
