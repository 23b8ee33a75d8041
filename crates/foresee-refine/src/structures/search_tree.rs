//! A multiset in a binary search tree: `root`, `key[n]`, `left[n]`, `right[n]`, `count[n]` (1 if it was never written). Its view: how often
//! each key is in nodes that can be reached from the root.
//!
//! A subtree that is hung where nothing was is added; when something that can be reached is cut off, the tree is gone through again.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Target;
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

#[derive(Clone, Debug)]
struct Node {
    key: Value,
    children: [Option<Value>; 2],
    count: i64,
}

impl Default for Node {
    fn default() -> Node {
        Node { key: Value::Null, children: [None, None], count: 1 }
    }
}

/// The nodes of a tree.
#[derive(Clone, Debug, Default)]
pub struct SearchTreeReplica {
    root: Option<Value>,
    nodes: FxHashMap<Value, Node>,
    reached: FxHashSet<Value>,
    counts: FxHashMap<Value, i64>,
    changed: Vec<Value>,
    /// Whether the tree must be gone through again.
    is_stale: bool,
}

impl SearchTreeReplica {
    /// Adds what can be reached from here and was not before.
    fn reach(&mut self, from: &Value) {
        let mut left = vec![from.clone()];
        while let Some(name) = left.pop() {
            if !self.reached.insert(name.clone()) {
                continue;
            }
            let node = self.nodes.entry(name).or_default();
            if node.key != Value::Null {
                let count = self.counts.entry(node.key.clone()).or_default();
                *count = count.wrapping_add(node.count);
                self.changed.push(node.key.clone());
            }
            left.extend(node.children.iter().flatten().cloned());
        }
    }

    fn refresh(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            self.reached.clear();
            self.changed.extend(self.counts.drain().map(|(key, _)| key));
            if let Some(root) = self.root.clone() {
                self.reach(&root);
            }
        }
    }

    /// An edge of a node that can be reached now leads elsewhere.
    fn moved(&mut self, old: Option<Value>, new: Option<Value>) {
        match (old, new) {
            _ if self.is_stale => {}
            (None, Some(new)) if !self.reached.contains(&new) => self.reach(&new),
            (old, new) if old == new => {}
            _ => self.is_stale = true,
        }
    }
}

impl Replica for SearchTreeReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let wrong = || WrongWrite::new(target, "root, key[n], left[n], right[n] or count[n] (a number)");
        let Target { name, indices, field: "" } = Target::of(target) else { return Err(wrong()) };
        let to = Some(value.clone()).filter(|value| *value != Value::Null);
        if (name, indices.len()) == ("root", 0) {
            let old = std::mem::replace(&mut self.root, to.clone());
            self.moved(old, to);
            return Ok(());
        }
        let [index] = indices[..] else { return Err(wrong()) };
        let index = Value::from(index);
        let is_reached = self.reached.contains(&index);
        let node = self.nodes.entry(index).or_default();
        match (name, value) {
            ("key", key) => {
                self.is_stale |= is_reached && node.key != *key;
                node.key = key.clone();
            }
            ("count", Value::Int(count)) => {
                self.is_stale |= is_reached && node.count != *count;
                node.count = *count;
            }
            ("left" | "right", _) => {
                let old = std::mem::replace(&mut node.children[usize::from(name == "right")], to.clone());
                if is_reached {
                    self.moved(old, to);
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        self.refresh();
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        self.counts.get(part).filter(|count| **count != 0).map(|count| Value::Int(*count))
    }

    fn parts(&self) -> Vec<Value> {
        self.counts.iter().filter(|(_, count)| **count != 0).map(|(key, _)| key.clone()).collect()
    }
}
