//! The components of very many threads, of which clocks share what they have in common.
//!
//! A tree with [`BRANCHES`] children a node and times in its leaves; what is in nobody's clock is not there. A node is never changed while others
//! hold it: who wants to change it copies it first (Bagwell: *Ideal hash trees*, 2001, has such tries; sharing as in
//! Driscoll, Sarnak, Sleator, Tarjan: *Making data structures persistent*, 1989). Two trees that hold the same node need not look into it.

use std::sync::Arc;

/// Children of a node, times of a leaf.
const BRANCHES: usize = 32;

/// How many bits of a slot choose among them.
const BITS: u32 = BRANCHES.trailing_zeros();

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Leaf([u64; BRANCHES]),
    Inner([Option<Arc<Node>>; BRANCHES]),
}

/// Times by slot; 0 where there is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    root: Option<Arc<Node>>,
    /// How many nodes are above a leaf.
    height: u32,
}

/// What a joined node is.
enum Joined {
    /// The first of the two covered everything.
    First,
    /// The second did, and more.
    Second,
    New(Arc<Node>),
}

impl Tree {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        if self.root.is_some() {
            *self = Tree::default();
        }
    }

    #[inline]
    pub(super) fn copy_from(&mut self, other: &Tree) {
        if self.root.is_some() || other.root.is_some() {
            self.take_over(other);
        }
    }

    #[cold]
    fn take_over(&mut self, other: &Tree) {
        if !is_same(self.root.as_ref(), other.root.as_ref()) {
            self.root.clone_from(&other.root);
        }
        self.height = other.height;
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> u64 {
        match &self.root {
            Some(root) => self.look_up(root, slot),
            None => 0,
        }
    }

    fn look_up(&self, root: &Node, slot: u32) -> u64 {
        if !has_room(self.height, slot) {
            return 0;
        }
        let (mut node, mut height) = (root, self.height);
        loop {
            match node {
                Node::Leaf(times) => return times[branch(0, slot)],
                Node::Inner(children) => match &children[branch(height, slot)] {
                    Some(child) => node = child,
                    None => return 0,
                },
            }
            height -= 1;
        }
    }

    #[cold]
    pub(super) fn set(&mut self, slot: u32, time: u64) {
        while !has_room(self.height, slot) {
            self.raise();
        }
        let mut height = self.height;
        let mut node = self.root.get_or_insert_with(|| new_node(height));
        loop {
            match Arc::make_mut(node) {
                Node::Leaf(times) => {
                    times[branch(0, slot)] = time;
                    return;
                }
                Node::Inner(children) => {
                    node = children[branch(height, slot)].get_or_insert_with(|| new_node(height - 1));
                    height -= 1;
                }
            }
        }
    }

    /// Covers what the other covers, too; whether that was anything new.
    #[inline]
    pub(super) fn join(&mut self, other: &Tree) -> bool {
        match &other.root {
            Some(theirs) => self.join_node(theirs, other.height),
            None => false,
        }
    }

    #[cold]
    fn join_node(&mut self, theirs: &Arc<Node>, height: u32) -> bool {
        let Some(mine) = &self.root else {
            (self.root, self.height) = (Some(Arc::clone(theirs)), height);
            return true;
        };
        if Arc::ptr_eq(mine, theirs) {
            return false;
        }
        while self.height < height {
            self.raise();
        }
        // Theirs, as high as ours.
        let theirs = (height..self.height).fold(Arc::clone(theirs), |below, _| above(below));
        let Some(mine) = &self.root else { return false };
        match joined(mine, &theirs) {
            Joined::First => return false,
            Joined::Second => self.root = Some(theirs),
            Joined::New(node) => self.root = Some(node),
        }
        true
    }

    /// Makes it one node higher.
    fn raise(&mut self) {
        self.root = self.root.take().map(above);
        self.height += 1;
    }
}

/// Trees of different heights may have the same times.
impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        let (Some(mine), Some(theirs)) = (&self.root, &other.root) else {
            return self.is_empty() == other.is_empty();
        };
        let height = self.height.max(other.height);
        let raised =
            |node: &Arc<Node>, from: u32| (from..height).fold(Arc::clone(node), |node, _| above(node));
        let (mine, theirs) = (raised(mine, self.height), raised(theirs, other.height));
        Arc::ptr_eq(&mine, &theirs) || mine == theirs
    }
}

impl Eq for Tree {}

/// Whether a tree of this height has a place for the slot.
fn has_room(height: u32, slot: u32) -> bool {
    let bits = BITS * (height + 1);
    bits >= u32::BITS || slot >> bits == 0
}

/// Which child of a node at this height a slot is in.
fn branch(height: u32, slot: u32) -> usize {
    (slot >> (BITS * height)) as usize % BRANCHES
}

#[cold]
fn new_node(height: u32) -> Arc<Node> {
    Arc::new(match height {
        0 => Node::Leaf([0; BRANCHES]),
        _ => Node::Inner([const { None }; BRANCHES]),
    })
}

/// A node above this one.
fn above(node: Arc<Node>) -> Arc<Node> {
    let mut children = [const { None }; BRANCHES];
    children[0] = Some(node);
    Arc::new(Node::Inner(children))
}

fn is_same(one: Option<&Arc<Node>>, other: Option<&Arc<Node>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Both are at the same height.
fn joined(first: &Arc<Node>, second: &Arc<Node>) -> Joined {
    if Arc::ptr_eq(first, second) {
        return Joined::First;
    }
    match (&**first, &**second) {
        (Node::Leaf(mine), Node::Leaf(theirs)) => {
            let both: [u64; BRANCHES] = std::array::from_fn(|at| mine[at].max(theirs[at]));
            if both == *mine {
                Joined::First
            } else if both == *theirs {
                Joined::Second
            } else {
                Joined::New(Arc::new(Node::Leaf(both)))
            }
        }
        (Node::Inner(mine), Node::Inner(theirs)) => {
            let (mut is_first, mut is_second) = (true, true);
            let both: [Option<Arc<Node>>; BRANCHES] = std::array::from_fn(|at| {
                let (mine, theirs) = (&mine[at], &theirs[at]);
                let (Some(mine), Some(theirs)) = (mine, theirs) else {
                    is_first &= theirs.is_none();
                    is_second &= mine.is_none();
                    return mine.as_ref().or(theirs.as_ref()).cloned();
                };
                if Arc::ptr_eq(mine, theirs) {
                    return Some(Arc::clone(mine));
                }
                match joined(mine, theirs) {
                    Joined::First => {
                        is_second = false;
                        Some(Arc::clone(mine))
                    }
                    Joined::Second => {
                        is_first = false;
                        Some(Arc::clone(theirs))
                    }
                    Joined::New(node) => {
                        (is_first, is_second) = (false, false);
                        Some(node)
                    }
                }
            });
            match (is_first, is_second) {
                (true, _) => Joined::First,
                (_, true) => Joined::Second,
                _ => Joined::New(Arc::new(Node::Inner(both))),
            }
        }
        // Nodes at the same height are of the same kind.
        _ => Joined::First,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many nodes there are below this one that are not known yet.
    fn nodes<'t>(node: &'t Arc<Node>, known: &mut Vec<&'t Arc<Node>>) {
        if known.iter().any(|other| Arc::ptr_eq(other, node)) {
            return;
        }
        known.push(node);
        if let Node::Inner(children) = &**node {
            children.iter().flatten().for_each(|child| nodes(child, known));
        }
    }

    #[test]
    fn what_is_in_common_is_there_once() {
        let mut trees = vec![Tree::default()];
        for slot in 0..2000 {
            let mut next = Tree::default();
            next.join(&trees[slot as usize]);
            next.set(slot, 7);
            trees.push(next);
        }
        let mut known = Vec::new();
        trees.iter().filter_map(|tree| tree.root.as_ref()).for_each(|root| nodes(root, &mut known));
        // The way to the slot that is new in it, each.
        assert!(known.len() <= 3 * trees.len() + 10, "{}", known.len());
        let (last, first) = (trees.pop(), trees.swap_remove(1000));
        let mut all = last.unwrap();
        assert!(!all.join(&first), "it has everything already");
    }

    #[test]
    fn trees_of_any_height_are_compared() {
        let (mut one, mut other) = (Tree::default(), Tree::default());
        one.set(3, 1);
        other.set(3, 1);
        other.raise();
        assert_eq!(one, other);
        assert_eq!(other, one);
        other.set(100, 2);
        assert!(one != other && !other.join(&one) && one.join(&other) && one == other);
    }
}
