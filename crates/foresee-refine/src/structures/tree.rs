//! A tree whose data is in its leaves: `leaf[n]`, a list of pairs. Its view: each key with all of its data, twice what is there twice.
//! `node[n]`, the index above the leaves, is not in it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Target;
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

/// The leaves of a tree.
#[derive(Clone, Debug, Default)]
pub struct LeavesReplica {
    leaves: FxHashMap<String, Vec<(Value, Value)>>,
    data: FxHashMap<Value, BTreeMap<Value, usize>>,
    changed: Vec<Value>,
}

impl Replica for LeavesReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let wrong = || WrongWrite::new(target, "leaf[n], a list of [key, data], or node[n]");
        let (name, indices) = match Target::of(target) {
            Target { name: "node", .. } => return Ok(()),
            Target { name, field: "", indices } => (name, indices),
            Target { .. } => return Err(wrong()),
        };
        let ("leaf", [index]) = (name, &indices[..]) else { return Err(wrong()) };
        let pairs = match value {
            Value::Null => Vec::new(),
            Value::List(pairs) => {
                let pair = |pair: &Value| match pair {
                    Value::List(both) => match &both[..] {
                        [key, data] => Some((key.clone(), data.clone())),
                        _ => None,
                    },
                    _ => None,
                };
                pairs.iter().map(pair).collect::<Option<Vec<_>>>().ok_or_else(wrong)?
            }
            _ => return Err(wrong()),
        };
        // Most writes change one pair: what is the same at both ends stays.
        let old = self.leaves.get(*index).map_or(&[][..], Vec::as_slice);
        let before = old.iter().zip(&pairs).take_while(|(old, new)| old == new).count();
        let rest = old[before..].iter().rev().zip(pairs[before..].iter().rev());
        let after = rest.take_while(|(old, new)| old == new).count();
        for (key, data) in &pairs[before..pairs.len() - after] {
            *self.data.entry(key.clone()).or_default().entry(data.clone()).or_default() += 1;
            self.changed.push(key.clone());
        }
        let mut old = match self.leaves.get_mut(*index) {
            Some(leaf) => std::mem::replace(leaf, pairs),
            None => self.leaves.insert((*index).to_owned(), pairs).unwrap_or_default(),
        };
        old.truncate(old.len() - after);
        for (key, data) in old.drain(before..) {
            let all = self.data.entry(key.clone()).or_default();
            match all.get_mut(&data) {
                Some(count) if *count > 1 => *count -= 1,
                _ => {
                    all.remove(&data);
                }
            }
            if all.is_empty() {
                self.data.remove(&key);
            }
            self.changed.push(key);
        }
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        let all = self.data.get(part)?;
        let data = all.iter().flat_map(|(data, count)| std::iter::repeat_n(data.clone(), *count));
        Some(Value::List(data.collect()))
    }

    fn parts(&self) -> Vec<Value> {
        self.data.keys().cloned().collect()
    }
}
