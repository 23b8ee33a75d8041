//! What earlier events left behind, for the transactions that come after them.
//!
//! A [`Set`] is a set of *open* blocks, one bit each. What matters about the past of an event is only on which open
//! blocks it depends: a closed block can get no new edge, so no cycle can be closed through its bit. A bit is therefore
//! taken out of every set the moment its block closes.

use foresee_trace::{LocId, ThreadId};

/// Open blocks, by the number of their slot.
pub(super) type Set = u128;

/// How many blocks can be open at the same time.
pub(super) const SLOTS: usize = Set::BITS as usize;

pub(super) fn bits(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let slot = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(slot)
    })
}

/// An event, as far as findings need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventAt {
    pub(super) index: u64,
    /// The event that began its transaction.
    pub(super) transaction: u64,
    pub(super) thread: ThreadId,
    pub(super) loc: LocId,
}

impl EventAt {
    /// Whether a cycle that arrives here can leave by `later`, of the same thread.
    pub(super) fn goes_on_to(self, later: EventAt) -> bool {
        self.index <= later.index || self.transaction == later.transaction
    }
}

/// A conflict between events of two threads: an edge of the order of transactions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The earlier event, where it is known.
    pub(super) from: Option<EventAt>,
    pub(super) to: EventAt,
    /// What both touch.
    pub(super) target: u64,
}

/// The history of some bytes, or of a lock. Bytes: a write gives and takes exclusively, a read shared. A lock: a
/// release gives, an acquire takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    /// What the last exclusive event depends on; every earlier event's set is in it.
    exclusive: Set,
    /// What the shared events depend on.
    shared: Set,
    /// The same, but each without the block that did the event itself: what a block takes from here came from others.
    shared_by_others: Set,
    last_exclusive: Option<EventAt>,
    last_shared: Option<EventAt>,
}

/// What an event takes over from a history.
pub(super) struct Taken {
    /// On what it depends now.
    pub(super) set: Set,
    /// The part of it that did not come from its own thread alone.
    pub(super) of_others: Set,
}

impl History {
    /// All open blocks on which an earlier event depends.
    #[inline]
    pub(super) fn all(&self) -> Set {
        self.exclusive | self.shared
    }

    #[inline]
    pub(super) fn take(&self, thread: ThreadId, exclusively: bool) -> Taken {
        let own = self.last_exclusive.is_none_or(|last| last.thread == thread);
        let others = if own { 0 } else { self.exclusive };
        if exclusively {
            Taken { set: self.all(), of_others: others | self.shared_by_others }
        } else {
            Taken { set: self.exclusive, of_others: others }
        }
    }

    /// An event that depends on `set`; `block` is the bit of the block it is in.
    #[inline]
    pub(super) fn give(&mut self, set: Set, block: Set, exclusively: bool, here: EventAt) {
        if exclusively {
            self.exclusive = set;
            self.last_exclusive = Some(here);
        } else {
            self.shared |= set;
            self.shared_by_others |= set & !block;
            self.last_shared = Some(here);
        }
    }

    /// Block `gone` has closed: what depends on it depends on `instead`. That came from others even where `gone` itself
    /// did the event.
    #[inline]
    pub(super) fn replace(&mut self, gone: Set, instead: Set) {
        if self.exclusive & gone != 0 {
            self.exclusive = self.exclusive & !gone | instead;
        }
        if self.shared & gone != 0 {
            self.shared = self.shared & !gone | instead;
            self.shared_by_others = self.shared_by_others & !gone | instead;
        }
    }

    /// Candidates for the event through which a block's bit came here, the likeliest first.
    pub(super) fn sources(&self, block: Set) -> [Option<EventAt>; 2] {
        [
            self.last_exclusive.filter(|_| self.exclusive & block != 0),
            self.last_shared.filter(|_| self.shared & block != 0),
        ]
    }
}
