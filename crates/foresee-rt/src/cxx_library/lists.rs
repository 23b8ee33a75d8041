//! The links of `std::list`: a ring of nodes, of which one is the list itself.

use super::accesses::Caller;
use crate::entry_points::weak_entries;

/// The beginning of each node.
#[repr(C)]
struct Links {
    next: *mut Links,
    previous: *mut Links,
}

/// A node of a ring, and who accesses it.
///
/// SAFETY of all uses: the program calls a function of the library with nodes of a list, as its headers do. So each is a node whose links
/// lead to nodes of the same ring, and the program may change them.
#[derive(Clone, Copy)]
struct Node(*mut Links, Caller);

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.0 == other.0
    }
}

impl Node {
    fn next(self) -> Node {
        // SAFETY: see the type.
        Node(unsafe { self.1.read(&raw const (*self.0).next) }, self.1)
    }

    fn previous(self) -> Node {
        // SAFETY: see the type.
        Node(unsafe { self.1.read(&raw const (*self.0).previous) }, self.1)
    }

    fn set_next(self, next: Node) {
        // SAFETY: see the type.
        unsafe { self.1.write(&raw mut (*self.0).next, next.0) }
    }

    fn set_previous(self, previous: Node) {
        // SAFETY: see the type.
        unsafe { self.1.write(&raw mut (*self.0).previous, previous.0) }
    }
}

/// Makes two nodes neighbours.
fn join(first: Node, second: Node) {
    first.set_next(second);
    second.set_previous(first);
}

/// Puts a new node before another.
extern "C-unwind" fn insert_before(node: *mut Links, other: *mut Links, pc: u64) {
    let caller = Caller::at(pc);
    let (node, other) = (Node(node, caller), Node(other, caller));
    join(other.previous(), node);
    join(node, other);
}

/// Takes a node out of its list. Its own links stay as they are.
extern "C-unwind" fn take_out(node: *mut Links, pc: u64) {
    let node = Node(node, Caller::at(pc));
    join(node.previous(), node.next());
}

/// Moves the nodes from `first` to the one before `end` before a node, which may be of another list.
extern "C-unwind" fn move_before(node: *mut Links, first: *mut Links, end: *mut Links, pc: u64) {
    let caller = Caller::at(pc);
    let (node, first, end) = (Node(node, caller), Node(first, caller), Node(end, caller));
    if node == end {
        return;
    }
    let (before, last) = (first.previous(), end.previous());
    join(before, end);
    join(node.previous(), first);
    join(last, node);
}

/// Turns the order around.
extern "C-unwind" fn reverse(list: *mut Links, pc: u64) {
    let list = Node(list, Caller::at(pc));
    let mut node = list;
    loop {
        let (next, previous) = (node.next(), node.previous());
        node.set_next(previous);
        node.set_previous(next);
        node = next;
        if node == list {
            break;
        }
    }
}

weak_entries! {
    "_ZNSt8__detail15_List_node_base7_M_hookEPS0_" => insert_before, "rdx";
    "_ZNSt8__detail15_List_node_base9_M_unhookEv" => take_out, "rsi";
    "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_" => move_before, "rcx";
    "_ZNSt8__detail15_List_node_base10_M_reverseEv" => reverse, "rsi";
}
