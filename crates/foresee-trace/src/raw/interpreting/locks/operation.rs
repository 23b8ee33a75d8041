//! One operation on a lock, while a thread is in it: what its atomics and its end say.

use foresee_format::{SYNC_SPACE, Tag};

use super::event::{CalledFrom, LockAction};
use super::holding::{Context, HeldLocks, Taking, upgrade_lock};
use crate::event::{Mem, Mode};
use crate::ids::StrId;
use crate::raw::interpreting::attempts::Holder;
use crate::raw::interpreting::naming::LockFunction;
use crate::raw::interpreting::operations::atomic_mem;
use crate::raw::lock_table::{Hold, Role, Success};
use crate::raw::merging::{Lookahead, Record};

/// How many records are looked at to find out whether a lock was taken in time: one that is held for longer was not waited for
/// with a limit of time.
const FAR: usize = 1 << 20;

/// How far from the beginning of a lock of Rust's library its word can be.
const LARGEST_HEAD: u64 = 64;

/// An operation on a lock that a thread is in.
pub(super) struct Operation {
    pub(super) function: LockFunction,
    /// How many calls there were when it began.
    pub(super) depth: usize,
    /// Where it is inlined; `None` for a function of its own.
    pub(super) instance: Option<u64>,
    at: CalledFrom,
    first_pc: u64,
    /// The word of the lock.
    lock: Option<Mem>,
    /// Whether the word of the lock was changed, in the way that counts.
    is_changed: bool,
    /// The lock that was given back while waiting.
    given_back: Option<Mem>,
    /// Whether it is an attempt that was seen to fail.
    has_failed: bool,
    /// What the word of the lock has more in it by the operation.
    added: u64,
    /// Whether the thread was in it when the trace began: what it did before is not known.
    is_from_before: bool,
}

/// An atomic operation that may be part of one on a lock.
#[derive(Clone, Copy)]
pub(super) struct Atomic {
    pub(super) addr: u64,
    /// The crate that it is in.
    pub(super) krate: StrId,
    pub(super) is_update: bool,
}

/// An attempt that fails, and nobody was seen to have the lock.
pub(super) struct Unexplained {
    pub(super) at: CalledFrom,
    pub(super) lock: u64,
    pub(super) wanted: Hold,
}

/// Whether a record is of an atomic in memory of the program.
pub(super) fn is_atomic(record: &Record) -> bool {
    matches!(record.tag, Tag::Load | Tag::Store | Tag::Rmw) && record.words[1] < SYNC_SPACE
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
            given_back: None,
            has_failed: false,
            added: 0,
            is_from_before: false,
        }
    }

    /// The thread was in it when the trace began.
    pub(super) fn begun_before(self) -> Operation {
        Operation { is_from_before: true, ..self }
    }

    pub(super) fn role(&self) -> Role {
        self.function.role
    }

    /// Whether what happens within is no event.
    pub(super) fn hides(&self) -> bool {
        self.role() != Role::Foreign
    }

    /// Whether operations on locks may begin within it.
    pub(super) fn admits_others(&self) -> bool {
        matches!(self.role(), Role::Wait | Role::Around)
    }

    /// The lock that the thread waits for, and how it wants it.
    pub(super) fn waits_for(&self) -> Option<(u64, Mode)> {
        match self.role() {
            Role::Lock(hold) => self.lock.map(|lock| requested(lock.addr, hold)),
            _ => None,
        }
    }

    /// A record of the operation: the word of the lock may be changed by it, or written as it was.
    pub(super) fn note(&mut self, record: &Record) {
        let [_, addr, old, new] = record.words;
        if self.lock.is_none_or(|lock| lock.addr != addr) || record.tag != Tag::Rmw {
            return;
        }
        self.added = self.added.wrapping_add(new).wrapping_sub(old);
        let success = match self.role() {
            Role::TimedLock(_, grows) => Success::Growth { free: 0, grows },
            Role::TryLock(_, success) | Role::TryChange(_, success) => success,
            _ => Success::AnyChange,
        };
        match success {
            Success::AnyChange => self.is_changed |= old != new,
            Success::Growth { free, grows } if old & grows != new & grows => {
                self.is_changed = old & free == 0 && new & grows > old & grows;
            }
            Success::Growth { .. } => {}
        }
    }

    /// How the thread may have got this lock by now, if it may.
    pub(super) fn may_have(&self, lock: u64) -> Option<Hold> {
        let (word, hold) = match self.role() {
            Role::Lock(hold)
            | Role::TryLock(hold, _)
            | Role::TimedLock(hold, _)
            | Role::Change(hold)
            | Role::TryChange(hold, _) => (self.lock, hold),
            Role::GiveWay(hold) => (self.given_back, hold),
            Role::Wait => (self.given_back, Hold::Exclusive),
            Role::Unlock | Role::Around | Role::NotifyOne | Role::NotifyAll | Role::Foreign => return None,
        };
        word.filter(|word| word.addr == lock).map(|_| hold)
    }

    /// How the operation wants its lock, if it does not wait for it.
    fn wanted(&self) -> Option<Hold> {
        match self.role() {
            Role::TryLock(hold, _) | Role::TimedLock(hold, _) | Role::TryChange(hold, _) => Some(hold),
            _ => None,
        }
    }

    /// Whether this record of the operation is on the word of the lock, without having changed it as one who gets the lock does.
    fn is_in_vain(&self, record: &Record) -> bool {
        !self.is_changed && !self.has_failed && self.lock.is_some_and(|lock| lock.addr == record.words[1])
    }

    /// A record of an attempt: if it is on the word of the lock, and another thread has that, the attempt fails. (It may succeed
    /// in the end; then it has seen the state of the lock all the same.)
    pub(super) fn try_now(&mut self, cx: &mut Context<'_>) {
        let lock = cx.record.words[1];
        let Some(wanted) = self.wanted().filter(|_| self.is_in_vain(cx.record) && !cx.is_demoted(lock))
        else {
            return;
        };
        if let Some(holder) = cx.in_the_way(lock, wanted) {
            self.has_failed = true;
            cx.event(self.at, LockAction::Fail { wanted, held_by: Some(Holder::Seen(holder)) }, lock);
        }
    }

    /// An attempt whose last record on the word of the lock this is, and which nobody was seen to be in the way of. Who may have been is
    /// not known any more when the thread leaves the operation.
    pub(super) fn unexplained(&self, record: &Record, ahead: Lookahead<'_>) -> Option<Unexplained> {
        let wanted = self.wanted().filter(|_| self.is_in_vain(record))?;
        let lock = record.words[1];
        let goes_on = |next: Record| {
            let [pc, addr, ..] = next.words;
            is_atomic(&next) && addr == lock && pc != self.first_pc
        };
        let is_last = !ahead.records().next().is_some_and(goes_on);
        is_last.then_some(Unexplained { at: self.at, lock, wanted })
    }

    /// It was seen to fail.
    pub(super) fn note_failure(&mut self) {
        self.has_failed = true;
    }

    /// The word that an attempt which failed has added to, and how much: it takes that back.
    pub(super) fn owed(&self) -> Option<(u64, u64)> {
        let has_failed = matches!(self.role(), Role::TryLock(..) | Role::TryChange(..)) && !self.is_changed;
        self.lock.filter(|_| has_failed && self.added != 0).map(|lock| (lock.addr, self.added))
    }

    /// The attempt has failed at some moment before.
    fn fail(&self, lock: u64, hold: Hold, held: &HeldLocks, cx: &mut Context<'_>) {
        let is_own = matches!(self.role(), Role::TryLock(..) | Role::TimedLock(..)) && held.contains(lock);
        if !self.has_failed && !is_own {
            let held_by = cx.in_the_way(lock, hold).map(Holder::Seen);
            cx.event(self.at, LockAction::Fail { wanted: hold, held_by }, lock);
        }
    }

    /// Whether an atomic at a place inlined like this operation begins the next one.
    ///
    /// Two calls of one line of the source are inlined alike (the locks that are given back at the end of a block), and
    /// so are two rounds of a loop. Lock libraries touch no word but the lock's in their own code. And who still holds a lock
    /// after having given it back, and changes its word again, gives it back again.
    pub(super) fn is_over(&self, pc: u64, atomic: Atomic, held: &HeldLocks) -> bool {
        let Atomic { addr, krate, is_update } = atomic;
        let Some(lock) = self.lock.map(|lock| lock.addr) else { return false };
        let is_other = lock != addr;
        let again = is_update && self.role() == Role::Unlock && self.is_changed && held.contains(lock);
        let is_about_locks = !matches!(
            self.role(),
            Role::Wait | Role::Around | Role::NotifyOne | Role::NotifyAll | Role::Foreign
        );
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
        if self.lock.is_some() || self.function.krate != krate {
            return;
        }
        let word = atomic_mem(cx.record, addr);
        self.lock = Some(word);
        if cx.is_demoted(addr) {
            return self.is_on_no_lock(word, outer, cx);
        }
        match self.role() {
            Role::Lock(hold) => {
                let (lock, mode) = requested(addr, hold);
                let reads_again = self.function.has_writers_first
                    && hold == Hold::Shared
                    && held.mode(addr) == Some(Mode::Shared);
                let request = LockAction::Request(mode);
                if reads_again {
                    cx.gate(cx.thread, self.at, request, lock);
                } else {
                    cx.event(self.at, request, lock);
                }
            }
            Role::NotifyOne => cx.event(self.at, LockAction::Notify { all: false }, addr),
            Role::NotifyAll => cx.event(self.at, LockAction::Notify { all: true }, addr),
            Role::Unlock => self.unlock(word, outer, held, cx),
            Role::GiveWay(_) => {
                cx.acts_as_holder(held, addr);
                if cx.release(held, addr, self.at) {
                    self.given_back = Some(word);
                } else {
                    cx.demote(held, word, self.at);
                    self.is_on_no_lock(word, outer, cx);
                }
            }
            // Others may have it as soon as the word says so.
            Role::Change(hold) if hold != Hold::Exclusive => {
                cx.change(held, word, hold, self.at);
                if cx.is_demoted(addr) {
                    self.is_on_no_lock(word, outer, cx);
                }
            }
            Role::TryLock(..)
            | Role::TimedLock(..)
            | Role::Change(_)
            | Role::TryChange(..)
            | Role::Around
            | Role::Wait
            | Role::Foreign => {}
        }
    }

    /// The word is that of a demoted lock: who gives it back lets others see what was done.
    fn is_on_no_lock(&self, word: Mem, outer: Option<&mut Operation>, cx: &mut Context<'_>) {
        if matches!(self.role(), Role::Unlock | Role::GiveWay(_) | Role::Change(_)) {
            cx.event(self.at, LockAction::Synchronise(word), word.addr);
        }
        if let Some(wait) = outer.filter(|outer| outer.role() == Role::Wait) {
            wait.given_back = Some(word);
        }
    }

    fn unlock(
        &mut self,
        word: Mem,
        outer: Option<&mut Operation>,
        held: &mut HeldLocks,
        cx: &mut Context<'_>,
    ) {
        let lock = word.addr;
        cx.acts_as_holder(held, lock);
        if !held.contains(lock)
            && outer.as_ref().is_some_and(|outer| outer.role() == Role::Around)
            && let Some(object) = held.object_with(lock, LARGEST_HEAD)
        {
            // A lock that was taken within Rust's library, maybe more than once.
            while cx.release(held, object, self.at) {}
            return;
        }
        if !cx.release(held, lock, self.at) {
            // Taken by another thread, or in a way that was not seen.
            cx.demote(held, word, self.at);
            return self.is_on_no_lock(word, outer, cx);
        }
        if let Some(wait) = outer.filter(|outer| outer.role() == Role::Wait) {
            wait.given_back = Some(word);
            if let Some(condition) = wait.lock {
                cx.event(self.at, LockAction::Wait, condition.addr);
            }
        }
    }

    /// The thread has left the operation: what it has taken, it has now.
    pub(super) fn left(&self, held: &mut HeldLocks, cx: &mut Context<'_>) {
        let Some(word) = self.lock.or(self.given_back) else {
            let takes =
                !matches!(self.role(), Role::Unlock | Role::NotifyOne | Role::NotifyAll | Role::Foreign);
            if self.is_from_before && takes {
                cx.event(self.at, LockAction::Unknown, 0);
            }
            return;
        };
        if cx.is_demoted(word.addr) {
            return self.left_what_is_no_lock(word, cx);
        }
        match self.role() {
            Role::Lock(hold) => cx.acquire(held, word, self.taking(hold, false), self.at),
            Role::TryLock(hold, _) if self.is_changed => {
                cx.acquire(held, word, self.taking(hold, true), self.at);
            }
            Role::TimedLock(hold, _) if self.is_changed || gives_back_next(word.addr, cx) => {
                cx.acquire(held, word, self.taking(hold, true), self.at);
            }
            Role::Change(Hold::Exclusive) => cx.change(held, word, Hold::Exclusive, self.at),
            Role::TryChange(hold, _) if self.is_changed => cx.change(held, word, hold, self.at),
            Role::TryLock(hold, _) | Role::TimedLock(hold, _) | Role::TryChange(hold, _) => {
                self.fail(word.addr, hold, held, cx);
            }
            Role::GiveWay(hold) if self.given_back.is_some() => self.take_again(word, hold, held, cx),
            Role::Wait => {
                let again = self.given_back.filter(|lock| !held.contains(lock.addr));
                match again {
                    Some(lock) if cx.is_demoted(lock.addr) => self.left_what_is_no_lock(lock, cx),
                    Some(lock) => self.take_again(lock, Hold::Exclusive, held, cx),
                    None => {}
                }
            }
            _ => {}
        }
    }

    fn take_again(&self, word: Mem, hold: Hold, held: &mut HeldLocks, cx: &mut Context<'_>) {
        let (lock, mode) = requested(word.addr, hold);
        cx.event(self.at, LockAction::Request(mode), lock);
        cx.acquire(held, word, self.taking(hold, false), self.at);
    }

    fn taking(&self, hold: Hold, tried: bool) -> Taking {
        Taking { hold, tried, has_writers_first: self.function.has_writers_first }
    }

    /// Who takes what is no lock sees all that those who gave it back have done.
    fn left_what_is_no_lock(&self, word: Mem, cx: &mut Context<'_>) {
        // Attempts as well: that one failed depends on those before.
        if self.role() != Role::Unlock {
            cx.event(self.at, LockAction::Synchronise(word), word.addr);
        }
    }
}

/// What a thread waits for that wants a lock: an upgradable hold waits for those that have the lock for upgrading.
fn requested(lock: u64, hold: Hold) -> (u64, Mode) {
    match hold {
        Hold::Upgradable => (upgrade_lock(lock), Mode::Exclusive),
        Hold::Shared | Hold::Exclusive => (lock, hold.mode()),
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
