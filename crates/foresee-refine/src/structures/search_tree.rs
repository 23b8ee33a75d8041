//! A multiset in a binary search tree: `root`, `key[n]`, `left[n]`, `right[n]`, `count[n]` (1 if it was never written). Its view: how often
//! each key is in nodes that can be reached from the root.
//!
//! Kept up to date write by write: each node knows from which nodes that can be reached there are edges to it. A node that loses such an edge can
//! still be reached if a way back along these edges ends at the root. If none does, all nodes on these ways are out, and what hangs on
//! them loses an edge in turn.
//!
//! Cost of a write: the nodes that come in or go out; and where a node has another edge left, as in the removal of an inner node, the way to the
//! root, which the program has gone as well to find the node.

use std::collections::BTreeMap;
use std::ops::Bound;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, ToSmolStr as _};

use super::Target;
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

/// A node, by its place in [`SearchTreeReplica::nodes`].
type NodeId = u32;

/// The variable `root`, as a node without a key whose left child is the first of the tree.
const ROOT: NodeId = 0;

#[derive(Clone, Debug)]
struct Node {
    key: Value,
    count: i64,
    children: [Option<NodeId>; 2],
    is_reached: bool,
    /// The nodes that can be reached and have edges to this one, each with how many.
    parents: BTreeMap<NodeId, u8>,
}

impl Node {
    fn new(is_reached: bool) -> Node {
        Node { key: Value::Null, count: 1, children: [None, None], is_reached, parents: BTreeMap::new() }
    }
}

/// The nodes of a tree.
#[derive(Clone, Debug)]
pub struct SearchTreeReplica {
    ids: FxHashMap<SmolStr, NodeId>,
    nodes: Vec<Node>,
    counts: FxHashMap<Value, i64>,
    changed: Vec<Value>,
}

impl Default for SearchTreeReplica {
    fn default() -> SearchTreeReplica {
        SearchTreeReplica {
            ids: FxHashMap::default(),
            nodes: vec![Node::new(true)],
            counts: FxHashMap::default(),
            changed: Vec::new(),
        }
    }
}

impl SearchTreeReplica {
    fn id(&mut self, name: &str) -> NodeId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.nodes.len() as NodeId;
        self.ids.insert(name.into(), id);
        self.nodes.push(Node::new(false));
        id
    }

    fn node(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    fn count(&mut self, key: Value, more: i64) {
        if key != Value::Null {
            let count = self.counts.entry(key.clone()).or_default();
            *count = count.wrapping_add(more);
            self.changed.push(key);
        }
    }

    /// There is one edge more between these: the second can be reached, with all below it.
    fn reach(&mut self, from: NodeId, to: NodeId) {
        let mut edges = vec![(from, to)];
        while let Some((from, to)) = edges.pop() {
            let node = self.node(to);
            *node.parents.entry(from).or_default() += 1;
            if !std::mem::replace(&mut node.is_reached, true) {
                edges.extend(node.children.into_iter().flatten().map(|child| (to, child)));
                let (key, count) = (node.key.clone(), node.count);
                self.count(key, count);
            }
        }
    }

    /// There is one edge less between these.
    fn cut(&mut self, from: NodeId, to: NodeId) {
        let mut edges = vec![(from, to)];
        while let Some((from, to)) = edges.pop() {
            let node = self.node(to);
            match node.parents.get_mut(&from) {
                Some(edges) if *edges > 1 => *edges -= 1,
                _ => {
                    node.parents.remove(&from);
                }
            }
            if !node.is_reached {
                continue;
            }
            for lost in self.lost_with(to) {
                let node = self.node(lost);
                node.is_reached = false;
                edges.extend(node.children.into_iter().flatten().map(|child| (lost, child)));
                let (key, count) = (node.key.clone(), node.count);
                self.count(key, count.wrapping_neg());
            }
        }
    }

    /// All nodes from which there is a way to this one, itself included, if the root is none of them: then they cannot be reached. Nothing if it is.
    fn lost_with(&self, node: NodeId) -> FxHashSet<NodeId> {
        let mut lost = FxHashSet::from_iter([node]);
        // The way so far; of each node, the last of its parents that was tried.
        let mut way: Vec<(NodeId, Bound<NodeId>)> = vec![(node, Bound::Unbounded)];
        while let Some((at, tried)) = way.last_mut() {
            let Some((&parent, _)) =
                self.nodes[*at as usize].parents.range((*tried, Bound::Unbounded)).next()
            else {
                way.pop();
                continue;
            };
            if parent == ROOT {
                return FxHashSet::default();
            }
            *tried = Bound::Excluded(parent);
            // What is lost already may still have edges here that are about to be cut.
            if self.nodes[parent as usize].is_reached && lost.insert(parent) {
                way.push((parent, Bound::Unbounded));
            }
        }
        lost
    }

    /// A child of a node is another one now.
    fn lead(&mut self, from: NodeId, side: usize, to: Option<NodeId>) {
        let node = self.node(from);
        let old = std::mem::replace(&mut node.children[side], to);
        if node.is_reached && old != to {
            // What only moves elsewhere stays, if its new edge is there first.
            to.into_iter().for_each(|to| self.reach(from, to));
            old.into_iter().for_each(|old| self.cut(from, old));
        }
    }
}

impl Replica for SearchTreeReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let wrong = || WrongWrite::new(target, "root, key[n], left[n], right[n] or count[n] (a number)");
        let Target { name, indices, field: "" } = Target::of(target) else { return Err(wrong()) };
        let (node, side) = match (name, &indices[..]) {
            ("root", []) => (ROOT, Some(0)),
            ("left", [index]) => (self.id(index), Some(0)),
            ("right", [index]) => (self.id(index), Some(1)),
            ("key" | "count", [index]) => (self.id(index), None),
            _ => return Err(wrong()),
        };
        match (name, side, value) {
            (_, Some(side), Value::Null) => self.lead(node, side, None),
            (_, Some(side), to) => {
                // Nodes may have numbers or names.
                let to = to.as_text().map_or_else(|| to.to_smolstr(), SmolStr::new);
                let to = self.id(&to);
                self.lead(node, side, Some(to));
            }
            ("key", _, key) => {
                let own = self.node(node);
                let old = std::mem::replace(&mut own.key, key.clone());
                if own.is_reached && old != *key {
                    let count = own.count;
                    self.count(old, count.wrapping_neg());
                    self.count(key.clone(), count);
                }
            }
            (_, _, Value::Int(count)) => {
                let own = self.node(node);
                let more = count.wrapping_sub(std::mem::replace(&mut own.count, *count));
                if own.is_reached {
                    let key = own.key.clone();
                    self.count(key, more);
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        self.counts.get(part).filter(|count| **count != 0).map(|count| Value::Int(*count))
    }

    fn parts(&self) -> Vec<Value> {
        self.counts.iter().filter(|(_, count)| **count != 0).map(|(key, _)| key.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each key is in nodes that can be reached, by going through all of them.
    fn view(replica: &SearchTreeReplica) -> BTreeMap<Value, i64> {
        let (mut seen, mut open) = (FxHashSet::default(), vec![ROOT]);
        let mut counts = BTreeMap::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                let node = &replica.nodes[id as usize];
                open.extend(node.children.into_iter().flatten());
                if node.key != Value::Null {
                    *counts.entry(node.key.clone()).or_insert(0) += node.count;
                }
            }
        }
        counts.retain(|_, count| *count != 0);
        counts
    }

    /// Writes of any kind, trees or not: with circles, several ways to a node, keys that change.
    #[test]
    fn any_writes() {
        let mut state = 1_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for _ in 0..300 {
            let mut replica = SearchTreeReplica::default();
            let nodes = 2 + below(8);
            for _ in 0..60 {
                let node = below(nodes);
                let to = if below(4) == 0 { Value::Null } else { Value::from(format!("{}", below(nodes))) };
                let (target, value) = match below(10) {
                    0 => ("root".to_owned(), to),
                    1 => (format!("key[{node}]"), Value::from(below(4))),
                    2 => (format!("count[{node}]"), Value::from(below(3))),
                    3..7 => (format!("left[{node}]"), to),
                    _ => (format!("right[{node}]"), to),
                };
                replica.write(&target, &value).ok();
                let parts = replica.parts().into_iter();
                let own: BTreeMap<Value, i64> =
                    parts.map(|part| (part.clone(), replica.counts[&part])).collect();
                assert_eq!(own, view(&replica), "after {target} = {value}");
            }
        }
    }

    #[test]
    fn nodes_by_number() {
        let mut replica = SearchTreeReplica::default();
        for (target, value) in [("key[1]", 7), ("key[2]", 8), ("right[1]", 2), ("root", 1)] {
            replica.write(target, &Value::Int(value)).ok();
        }
        assert_eq!(replica.part(&Value::Int(8)), Some(Value::Int(1)));
    }
}
