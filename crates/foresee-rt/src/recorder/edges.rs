//! Edges between threads for what orders them but is neither lock, semaphore nor atomic: barriers, pipes, `once`.
//!
//! They are recorded as operations, without values, on an atomic of their own at an address where no program has memory
//! (`SYNC_SPACE`). Whoever hands over releases *before* the real operation, whoever receives acquires *after* it. Edges that the
//! program does not guarantee hide races; they never invent one. The atomic is one byte: objects side by side are as many atomics, however small.

use foresee_format::{SYNC_SPACE, Tag};

use super::atomics::{ORDER_ACQ_REL, ORDER_ACQUIRE, ORDER_RELEASE, detail};
use super::thread::stamped;

const SIZE_LOG2: u8 = 0;

/// What the thread did can be seen by whoever acquires from the object later.
pub(crate) fn release_edge(object: u64, pc: u64) {
    stamped(Tag::Rmw, detail(ORDER_RELEASE, SIZE_LOG2), [pc, object | SYNC_SPACE, 0, 0]);
}

/// The thread sees what was done before releases of the object.
pub(crate) fn acquire_edge(object: u64, pc: u64) {
    stamped(Tag::Load, detail(ORDER_ACQUIRE, SIZE_LOG2), [pc, object | SYNC_SPACE, 0]);
}

/// As [`acquire_edge`], by an operation that changes the object: a semaphore is lowered.
pub(crate) fn take_edge(object: u64, pc: u64) {
    stamped(Tag::Rmw, detail(ORDER_ACQUIRE, SIZE_LOG2), [pc, object | SYNC_SPACE, 0, 0]);
}

/// The thread both acquires and releases: it arrives at a barrier.
pub(crate) fn both_edges(object: u64, pc: u64) {
    stamped(Tag::Rmw, detail(ORDER_ACQ_REL, SIZE_LOG2), [pc, object | SYNC_SPACE, 0, 0]);
}
