//! A multiset in a binary search tree: `root`, `key[n]`, `left[n]`, `right[n]`, `count[n]` (1 if it was never written). Its view: how often
//! each key is in nodes that can be reached from the root.
//!
//! Kept up to date write by write: each node that can be reached knows how many edges from such nodes lead to it. One to which none is left is
//! out, with what hangs on it alone. One that loses an edge and has another may still be reached, or be in a circle: then the tree is gone
//! through again.

use rustc_hash::FxHashMap;

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
    /// The nodes that can be reached, with the number of edges from these, or the root, to them.
    reached: FxHashMap<Value, usize>,
    counts: FxHashMap<Value, i64>,
    changed: Vec<Value>,
    /// Whether the tree must be gone through again.
    is_stale: bool,
}

impl SearchTreeReplica {
    /// There is one edge more to this node: it can be reached, with all below it.
    fn reach(&mut self, from: Value) {
        let mut left = vec![from];
        while let Some(name) = left.pop() {
            let edges = self.reached.entry(name.clone()).or_default();
            *edges += 1;
            if *edges == 1 {
                let node = self.nodes.entry(name).or_default();
                left.extend(node.children.iter().flatten().cloned());
                let (key, count) = (node.key.clone(), node.count);
                self.count(&key, count);
            }
        }
    }

    /// There is one edge less to this node.
    fn cut(&mut self, from: Value) {
        let mut left = vec![from];
        while let Some(name) = left.pop() {
            match self.reached.get_mut(&name) {
                Some(1) => {
                    self.reached.remove(&name);
                    let node = self.nodes.entry(name).or_default();
                    left.extend(node.children.iter().flatten().cloned());
                    let (key, count) = (node.key.clone(), node.count);
                    self.count(&key, count.wrapping_neg());
                }
                Some(edges) => {
                    *edges -= 1;
                    self.is_stale = true;
                }
                None => {}
            }
        }
    }

    fn count(&mut self, key: &Value, more: i64) {
        if *key != Value::Null {
            let count = self.counts.entry(key.clone()).or_default();
            *count = count.wrapping_add(more);
            self.changed.push(key.clone());
        }
    }

    fn refresh(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            self.reached.clear();
            self.changed.extend(self.counts.drain().map(|(key, _)| key));
            if let Some(root) = self.root.clone() {
                self.reach(root);
            }
        }
    }

    /// An edge of the root, or of a node that can be reached, leads elsewhere.
    fn moved(&mut self, old: Option<Value>, new: Option<Value>) {
        if !self.is_stale && old != new {
            new.into_iter().for_each(|new| self.reach(new));
            old.into_iter().for_each(|old| self.cut(old));
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
        let is_reached = self.reached.contains_key(&index);
        let node = self.nodes.entry(index).or_default();
        match (name, value) {
            ("key", key) => {
                self.is_stale |= is_reached && node.key != *key;
                node.key = key.clone();
            }
            ("count", Value::Int(count)) => {
                let more = count.wrapping_sub(std::mem::replace(&mut node.count, *count));
                if is_reached && !self.is_stale {
                    let key = node.key.clone();
                    self.count(&key, more);
                }
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
