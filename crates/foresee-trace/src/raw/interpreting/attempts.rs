//! Attempts to take a lock that failed.
//!
//! That an attempt failed says that somebody held the lock at that moment, and what the thread does next may depend on it. It orders
//! nothing: who fails to get a lock sees nothing of what its holder did. But in a schedule that never happened the attempt has to
//! fail as well. So it becomes a relaxed load of an atomic that stands for the *state* of the lock: the holder stores the state, the
//! thread that failed sees that, and the holder stores it again before it gives the lock back. Whatever reorders the run keeps who reads
//! what from whom, and therefore keeps the attempt within that section, and binds nothing else. All who give back a lock on which an attempt
//! ever failed store its state, so that none of their sections can be between.
//!
//! Locks on which no attempt failed have no state, and cost nothing.
//!
//! **Who held it.** The runtime records that a lock is taken after it was, and that it is given back before it is. So there are moments
//! in which an attempt fails and nobody is seen to hold the lock. A thread that has asked for it and not got it yet, as far as was seen, may
//! have it already: it does nothing until that is seen, so it may as well store the state before, and see its own store when it is seen to
//! have the lock, so that no other section is between. And a thread that tries again and again, and does nothing else, may as well have
//! failed all these times at once. An attempt that neither explains is counted
//! ([`Gap::UnexplainedAttempts`](crate::Gap::UnexplainedAttempts)).

use foresee_format::SYNC_SPACE;
use rustc_hash::{FxHashMap, FxHashSet};

use super::naming::Naming;
use crate::event::{Event, Mem, Op, Order};
use crate::ids::{LocId, LockId, ThreadId};

/// The locks that have a state, and the last failure of each thread.
#[derive(Default)]
pub(super) struct Attempts {
    with_state: FxHashSet<LockId>,
    /// Who has stored the state of a lock before it was seen to have it.
    in_advance: FxHashSet<(ThreadId, LockId)>,
    /// Whether it was explained.
    last: FxHashMap<u64, bool>,
    unexplained: u64,
}

/// A thread that has a lock, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// It was seen to have it.
    Seen(u64),
    /// It has asked for it, and may have it.
    Likely(u64),
}

/// An attempt that failed.
#[derive(Clone, Copy)]
pub(super) struct Failure {
    /// The number of the thread that did not get the lock.
    pub(super) thread: u64,
    pub(super) lock: LockId,
    pub(super) loc: LocId,
    /// Who was in the way.
    pub(super) held_by: Option<Holder>,
    /// Whether the thread has done nothing since it failed to get the same lock.
    pub(super) is_again: bool,
}

impl Attempts {
    /// Adds an event, and what it does to the state of a lock.
    #[inline]
    pub(super) fn deliver(&mut self, event: Event<'static>, events: &mut Vec<Event<'static>>) {
        match event.op {
            Op::Release { lock, .. } if self.with_state.contains(&lock) => {
                events.push(Event { op: store(lock), ..event });
                events.push(event);
            }
            Op::Acquire { lock, .. } if self.in_advance.remove(&(event.thread, lock)) => {
                events.push(event);
                events.push(Event { op: load(lock), ..event });
            }
            _ => events.push(event),
        }
    }

    /// A thread did not get a lock; whether that is an event.
    pub(super) fn fail(
        &mut self,
        failure: Failure,
        naming: &mut Naming,
        events: &mut Vec<Event<'static>>,
    ) -> bool {
        let Failure { thread, lock, loc, held_by, is_again } = failure;
        // Who holds it itself needs no other to fail.
        if held_by == Some(Holder::Seen(thread)) {
            return false;
        }
        let last = self.last.insert(thread, held_by.is_some()).filter(|_| is_again);
        match (last, held_by) {
            (Some(true), _) => {
                self.last.insert(thread, true);
                false
            }
            (last, None) => {
                self.unexplained += u64::from(last.is_none());
                false
            }
            (last, Some(held_by)) => {
                let (holder, is_held) = match held_by {
                    Holder::Seen(holder) => (holder, true),
                    Holder::Likely(holder) => (holder, false),
                };
                self.unexplained -= u64::from(last.is_some());
                if self.with_state.insert(lock) {
                    let name = format!("state of {}", naming.names.lock_name(lock));
                    let (name, mem) = (naming.names.intern(&name), state(lock));
                    naming.names.declare_symbol(name, Some(mem.addr), mem.size);
                }
                let (by, holder) = (naming.thread(thread), naming.thread(holder));
                events.push(Event { thread: holder, loc, op: store(lock) });
                events.push(Event { thread: by, loc, op: load(lock) });
                if !is_held {
                    self.in_advance.insert((holder, lock));
                }
                true
            }
        }
    }

    /// A thread has ended.
    pub(super) fn end(&mut self, thread: u64) {
        self.last.remove(&thread);
    }

    pub(super) fn unexplained(&self) -> u64 {
        self.unexplained
    }
}

/// From here on are the atomics that stand for the states of locks: no program has an object to synchronise by there.
const STATES: u64 = SYNC_SPACE + (SYNC_SPACE >> 2);

fn state(lock: LockId) -> Mem {
    Mem { addr: STATES + 8 * u64::from(lock.0), size: 8 }
}

/// Whether this is the atomic that stands for the state of a lock. It keeps attempts that failed within a section, and tells nobody anything.
pub fn is_lock_state(mem: Mem) -> bool {
    (STATES..STATES + (8 << u32::BITS)).contains(&mem.addr)
}

fn store(lock: LockId) -> Op<'static> {
    Op::Store { mem: state(lock), order: Order::Relaxed, value: None }
}

fn load(lock: LockId) -> Op<'static> {
    Op::Load { mem: state(lock), order: Order::Relaxed, value: None }
}
