//! What the pass knows of each thread, and how a block's bit travelled from thread to thread.

use foresee_trace::ThreadId;

use super::history::{Edge, EventAt, Set};

/// For so many open blocks a thread remembers how it came to depend on them.
const MOST_KNOWN: usize = 16;

/// A thread.
#[derive(Default)]
pub(super) struct Thread {
    /// The open blocks that its next event depends on, its own included.
    pub(super) depends_on: Set,
    /// Its own open block, if that has a slot.
    pub(super) block: Set,
    /// How many blocks it is in.
    pub(super) depth: u32,
    /// The event that began its transaction.
    pub(super) transaction: u64,
    pub(super) last: Option<EventAt>,
    /// The conflict by which each open block in `depends_on`, but for its own, got there; of some only, if there are
    /// [many](MOST_KNOWN).
    came_by: Vec<(usize, Edge)>,
}

impl Thread {
    /// Takes note of an event. The first one is where a forked thread met what its fork brought.
    #[inline]
    pub(super) fn begins_with(&mut self, here: EventAt) {
        if self.last.is_none() {
            self.came_by.iter_mut().for_each(|(_, edge)| edge.to = here);
        }
    }

    /// Notes how an open block got here.
    pub(super) fn came(&mut self, slot: usize, edge: Edge) {
        if self.came_by.len() < MOST_KNOWN {
            self.came_by.push((slot, edge));
        }
    }

    /// Drops a closed block; says how it had got here.
    pub(super) fn forget(&mut self, slot: usize) -> Option<Edge> {
        self.depends_on &= !(1 << slot);
        let at = self.came_by.iter().position(|&(s, _)| s == slot)?;
        Some(self.came_by.swap_remove(at).1)
    }
}

/// The cycle that `closing` closes through the block in `slot` of thread `owner`: its conflicts in order, the first one
/// leaving the block. Empty where a part of it is not known any more.
pub(super) fn cycle(
    threads: &[Thread],
    owner: ThreadId,
    slot: usize,
    closing: Edge,
) -> Vec<(EventAt, EventAt, u64)> {
    let mut backwards = Vec::new();
    let mut edge = closing;
    while let Some(from) = edge.from {
        backwards.push((from, edge.to, edge.target));
        if from.thread == owner {
            backwards.reverse();
            return backwards;
        }
        let came_by = threads[from.thread.index()].came_by.iter().find(|&&(s, _)| s == slot);
        match came_by {
            Some(&(_, next)) if next.to.goes_on_to(from) && backwards.len() <= threads.len() => edge = next,
            _ => break,
        }
    }
    Vec::new()
}
