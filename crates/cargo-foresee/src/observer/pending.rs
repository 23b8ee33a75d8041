//! Connections that have not said yet who they are.
//!
//! They are apart from those that have: however many there are, they do not take anybody's place. A program says its hello at once, so
//! whoever has been silent for longest goes when there are too many, and nobody has to wait for that.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::address::Connection;

/// So many at once: with all others they have fewer open files than a process usually may have.
pub(super) const PENDING: usize = 128;

/// The oldest first.
#[derive(Default)]
pub(super) struct Pending(Mutex<Known>);

#[derive(Default)]
struct Known {
    connections: VecDeque<(u64, Connection)>,
    next: u64,
}

impl Pending {
    /// One more; the oldest is closed if there are too many. What it is known by.
    pub(super) fn add(&self, connection: Connection) -> u64 {
        let mut known = self.known();
        if known.connections.len() >= PENDING
            && let Some((_, oldest)) = known.connections.pop_front()
        {
            oldest.close();
        }
        let id = known.next;
        known.next += 1;
        known.connections.push_back((id, connection));
        id
    }

    /// It has said who it is, or is gone.
    pub(super) fn remove(&self, id: u64) {
        self.known().connections.retain(|&(known, _)| known != id);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
