//! One operation on a lock, while a thread is in it: what its atomics and its end say.

use foresee_format::Tag;

use super::event::{CalledFrom, LockAction};
use super::holding::{Context, HeldLocks};
use crate::event::Mode;
use crate::ids::StrId;
use crate::raw::interpreting::naming::LockFunction;
use crate::raw::lock_table::Role;
use crate::raw::merging::Record;

/// How many records are looked at to find out whether a lock was taken in time: one that is held for longer was not waited for
/// with a limit of time.
const FAR: usize = 1 << 20;

/// An operation on a lock that a thread is in.
pub(super) struct Operation {
    pub(super) function: LockFunction,
    /// How many calls there were when it began.
    pub(super) depth: usize,
    /// Where it is inlined; `None` for a function of its own.
    pub(super) instance: Option<u64>,
    at: CalledFrom,
    first_pc: u64,
    lock: Option<u64>,
    /// Whether the word of the lock was changed.
    is_changed: bool,
    /// It is no operation after all: what it does are events.
    is_transparent: bool,
    /// The lock that was given back while waiting.
    given_back: Option<u64>,
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
    /// It begins with a record of the call that returns to `pc`, or with being entered there.
    pub(super) fn new(
        function: LockFunction,
        depth: usize,
        instance: Option<u64>,
        at: CalledFrom,
        pc: u64,
    ) -> Operation {
        Operation {
            function,
            depth,
            instance,
            at,
            first_pc: pc,
            lock: None,
            is_changed: false,
            is_transparent: false,
            given_back: None,
        }
    }

    pub(super) fn role(&self) -> Role {
        self.function.role
    }

    /// Whether what happens within is no event.
    pub(super) fn hides(&self) -> bool {
        !self.is_transparent && self.role() != Role::Foreign
    }

    pub(super) fn is_transparent(&self) -> bool {
        self.is_transparent
    }

    /// The lock that the thread waits for, and how it wants it.
    pub(super) fn waits_for(&self) -> Option<(u64, Mode)> {
        match self.role() {
            Role::Lock(mode) => self.lock.map(|lock| (lock, mode)),
            _ => None,
        }
    }

    /// A record of the operation: the word of the lock may be changed by it, or written as it was.
    pub(super) fn note(&mut self, record: &Record) {
        let [_, addr, old, new] = record.words;
        if self.lock != Some(addr) || record.tag != Tag::Rmw {
            return;
        }
        match self.role() {
            Role::TimedLock(_, bits) if old & bits == new & bits => {}
            Role::TimedLock(_, bits) => self.is_changed = new & bits > old & bits,
            _ => self.is_changed |= old != new,
        }
    }

    /// Whether an atomic at a place inlined like this operation begins the next one.
    ///
    /// Two calls of one line of the source are inlined alike (the locks that are given back at the end of a block), and
    /// so are two rounds of a loop. Lock libraries touch no word but the lock's in their own code. And who still holds a lock
    /// after having given it back, and changes its word again, gives it back again.
    pub(super) fn is_over(&self, pc: u64, atomic: Atomic, held: &HeldLocks) -> bool {
        let Atomic { addr, krate, is_update } = atomic;
        let Some(lock) = self.lock else { return false };
        let is_other = lock != addr;
        let again = is_update && self.role() == Role::Unlock && self.is_changed && held.contains(lock);
        let is_about_locks =
            !matches!(self.role(), Role::Wait | Role::NotifyOne | Role::NotifyAll | Role::Foreign);
        let LockFunction { is_library, krate: own, .. } = self.function;
        (pc == self.first_pc && (is_other || self.is_changed))
            || ((again || is_other && is_about_locks) && is_library && krate == own)
    }

    /// An atomic within the operation, in this crate: the first of the lock's own crate is the lock. `outer` is the operation that
    /// this one is within, if it is.
    pub(super) fn identify(
        &mut self,
        addr: u64,
        krate: StrId,
        outer: Option<&mut Operation>,
        held: &mut HeldLocks,
        cx: &mut Context<'_>,
    ) {
        if self.lock.is_some() || self.function.krate != krate || self.is_transparent {
            return;
        }
        if matches!(self.role(), Role::Unlock | Role::GiveWay(_)) {
            cx.acts_as_holder(held, addr);
        }
        self.lock = Some(addr);
        match self.role() {
            Role::Lock(mode) => cx.event(self.at, LockAction::Request(mode), addr),
            Role::NotifyOne => cx.event(self.at, LockAction::Notify { all: false }, addr),
            Role::NotifyAll => cx.event(self.at, LockAction::Notify { all: true }, addr),
            Role::Unlock => self.unlock(addr, outer, held, cx),
            Role::GiveWay(_) => {
                if let Some(mode) = held.mode(addr) {
                    self.given_back = Some(addr);
                    cx.event(self.at, LockAction::Release(mode), addr);
                    cx.released(held, addr);
                }
            }
            Role::TryLock(_) | Role::TimedLock(..) | Role::Change(_) | Role::Wait | Role::Foreign => {}
        }
    }

    fn unlock(
        &mut self,
        lock: u64,
        outer: Option<&mut Operation>,
        held: &mut HeldLocks,
        cx: &mut Context<'_>,
    ) {
        let Some(mode) = held.mode(lock) else {
            // Taken in a way that was not seen: then this is the atomic operation it is.
            self.is_transparent = true;
            if let Some(word) = cx.words.get_mut(&lock).filter(|word| word.is_shared) {
                // Or shared more than once, which the beginning of the trace does not show.
                word.unrecognised += u64::from(cx.is_continuation);
            }
            return;
        };
        cx.event(self.at, LockAction::Release(mode), lock);
        if let Some(wait) = outer {
            wait.given_back = Some(lock);
            if let Some(condition) = wait.lock {
                cx.event(self.at, LockAction::Wait, condition);
            }
        }
        cx.released(held, lock);
    }

    /// The thread has left the operation: what it has taken, it has now.
    pub(super) fn left(&self, held: &mut HeldLocks, cx: &mut Context<'_>) {
        let Some(lock) = self.lock.or(self.given_back) else { return };
        let acquire = |held: &mut HeldLocks, cx: &mut Context<'_>, lock, mode, tried| {
            cx.event(self.at, LockAction::Acquire { mode, tried }, lock);
            cx.acquired(held, lock, mode);
        };
        match self.role() {
            Role::Lock(mode) => acquire(held, cx, lock, mode, false),
            Role::TryLock(mode) if self.is_changed => acquire(held, cx, lock, mode, true),
            Role::TimedLock(mode, _) if self.is_changed || gives_back_next(lock, cx) => {
                acquire(held, cx, lock, mode, true);
            }
            Role::Change(mode) => {
                cx.acts_as_holder(held, lock);
                if let Some(before) = cx.released(held, lock) {
                    cx.event(self.at, LockAction::Release(before), lock);
                    acquire(held, cx, lock, mode, true);
                }
            }
            Role::GiveWay(mode) if self.given_back.is_some() => {
                cx.event(self.at, LockAction::Request(mode), lock);
                acquire(held, cx, lock, mode, false);
            }
            Role::Wait => {
                if let Some(lock) = self.given_back.filter(|&lock| !held.contains(lock)) {
                    cx.event(self.at, LockAction::Request(Mode::Exclusive), lock);
                    acquire(held, cx, lock, Mode::Exclusive, false);
                }
            }
            _ => {}
        }
    }
}

/// Whether the next thing that the thread does to the word of a lock is giving it back.
fn gives_back_next(lock: u64, cx: &mut Context<'_>) -> bool {
    let mut entered = None;
    for record in std::iter::once(*cx.record).chain(cx.ahead.records()).take(FAR) {
        let [pc, addr, ..] = record.words;
        match record.tag {
            Tag::Enter => entered = cx.naming.site(addr).entry.map(|function| function.role).or(entered),
            Tag::Load | Tag::Store | Tag::Rmw if addr == lock => {
                let inlined = cx.naming.site(pc).inlined.first().map(|inlined| inlined.what.role);
                return inlined.or(entered) == Some(Role::Unlock);
            }
            _ => {}
        }
    }
    false
}
