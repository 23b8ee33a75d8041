//! A multiset in a binary search tree, with locks that are taken hand over hand, and a thread that removes empty leaves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use foresee::attr::{mutator, observer};
use foresee::refine::models::Multiset;
use foresee::refine::structures::SearchTreeReplica;
use foresee::refine::{Choice, Harness};
use foresee::{commit, commit_block, log_write};

use super::{Subject, lock};

#[derive(Default)]
struct Node {
    place: usize,
    key: i64,
    count: i64,
    children: [Option<usize>; 2],
}

pub(crate) struct MultisetTree<const BUG: bool> {
    root: Mutex<Option<usize>>,
    nodes: Vec<Mutex<Node>>,
    /// How many nodes are in use; they are not used again.
    used: AtomicUsize,
}

/// Where a key is, or where it would be; what must not change is locked.
enum Place<'a> {
    Root(MutexGuard<'a, Option<usize>>),
    Found(MutexGuard<'a, Node>),
    Below(MutexGuard<'a, Node>, usize),
}

const SIDES: [&str; 2] = ["left", "right"];

impl<const BUG: bool> MultisetTree<BUG> {
    fn new(nodes: usize) -> Self {
        let node = |place| Mutex::new(Node { place, ..Node::default() });
        MultisetTree {
            root: Mutex::default(),
            nodes: (0..nodes).map(node).collect(),
            used: AtomicUsize::new(0),
        }
    }

    fn find(&self, x: i64) -> Place<'_> {
        let root = lock(&self.root);
        let Some(first) = *root else { return Place::Root(root) };
        let mut node = lock(&self.nodes[first]);
        drop(root);
        loop {
            if node.key == x {
                return Place::Found(node);
            }
            let side = usize::from(x > node.key);
            match node.children[side] {
                None => return Place::Below(node, side),
                Some(next) => node = lock(&self.nodes[next]),
            }
        }
    }

    #[mutator]
    fn insert(&self, x: i64) -> &'static str {
        let mut place = self.find(x);
        if let Place::Found(node) = &mut place {
            commit_block! {
                node.count += 1;
                log_write!(["count[n{}]", node.place], node.count);
                commit!();
            }
            return "success";
        }
        let new = self.used.fetch_add(1, Ordering::Relaxed);
        let Some(own) = self.nodes.get(new) else {
            commit!();
            return "failure";
        };
        let mut own = lock(own);
        (own.key, own.count) = (x, 1);
        log_write!(["key[n{new}]"], x);
        drop(own);
        match place {
            Place::Root(mut root) => {
                commit_block! {
                    *root = Some(new);
                    log_write!("root", format!("n{new}"));
                    commit!();
                }
            }
            Place::Below(parent, side) => {
                let mut parent = if BUG {
                    let at = parent.place;
                    drop(parent);
                    std::thread::yield_now();
                    lock(&self.nodes[at])
                } else {
                    parent
                };
                commit_block! {
                    parent.children[side] = Some(new);
                    log_write!(["{}[n{}]", SIDES[side], parent.place], format!("n{new}"));
                    commit!();
                }
            }
            Place::Found(_) => {}
        }
        "success"
    }

    #[mutator]
    fn delete(&self, x: i64) -> bool {
        let mut place = self.find(x);
        commit_block! {
            let found = match &mut place {
                Place::Found(node) if node.count > 0 => {
                    node.count -= 1;
                    log_write!(["count[n{}]", node.place], node.count);
                    true
                }
                _ => false,
            };
            commit!();
            found
        }
    }

    #[observer]
    fn lookup(&self, x: i64) -> bool {
        matches!(self.find(x), Place::Found(node) if node.count > 0)
    }

    /// Removes a leaf that holds nothing, somewhere on a way down.
    fn compress(&self) {
        let root = lock(&self.root);
        let Some(first) = *root else { return };
        let mut parent = lock(&self.nodes[first]);
        drop(root);
        loop {
            for (side, name) in SIDES.into_iter().enumerate() {
                let Some(child) = parent.children[side] else { continue };
                let child = lock(&self.nodes[child]);
                if child.count == 0 && child.children == [None, None] {
                    commit_block! {
                        parent.children[side] = None;
                        log_write!(["{name}[n{}]", parent.place], None::<i64>);
                    }
                    return;
                }
            }
            let turn = parent.place % 2;
            let Some(next) = parent.children[turn].or(parent.children[1 - turn]) else { return };
            parent = lock(&self.nodes[next]);
        }
    }
}

impl<const BUG: bool> Subject for MultisetTree<BUG> {
    type Spec = Multiset;
    type Replica = SearchTreeReplica;
    const SPEC: Multiset = Multiset;
    const INTERNAL: Option<fn(&Self)> = Some(Self::compress);

    fn new(harness: &Harness) -> Self {
        MultisetTree::new(harness.threads * harness.operations)
    }

    fn operate(&self, choice: &mut Choice) {
        match choice.below(4) {
            0 => drop(self.insert(choice.key())),
            1 | 2 => drop(self.delete(choice.key())),
            _ => drop(self.lookup(choice.key())),
        }
    }
}
