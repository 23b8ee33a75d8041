//! Red-black trees: `std::map`, `set`, `multimap` and `multiset`.
//!
//! A tree has a *header*, a node outside of it: its parent is the root, its children are the leftmost and the rightmost node, and
//! the root's parent is the header. Both directions are one code: a *side* is 0 for left and 1 for right. Each access is recorded
//! where it is done.

use super::accesses::Caller;
use crate::entry_points::weak_entries;

/// The beginning of each node.
#[repr(C)]
struct Base {
    colour: u32,
    parent: *mut Base,
    children: [*mut Base; 2],
}

const RED: u32 = 0;
const BLACK: u32 = 1;
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// A node of a tree, or none, and who accesses it.
///
/// SAFETY of all uses: the program calls a function of the library with nodes of a tree, as its headers do. So links lead to nodes of the
/// same tree or are null, which is asked before, and the program may change them.
#[derive(Clone, Copy)]
struct Node(*mut Base, Caller);

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.0 == other.0
    }
}

impl Node {
    fn exists(self) -> bool {
        !self.0.is_null()
    }

    fn none(self) -> Node {
        Node(std::ptr::null_mut(), self.1)
    }

    fn parent(self) -> Node {
        // SAFETY: see the type.
        Node(unsafe { self.1.read(&raw const (*self.0).parent) }, self.1)
    }

    fn child(self, side: usize) -> Node {
        // SAFETY: see the type; a side is 0 or 1.
        Node(unsafe { self.1.read(&raw const (*self.0).children[side]) }, self.1)
    }

    fn colour(self) -> u32 {
        // SAFETY: see the type.
        unsafe { self.1.read(&raw const (*self.0).colour) }
    }

    fn is_black(self) -> bool {
        !self.exists() || self.colour() == BLACK
    }

    fn set_parent(self, parent: Node) {
        if self.exists() {
            // SAFETY: see the type.
            unsafe { self.1.write(&raw mut (*self.0).parent, parent.0) }
        }
    }

    fn set_child(self, side: usize, child: Node) {
        // SAFETY: see the type; a side is 0 or 1.
        unsafe { self.1.write(&raw mut (*self.0).children[side], child.0) }
    }

    fn set_colour(self, colour: u32) {
        // SAFETY: see the type.
        unsafe { self.1.write(&raw mut (*self.0).colour, colour) }
    }

    /// The last node of its subtree on a side.
    fn outermost(self, side: usize) -> Node {
        let mut node = self;
        loop {
            let child = node.child(side);
            if !child.exists() {
                return node;
            }
            node = child;
        }
    }

    /// On which side of its parent it is.
    fn side_of(self, parent: Node) -> usize {
        if parent.child(LEFT) == self { LEFT } else { RIGHT }
    }
}

/// Whoever has `old` as a child gets `new` instead.
fn replace(old: Node, new: Node, header: Node) {
    let parent = old.parent();
    if header.parent() == old {
        header.set_parent(new);
    } else {
        parent.set_child(old.side_of(parent), new);
    }
    new.set_parent(parent);
}

/// Moves a node down to a side; its child on the other side comes up.
fn rotate(node: Node, side: usize, header: Node) {
    let up = node.child(1 - side);
    let between = up.child(side);
    node.set_child(1 - side, between);
    between.set_parent(node);
    replace(node, up, header);
    up.set_child(side, node);
    node.set_parent(up);
}

extern "C-unwind" fn insert(left: bool, node: *mut Base, parent: *mut Base, header: *mut Base, pc: u64) {
    let caller = Caller::at(pc);
    let (node, parent, header) = (Node(node, caller), Node(parent, caller), Node(header, caller));
    let side = if left { LEFT } else { RIGHT };
    node.set_parent(parent);
    node.set_child(LEFT, node.none());
    node.set_child(RIGHT, node.none());
    node.set_colour(RED);
    if parent == header {
        header.set_parent(node);
        header.set_child(LEFT, node);
        header.set_child(RIGHT, node);
    } else {
        parent.set_child(side, node);
        if header.child(side) == parent {
            header.set_child(side, node);
        }
    }
    balance_red(node, header);
}

/// A node that became red may have a red parent.
fn balance_red(mut node: Node, header: Node) {
    while node != header.parent() && node.parent().colour() == RED {
        let (parent, grandparent) = (node.parent(), node.parent().parent());
        let side = parent.side_of(grandparent);
        let uncle = grandparent.child(1 - side);
        grandparent.set_colour(RED);
        if !uncle.is_black() {
            parent.set_colour(BLACK);
            uncle.set_colour(BLACK);
            node = grandparent;
            continue;
        }
        if node.side_of(parent) == side {
            parent.set_colour(BLACK);
        } else {
            node.set_colour(BLACK);
            rotate(parent, side, header);
        }
        rotate(grandparent, 1 - side, header);
        break;
    }
    header.parent().set_colour(BLACK);
}

/// Takes a node out of the tree, and returns it.
extern "C-unwind" fn erase(node: *mut Base, header: *mut Base, pc: u64) -> *mut Base {
    let caller = Caller::at(pc);
    let (node, header) = (Node(node, caller), Node(header, caller));
    let children = [node.child(LEFT), node.child(RIGHT)];
    // The node's place, or that of the next one, which takes the node's: what comes there, below whom, and which colour is missing.
    let (child, parent, missing);
    if children[LEFT].exists() && children[RIGHT].exists() {
        let next = children[RIGHT].outermost(LEFT);
        child = next.child(RIGHT);
        missing = next.colour();
        if next == children[RIGHT] {
            parent = next;
        } else {
            parent = next.parent();
            parent.set_child(LEFT, child);
            child.set_parent(parent);
            next.set_child(RIGHT, children[RIGHT]);
            children[RIGHT].set_parent(next);
        }
        next.set_child(LEFT, children[LEFT]);
        children[LEFT].set_parent(next);
        next.set_colour(node.colour());
        replace(node, next, header);
    } else {
        child = if children[LEFT].exists() { children[LEFT] } else { children[RIGHT] };
        parent = node.parent();
        missing = node.colour();
        replace(node, child, header);
        for side in [LEFT, RIGHT] {
            if header.child(side) == node {
                header.set_child(side, if child.exists() { child.outermost(side) } else { parent });
            }
        }
    }
    if missing == BLACK {
        balance_black(child, parent, header);
    }
    node.0
}

/// A black node is missing on the way to `node`, which may be none, below `parent`.
fn balance_black(mut node: Node, mut parent: Node, header: Node) {
    while node != header.parent() && node.is_black() {
        let side = node.side_of(parent);
        let mut sibling = parent.child(1 - side);
        if sibling.colour() == RED {
            sibling.set_colour(BLACK);
            parent.set_colour(RED);
            rotate(parent, side, header);
            sibling = parent.child(1 - side);
        }
        let (near, far) = (sibling.child(side), sibling.child(1 - side));
        if near.is_black() && far.is_black() {
            sibling.set_colour(RED);
            node = parent;
            parent = node.parent();
            continue;
        }
        if far.is_black() {
            near.set_colour(parent.colour());
            rotate(sibling, 1 - side, header);
        } else {
            sibling.set_colour(parent.colour());
            far.set_colour(BLACK);
        }
        parent.set_colour(BLACK);
        rotate(parent, side, header);
        return;
    }
    if node.exists() {
        node.set_colour(BLACK);
    }
}

/// The neighbour of a node on a side; the header, if there is none.
fn neighbour(node: Node, side: usize) -> Node {
    let child = node.child(side);
    if child.exists() {
        return child.outermost(1 - side);
    }
    let (mut node, mut parent) = (node, node.parent());
    while node == parent.child(side) {
        node = parent;
        parent = node.parent();
    }
    // The way up has led to the header, and back to the root.
    if node.child(side) == parent { node } else { parent }
}

extern "C-unwind" fn next(node: *mut Base, pc: u64) -> *mut Base {
    neighbour(Node(node, Caller::at(pc)), RIGHT).0
}

extern "C-unwind" fn previous(node: *mut Base, pc: u64) -> *mut Base {
    let node = Node(node, Caller::at(pc));
    // The end of the tree is its header, which is red, as no root is.
    let is_header = node.colour() == RED && node.parent().parent() == node;
    if is_header { node.child(RIGHT).0 } else { neighbour(node, LEFT).0 }
}

weak_entries! {
    "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_" => insert, "r8";
    "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_" => erase, "rdx";
    "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base" => next, "rsi";
    "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base" => next, "rsi";
    "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base" => previous, "rsi";
    "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base" => previous, "rsi";
}
