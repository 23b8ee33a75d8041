//! Finding instances by the values of some of their parameters.
//!
//! An [`Index`] maps the values of a fixed set of parameters to a [`Node`]: the instances that have those values, and
//! when events with exactly those values came. Keys of one and two values are stored flat.
//!
//! Lists of instances are cleaned lazily: an instance that is gone leaves a stale [`Ref`] behind, and a list sweeps
//! itself when it has doubled since the last sweep. So leaving costs nothing, entering is amortised constant, and a list
//! is never more than about twice as long as what it holds.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::params::ParamSet;
use super::table;

/// A slot of a slab and which of its tenants is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ref {
    pub(super) slot: u32,
    pub(super) tenant: u32,
}

/// A node of one of the indices, by the index's position.
pub(super) type Mention = (u32, Ref);

/// A list that forgets stale entries when it has doubled.
#[derive(Clone, Debug)]
pub(super) struct List<T> {
    pub(super) refs: SmallVec<[T; 2]>,
    sweep_at: u32,
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List { refs: SmallVec::new(), sweep_at: 0 }
    }
}

impl<T: Copy> List<T> {
    pub(super) fn push(&mut self, new: T, lives: impl Fn(T) -> bool) {
        if self.refs.len() >= self.sweep_at.max(8) as usize {
            self.sweep(lives);
        }
        self.refs.push(new);
    }

    pub(super) fn sweep(&mut self, mut lives: impl FnMut(T) -> bool) {
        self.refs.retain(|this| lives(*this));
        self.sweep_at = self.refs.len() as u32 * 2;
        if self.refs.spilled() && self.refs.capacity() > 16 && self.refs.len() * 4 < self.refs.capacity() {
            self.refs.shrink_to_fit();
        }
    }
}

/// No time at all: later than every event.
pub(super) const NEVER: u64 = u64::MAX;

/// What is known about one tuple of values.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// When an event with exactly these values last came; 0 if none did (events are counted from 1).
    pub(super) last: u64,
    /// When a creation event with exactly these values first came, or [`NEVER`].
    pub(super) first_creation: u64,
    /// The instances whose binding includes these values.
    pub(super) members: List<Ref>,
    /// For one object: the nodes of other indices whose values include it.
    pub(super) mentions: Option<Box<List<Mention>>>,
    /// The values.
    pub(super) key: Key,
    pub(super) tenant: u32,
}

impl Node {
    fn new(key: Key, tenant: u32) -> Node {
        Node { last: 0, first_creation: NEVER, members: List::default(), mentions: None, key, tenant }
    }
}

/// Values of some parameters, in the order of the parameters.
pub(super) type Key = SmallVec<[u64; 2]>;

#[derive(Clone, Debug)]
enum Table {
    Zero(Option<u32>),
    One(table::Table<u32>),
    Two(FxHashMap<(u64, u64), u32>),
    Many(FxHashMap<Box<[u64]>, u32>),
}

/// All nodes for one set of parameters.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// The parameters whose values are the key.
    pub(super) on: ParamSet,
    /// If set, only instances with exactly this domain are members.
    pub(super) members: Option<ParamSet>,
    table: Table,
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// The single value looked up last, and its node: programs often do several things with one object in a row.
    recent: Option<(u64, u32)>,
}

impl Index {
    pub(super) fn new(on: ParamSet, members: Option<ParamSet>) -> Index {
        let table = match on.len() {
            0 => Table::Zero(None),
            1 => Table::One(table::Table::default()),
            2 => Table::Two(FxHashMap::default()),
            _ => Table::Many(FxHashMap::default()),
        };
        Index { on, members, table, nodes: Vec::new(), free: Vec::new(), recent: None }
    }

    /// Whether instances with this domain are members.
    pub(super) fn takes(&self, domain: ParamSet) -> bool {
        domain.contains(self.on) && self.members.is_none_or(|members| members == domain)
    }

    #[inline]
    pub(super) fn find(&self, key: &[u64]) -> Option<u32> {
        match (&self.table, key) {
            (Table::Zero(node), _) => *node,
            (Table::One(table), [one]) => table.get(*one).copied(),
            (Table::Two(table), [one, two]) => table.get(&(*one, *two)).copied(),
            (Table::Many(table), key) => table.get(key).copied(),
            _ => None,
        }
    }

    /// The same, with a look at what was found last.
    #[inline]
    pub(super) fn find_again(&mut self, key: &[u64]) -> Option<u32> {
        let [one] = *key else { return self.find(key) };
        if let Some((value, node)) = self.recent
            && value == one
        {
            return Some(node);
        }
        let found = self.find(key);
        if let Some(node) = found {
            self.recent = Some((one, node));
        }
        found
    }

    pub(super) fn find_or_insert(&mut self, key: &[u64]) -> (u32, bool) {
        if let Some(node) = self.find(key) {
            return (node, false);
        }
        let node = match self.free.pop() {
            Some(node) => {
                let tenant = self.node(node).tenant;
                *self.node_mut(node) = Node::new(key.into(), tenant);
                node
            }
            None => {
                self.nodes.push(Node::new(key.into(), 0));
                self.nodes.len() as u32 - 1
            }
        };
        match (&mut self.table, key) {
            (Table::Zero(slot), _) => *slot = Some(node),
            (Table::One(table), [one]) => _ = table.insert(*one, node),
            (Table::Two(table), [one, two]) => _ = table.insert((*one, *two), node),
            (Table::Many(table), key) => _ = table.insert(key.into(), node),
            _ => {}
        }
        (node, true)
    }

    pub(super) fn remove(&mut self, key: &[u64]) {
        let removed = match (&mut self.table, key) {
            (Table::Zero(_), _) => None,
            (Table::One(table), [one]) => table.remove(*one),
            (Table::Two(table), [one, two]) => table.remove(&(*one, *two)),
            (Table::Many(table), key) => table.remove(key),
            _ => None,
        };
        if let Some(node) = removed {
            self.recent = None;
            let tenant = self.node(node).tenant.wrapping_add(1);
            *self.node_mut(node) = Node::new(Key::new(), tenant);
            self.free.push(node);
        }
    }

    #[inline]
    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    #[inline]
    pub(super) fn node_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// How many keys are known.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }
}
