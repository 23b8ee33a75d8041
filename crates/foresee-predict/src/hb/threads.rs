//! Threads and the slots they live in.
//!
//! Clocks have one component per slot. A thread that was joined leaves its slot to a later one whose creator knows all that
//! happened in the slot: then the old thread and the new one are ordered like one thread, and nothing is lost by treating
//! them as one. So a program that creates and joins 100,000 threads needs as many slots as live at the same time. Threads
//! that nobody joins keep theirs; what their clocks have in common is there once ([`crate::clock`]), so n of them that all synchronise need a
//! few kilobytes each.

use foresee_trace::{LockId, Mode, ThreadId};

use super::knowledge::{Knowledge, Published};
use super::snapshots::SnapshotId;

const NO_SLOT: u32 = u32::MAX;

/// A lock that a thread holds.
pub(super) struct HeldLock {
    pub(super) lock: LockId,
    pub(super) mode: Mode,
    pub(super) depth: u32,
}

/// What relaxed operations and fences exchange.
#[derive(Default)]
pub(super) struct Fences {
    /// What the thread knew at its last release fence.
    pub(super) released: Published,
    /// What its relaxed loads have seen published: learnt at the next acquire fence.
    pub(super) pending: Published,
}

/// The state of the thread that lives in a slot.
pub(super) struct Thread {
    pub(super) slot: u32,
    pub(super) known: Knowledge,
    /// A copy of its schedulable clock that its writes since the last change refer to.
    pub(super) snapshot: Option<SnapshotId>,
    /// Its clock has changed since the snapshot.
    pub(super) outdated: bool,
    pub(super) held: Vec<HeldLock>,
    pub(super) waits_for: Option<LockId>,
    pub(super) fences: Option<Box<Fences>>,
}

impl Thread {
    fn new(slot: u32) -> Thread {
        Thread {
            slot,
            known: Knowledge::default(),
            snapshot: None,
            outdated: true,
            held: Vec::new(),
            waits_for: None,
            fences: None,
        }
    }

    /// Whether the event of this slot at this time happens before what the thread does now.
    #[inline]
    pub(super) fn is_after(&self, slot: u32, time: u64) -> bool {
        slot == self.slot || self.known.happens_before().covers(slot, time)
    }

    /// The same in the suspected order.
    pub(super) fn is_suspected_after(&self, slot: u32, time: u64) -> bool {
        slot == self.slot || self.known.suspected().covers(slot, time)
    }

    /// The same in the schedulable order.
    #[inline]
    pub(super) fn is_schedulably_after(&self, slot: u32, time: u64) -> bool {
        slot == self.slot || self.known.schedulable().covers(slot, time)
    }

    /// Synchronises with what was published.
    #[inline]
    pub(super) fn learn(&mut self, published: &Published) {
        if !published.is_known_to(&self.known, self.slot) {
            self.outdated |= self.known.join(published.known());
        }
    }

    /// Synchronises with what was published, perhaps.
    pub(super) fn suspect(&mut self, published: &Published) {
        if !published.is_known_to(&self.known, self.slot) {
            self.outdated |= self.known.suspect(published.known());
        }
    }

    /// The release fence that its relaxed stores publish, if there was one.
    pub(super) fn released_by_fence(&self) -> Option<&Published> {
        self.fences.as_ref().map(|fences| &fences.released)
    }
}

/// All threads.
#[derive(Default)]
pub(super) struct Threads {
    slots: Vec<Thread>,
    slot_of: Vec<u32>,
    /// Slots whose threads were joined, and when.
    vacant: Vec<(u32, u64)>,
}

impl Threads {
    /// The slot of a thread, a new one for a thread not heard of.
    #[inline]
    pub(super) fn slot(&mut self, thread: ThreadId) -> u32 {
        match self.slot_of.get(thread.index()) {
            Some(&slot) if slot != NO_SLOT => slot,
            _ => self.first_slot(thread),
        }
    }

    #[cold]
    fn first_slot(&mut self, thread: ThreadId) -> u32 {
        let slot = self.new_slot();
        self.settle(thread, slot);
        slot
    }

    /// The thread in a slot that [`Threads::slot`] or [`Threads::forked`] gave.
    #[inline]
    pub(super) fn at(&mut self, slot: u32) -> &mut Thread {
        &mut self.slots[slot as usize]
    }

    /// The slot of a thread just created by the one in `parent`.
    pub(super) fn forked(&mut self, child: ThreadId, parent: u32) -> u32 {
        if let Some(&slot) = self.slot_of.get(child.index())
            && slot != NO_SLOT
        {
            return slot;
        }
        let known = self.slots[parent as usize].known.happens_before();
        let slot = match self.vacant.last() {
            Some(&(slot, left)) if known.covers(slot, left) => {
                self.vacant.pop();
                let thread = &mut self.slots[slot as usize];
                *thread = Thread { snapshot: thread.snapshot.take(), ..Thread::new(slot) };
                slot
            }
            _ => self.new_slot(),
        };
        self.settle(child, slot);
        slot
    }

    /// The thread has ended and was joined at this time.
    pub(super) fn joined(&mut self, child: ThreadId, time: u64) {
        if let Some(slot) = self.slot_of.get_mut(child.index())
            && *slot != NO_SLOT
        {
            let thread = &mut self.slots[*slot as usize];
            thread.known = Knowledge::default();
            thread.fences = None;
            self.vacant.push((*slot, time));
            *slot = NO_SLOT;
        }
    }

    fn new_slot(&mut self) -> u32 {
        let slot = self.slots.len() as u32;
        self.slots.push(Thread::new(slot));
        slot
    }

    fn settle(&mut self, thread: ThreadId, slot: u32) {
        if self.slot_of.len() <= thread.index() {
            self.slot_of.resize(thread.index() + 1, NO_SLOT);
        }
        self.slot_of[thread.index()] = slot;
    }

    /// How many slots there are.
    #[cfg(test)]
    pub(super) fn slot_count(&self) -> usize {
        self.slots.len()
    }
}
