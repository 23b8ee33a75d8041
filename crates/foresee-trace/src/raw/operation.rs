//! One operation on a lock, while a thread is in it: see [`sections`](super::sections).

use rustc_hash::FxHashMap;

use super::roles::Role;
use crate::event::Mode;
use crate::ids::{LocId, StrId};

/// The locks that a thread holds: how, and how often.
pub(super) type Held = FxHashMap<u64, (Mode, u32)>;

/// Where an operation on a lock is, and the type of the lock.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) loc: LocId,
    pub(super) of: Option<StrId>,
}

/// An operation on a lock that a thread is in.
pub(super) struct Operation {
    pub(super) role: Role,
    /// How many calls there were when it began.
    pub(super) depth: usize,
    /// Where it is inlined; `None` for a function of its own.
    pub(super) instance: Option<u64>,
    pub(super) krate: StrId,
    /// Whether that is a library of locks, and nothing else.
    pub(super) is_library: bool,
    pub(super) at: At,
    pub(super) first_pc: u64,
    pub(super) lock: Option<u64>,
    /// Whether the word of the lock was changed.
    pub(super) changed: bool,
    /// It is no operation after all: what it does are events.
    pub(super) transparent: bool,
    /// The lock that was given back while waiting.
    pub(super) given_back: Option<u64>,
}

/// An atomic operation that may be part of one on a lock.
#[derive(Clone, Copy)]
pub(super) struct Atomic {
    pub(super) addr: u64,
    /// The crate that it is in.
    pub(super) krate: StrId,
    pub(super) is_update: bool,
}

impl Operation {
    /// The word of the lock was changed, or written as it was.
    pub(super) fn note(&mut self, old: u64, new: u64) {
        match self.role {
            Role::TimedLock(_, bits) if old & bits == new & bits => {}
            Role::TimedLock(_, bits) => self.changed = new & bits > old & bits,
            _ => self.changed |= old != new,
        }
    }

    /// Whether an atomic at a place inlined like this operation begins the next one.
    ///
    /// Two calls of one line of the source are inlined alike (the locks that are given back at the end of a block), and
    /// so are two rounds of a loop. Lock libraries touch no word but the lock's in their own code. And who still holds a lock
    /// after having given it back, and changes its word again, gives it back again.
    pub(super) fn is_over(&self, pc: u64, atomic: Atomic, held: &Held) -> bool {
        let Atomic { addr, krate, is_update } = atomic;
        let Some(lock) = self.lock else { return false };
        let other = lock != addr;
        let again = is_update && self.role == Role::Unlock && self.changed && held.contains_key(&lock);
        let is_about_locks =
            !matches!(self.role, Role::Wait | Role::NotifyOne | Role::NotifyAll | Role::Foreign);
        (pc == self.first_pc && (other || self.changed))
            || ((again || other && is_about_locks) && self.is_library && krate == self.krate)
    }
}
