//! What orders threads: locks, forks and joins, notifications, atomics and fences.

use foresee_trace::{LockId, Mem, Mode, Order, ThreadId};
use rustc_hash::FxHashMap;

use super::knowledge::Published;
use super::shadow::Shadow;
use super::threads::{HeldLock, Threads};

/// What threads know of each other, and where they get it from.
#[derive(Default)]
pub(super) struct Synchronisation {
    pub(super) threads: Threads,
    locks: Vec<Lock>,
    /// Which slots wait for a condition.
    waiting: FxHashMap<LockId, Vec<u32>>,
    /// What blind code has left that may have synchronised: the next one may have learnt it.
    unseen: Published,
}

/// What releases have left at a lock.
#[derive(Default)]
struct Lock {
    /// By the last exclusive holder: all that follow learn it.
    exclusive: Published,
    /// By those that shared the lock since: the next exclusive holder learns it.
    shared: Published,
}

impl Synchronisation {
    fn lock(&mut self, lock: LockId) -> &mut Lock {
        if self.locks.len() <= lock.index() {
            self.locks.resize_with(lock.index() + 1, Lock::default);
        }
        &mut self.locks[lock.index()]
    }

    #[inline]
    pub(super) fn acquire(&mut self, slot: u32, lock: LockId, mode: Mode) {
        let thread = self.threads.at(slot);
        if let Some(held) = thread.held.iter_mut().find(|held| held.lock == lock) {
            held.depth += 1;
            return;
        }
        thread.held.push(HeldLock { lock, mode, depth: 1 });
        if let Some(left) = self.locks.get(lock.index()) {
            thread.learn(&left.exclusive);
            if mode == Mode::Exclusive {
                thread.learn(&left.shared);
            }
        }
    }

    #[inline]
    pub(super) fn release(&mut self, slot: u32, time: u64, lock: LockId) {
        let held = &mut self.threads.at(slot).held;
        let Some(at) = held.iter().position(|held| held.lock == lock) else { return };
        held[at].depth -= 1;
        if held[at].depth == 0 {
            self.give_up(slot, time, at);
        }
    }

    /// Leaves the lock at this place of `held`, however often it was entered.
    fn give_up(&mut self, slot: u32, time: u64, at: usize) {
        let HeldLock { lock, mode, .. } = self.threads.at(slot).held.remove(at);
        self.lock(lock);
        let (known, left) = (&self.threads.at(slot).known, &mut self.locks[lock.index()]);
        match mode {
            Mode::Shared => left.shared.add(known, slot, time),
            Mode::Exclusive => {
                left.exclusive.add(known, slot, time);
                left.shared.clear();
            }
        }
    }

    /// Runs blind code that may synchronise: as if by a read-modify-write of something that all such code shares.
    pub(super) fn blind(&mut self, slot: u32, time: u64) {
        let thread = self.threads.at(slot);
        thread.suspect(&self.unseen);
        self.unseen.replace(&thread.known, slot, time);
    }

    pub(super) fn fork(&mut self, slot: u32, time: u64, child: ThreadId) {
        let child = self.threads.forked(child, slot);
        let mut handed = Published::default();
        handed.replace(&self.threads.at(slot).known, slot, time);
        self.threads.at(child).learn(&handed);
    }

    pub(super) fn join(&mut self, slot: u32, time: u64, child: ThreadId) {
        let ended = self.threads.slot(child);
        if ended == slot {
            return;
        }
        let mut handed = Published::default();
        handed.replace(&self.threads.at(ended).known, ended, time);
        self.threads.at(slot).learn(&handed);
        self.woken(ended);
        self.threads.joined(child, time);
    }

    pub(super) fn wait(&mut self, slot: u32, time: u64, cond: LockId) {
        let thread = self.threads.at(slot);
        thread.waits_for = Some(cond);
        let held = thread.held.iter().position(|held| held.lock == cond);
        if let Some(at) = held {
            self.give_up(slot, time, at);
        }
        self.waiting.entry(cond).or_default().push(slot);
    }

    /// The thread does something or has ended: whatever it waited for, it waits no more.
    #[cold]
    pub(super) fn woken(&mut self, slot: u32) {
        if let Some(cond) = self.threads.at(slot).waits_for.take()
            && let Some(waiting) = self.waiting.get_mut(&cond)
        {
            waiting.retain(|&other| other != slot);
        }
    }

    pub(super) fn notify(&mut self, slot: u32, time: u64, cond: LockId) {
        let Some(waiting) = self.waiting.get(&cond) else { return };
        if waiting.is_empty() {
            return;
        }
        let mut handed = Published::default();
        handed.replace(&self.threads.at(slot).known, slot, time);
        for &other in waiting {
            self.threads.at(other).learn(&handed);
        }
    }

    /// An atomic read: learns what was published now, or at the next acquire fence.
    pub(super) fn load(&mut self, shadow: &mut Shadow, slot: u32, mem: Mem, order: Order) {
        let thread = self.threads.at(slot);
        shadow.published(mem, |published| {
            if order.acquires() {
                thread.learn(published);
            } else if !published.is_known_to(&thread.known, slot) {
                thread.fences.get_or_insert_default().pending.add_published(published);
            }
        });
    }

    /// An atomic write: begins a release sequence in place of the one that was there.
    pub(super) fn store(&mut self, shadow: &mut Shadow, slot: u32, time: u64, mem: Mem, order: Order) {
        let thread = self.threads.at(slot);
        shadow.publish(mem, |published| {
            if order.releases() {
                published.replace(&thread.known, slot, time);
            } else {
                match thread.released_by_fence() {
                    Some(released) => published.copy_from(released),
                    None => published.clear(),
                }
            }
        });
    }

    /// The write of a read-modify-write: continues the release sequence that is there.
    pub(super) fn update(&mut self, shadow: &mut Shadow, slot: u32, time: u64, mem: Mem, order: Order) {
        let thread = self.threads.at(slot);
        shadow.publish(mem, |published| {
            if order.releases() {
                published.add(&thread.known, slot, time);
            } else if let Some(released) = thread.released_by_fence() {
                published.add_published(released);
            }
        });
    }

    pub(super) fn fence(&mut self, slot: u32, time: u64, order: Order) {
        let thread = self.threads.at(slot);
        let mut fences = thread.fences.take().unwrap_or_default();
        if order.acquires() {
            thread.learn(&fences.pending);
            fences.pending.clear();
        }
        if order.releases() {
            fences.released.replace(&thread.known, slot, time);
        }
        thread.fences = Some(fences);
    }
}
