//! The calls of one thread, the operations on locks that it is in, and the locks that it holds.

use foresee_format::Tag;

use super::event::{CalledFrom, Meaning};
use super::holding::{Context, HeldLocks, Taking};
use super::operation::{Atomic, Operation, Unexplained, is_atomic};
use crate::event::Mode;
use crate::ids::{LocId, StrId};
use crate::raw::interpreting::naming::CallSite;
use crate::raw::interpreting::operations::atomic_mem;
use crate::raw::lock_table::{Hold, Role};
use crate::raw::merging::{Lookahead, Record};

/// What a thread is in, and what it holds.
#[derive(Default)]
pub(crate) struct Thread {
    /// Whether there was any record of it yet.
    pub(super) has_begun: bool,
    /// Whether all records so far were the calls that it begins with.
    pub(super) begins_with_frames: bool,
    has_ended: bool,
    calls: Vec<OpenCall>,
    /// The operations it is in: at most one that others may be within, and one more.
    operations: Vec<Operation>,
    pub(super) held: HeldLocks,
    /// What the last attempt on a lock has added to its word, in vain, and did not take back within the code that is known to be its.
    owed: Option<(u64, u64)>,
}

/// A function that was entered and not left yet.
struct OpenCall {
    function: StrId,
    /// The nearest place of the user's that led here.
    user: Option<LocId>,
    /// The nearest crate that led here, other than `core`.
    krate: StrId,
    /// Whether that is code of a channel.
    is_channel: bool,
    /// Entering it was no event.
    is_silent: bool,
    /// The address that the call returns to.
    pc: u64,
}

impl Thread {
    pub(super) fn is_in_operation(&self) -> bool {
        !self.operations.is_empty()
    }

    /// The innermost function.
    pub(super) fn function(&self) -> Option<StrId> {
        self.calls.last().map(|call| call.function)
    }

    /// The functions that it is in whose entry was an event, with where their calls are.
    pub(super) fn delivered_calls(&self) -> Vec<(StrId, u64)> {
        let delivered = self.calls.iter().filter(|call| !call.is_silent);
        delivered.map(|call| (call.function, call.pc)).collect()
    }

    /// The lock that it waits for in an operation, and how it wants it.
    pub(super) fn waits_for(&self) -> Option<(u64, Mode)> {
        self.operations.iter().find_map(Operation::waits_for)
    }

    /// How it may have got this lock by now, in an operation that it has not left.
    pub(super) fn may_have(&self, lock: u64) -> Option<Hold> {
        self.operations.iter().find_map(|operation| operation.may_have(lock))
    }

    /// The attempt that it makes in vain with this record, if nobody was seen to be in the way.
    pub(super) fn unexplained(&self, record: &Record, ahead: Lookahead<'_>) -> Option<Unexplained> {
        self.operations.last()?.unexplained(record, ahead)
    }

    /// That attempt was seen to fail.
    pub(super) fn note_failure(&mut self) {
        self.operations.last_mut().into_iter().for_each(Operation::note_failure);
    }

    /// Where the thread is that reads or writes at this site, if the site has nothing to do with locks.
    #[inline]
    pub(crate) fn place(&self, site: &CallSite) -> Option<LocId> {
        site.inlined.is_empty().then(|| self.user(site).unwrap_or(site.loc))
    }

    /// The place of the user's at or above this site, if there is one.
    #[inline]
    pub(super) fn user(&self, site: &CallSite) -> Option<LocId> {
        if site.is_users { Some(site.loc) } else { self.calls.last().and_then(|call| call.user) }
    }

    fn krate(&self, site: &CallSite) -> StrId {
        site.krate.unwrap_or_else(|| self.calls.last().map_or(StrId::EMPTY, |call| call.krate))
    }

    /// Whether the code of a channel is at work here.
    pub(super) fn is_in_channel(&self, site: &CallSite) -> bool {
        if site.krate.is_some() {
            site.is_channel
        } else {
            self.calls.last().is_some_and(|call| call.is_channel)
        }
    }

    /// The thread enters the function at `callee`.
    pub(super) fn enter(&mut self, pc: u64, callee: u64, cx: &mut Context<'_>) -> Meaning {
        let site = cx.naming.site(pc);
        self.leave_outside(&site, pc, None, cx);
        self.begin_inlined(&site, pc);
        let function = cx.naming.site(callee);
        let is_silent = self.operations.iter().any(Operation::hides) || function.entry.is_some();
        let depth = self.calls.len();
        let caller = self.function();
        let user = self.call(pc, &site, &function, is_silent);
        if let Some(entered) = function.entry
            && self.may_begin()
        {
            let lock_type = caller.and_then(|caller| cx.naming.lock_type(caller));
            let at = CalledFrom { loc: user.unwrap_or(site.loc), lock_type };
            let operation = Operation::new(entered, depth, None, at, callee);
            let is_from_before = cx.record.tag == Tag::Frame;
            self.operations.push(if is_from_before { operation.begun_before() } else { operation });
        }
        if is_silent { Meaning::Nothing } else { Meaning::Event }
    }

    /// The thread is in this function now; the nearest place of the user's that led there.
    #[inline]
    pub(crate) fn call(
        &mut self,
        pc: u64,
        site: &CallSite,
        function: &CallSite,
        is_silent: bool,
    ) -> Option<LocId> {
        let krate = self.krate(site);
        // What nobody of the user's has called is where it begins.
        let user = self.user(site).or_else(|| function.is_users.then_some(function.loc));
        let is_channel =
            if function.krate.is_some() { function.is_channel } else { self.is_in_channel(site) };
        self.calls.push(OpenCall { function: function.function, user, krate, is_channel, is_silent, pc });
        user
    }

    /// The function that the thread leaves, if it is apart from locks and that is an event; to be followed by [`pop`](Thread::pop).
    #[inline]
    pub(crate) fn exit_apart(&self) -> Option<StrId> {
        self.calls.last().filter(|call| !call.is_silent).map(|call| call.function)
    }

    /// The thread is about to leave the innermost function: [`pop`](Thread::pop) follows.
    pub(super) fn exit(&mut self, cx: &mut Context<'_>) -> Meaning {
        let depth = self.calls.len();
        let ended = self.operations.iter().position(|operation| {
            let is_function = operation.instance.is_none();
            if is_function { operation.depth + 1 >= depth } else { operation.depth >= depth }
        });
        if let Some(first) = ended {
            self.leave_from(first, cx);
        }
        if self.calls.last().is_some_and(|call| call.is_silent) { Meaning::Nothing } else { Meaning::Event }
    }

    pub(crate) fn pop(&mut self) {
        self.calls.pop();
    }

    /// The thread ends. Locks that it still holds are never given back, or another thread does that: it holds them no more.
    pub(super) fn end(&mut self, cx: &mut Context<'_>) {
        self.leave_from(0, cx);
        // In a long run most threads have ended.
        (self.calls, self.operations) = (Vec::new(), Vec::new());
        let at = CalledFrom { loc: LocId::UNKNOWN, lock_type: None };
        for (lock, _) in self.held.all() {
            if cx.words.contains_key(&lock) {
                cx.release(&mut self.held, lock, at);
            }
        }
        self.held.shrink();
        self.has_ended = true;
    }

    /// Whether it has ended and left nothing.
    pub(super) fn has_gone(&self) -> bool {
        self.has_ended && self.held.is_empty()
    }

    /// The thread does what the record says, at this site.
    pub(super) fn act(&mut self, site: &CallSite, cx: &mut Context<'_>) -> Meaning {
        let record = cx.record;
        let [pc, addr, ..] = record.words;
        let is_atomic = is_atomic(record);
        let krate = self.krate(site);
        let is_update = record.tag == Tag::Rmw;
        self.leave_outside(site, pc, is_atomic.then_some(Atomic { addr, krate, is_update }), cx);
        self.begin_inlined(site, pc);
        let Some((operation, outer)) = self.operations.split_last_mut() else {
            let loc = self.user(site).unwrap_or(site.loc);
            return if is_atomic { self.act_outside(loc, cx) } else { Meaning::Event };
        };
        if is_atomic {
            operation.identify(addr, krate, outer.last_mut(), &mut self.held, cx);
        }
        operation.note(record);
        if is_atomic {
            operation.try_now(cx);
        }
        match record.tag {
            Tag::Alloc | Tag::Free | Tag::Fork | Tag::Join | Tag::Await => Meaning::Event,
            _ if operation.role() == Role::Foreign && is_atomic => Meaning::EventApart,
            _ => Meaning::Nothing,
        }
    }

    /// An atomic that is in no operation, as far as one can see, but may be on the word of a lock.
    fn act_outside(&mut self, loc: LocId, cx: &mut Context<'_>) -> Meaning {
        let (tag, [_, addr, old, new]) = (cx.record.tag, cx.record.words);
        if tag == Tag::Load {
            return Meaning::Event;
        }
        let Some(word) = cx.words.get(&addr).filter(|word| !word.is_demoted) else { return Meaning::Event };
        let at = CalledFrom { loc, lock_type: None };
        let (is_store, is_unchanged) = (tag == Tag::Store, tag == Tag::Rmw && old == new);
        if is_unchanged {
            return Meaning::Event;
        }
        if tag == Tag::Rmw && self.owed.take_if(|owed| *owed == (addr, old.wrapping_sub(new))).is_some() {
            return Meaning::Nothing;
        }
        // Whatever a lock's word is made of, it has less in it when the lock is given back.
        if (is_store || new < old) && self.held.contains(addr) {
            cx.release(&mut self.held, addr, at);
            return Meaning::Nothing;
        }
        let is_free = !word.is_shared && word.holders.is_empty() && !word.is_new;
        let word = atomic_mem(cx.record, addr);
        if !is_store && new > old && is_free {
            let taking = Taking { hold: Hold::Exclusive, tried: true, has_writers_first: false };
            cx.acquire(&mut self.held, word, taking, at);
            return Meaning::Nothing;
        }
        cx.demote(&mut self.held, word, at);
        Meaning::Event
    }

    fn may_begin(&self) -> bool {
        self.operations.last().is_none_or(Operation::admits_others)
    }

    /// Begins the operations that have this site inlined.
    fn begin_inlined(&mut self, site: &CallSite, pc: u64) {
        for inlined in &site.inlined {
            let depth = self.calls.len();
            let is_known =
                self.operations.iter().any(|operation| operation.instance == Some(inlined.instance));
            if !is_known && self.may_begin() {
                let user = if inlined.is_users { Some(inlined.loc) } else { None };
                let user = user.or_else(|| self.calls.last().and_then(|call| call.user));
                let at = CalledFrom { loc: user.unwrap_or(inlined.loc), lock_type: inlined.lock_type };
                self.operations.push(Operation::new(inlined.what, depth, Some(inlined.instance), at, pc));
            }
        }
    }

    /// Leaves the operations that a record at this site is not within.
    ///
    /// A record of code whose calls are not recorded (what precompiled libraries allocate or read by the C library) is made within
    /// the innermost function that is known, but does not say where in it: it ends nothing that is inlined there.
    fn leave_outside(&mut self, site: &CallSite, pc: u64, atomic: Option<Atomic>, cx: &mut Context<'_>) {
        let depth = self.calls.len();
        let is_elsewhere = self.calls.last().is_some_and(|call| call.function != site.function);
        let left = self.operations.iter().position(|operation| {
            if depth > operation.depth || depth == operation.depth && is_elsewhere {
                return false;
            }
            let is_inlined = site.inlined.iter().any(|inlined| Some(inlined.instance) == operation.instance);
            depth < operation.depth
                || !is_inlined
                || atomic.is_some_and(|atomic| operation.is_over(pc, atomic, &self.held))
        });
        if let Some(first) = left {
            self.leave_from(first, cx);
        }
    }

    /// Leaves this operation and those within it.
    pub(super) fn leave_from(&mut self, first: usize, cx: &mut Context<'_>) {
        while self.operations.len() > first {
            if let Some(operation) = self.operations.pop() {
                self.owed = operation.owed();
                operation.left(&mut self.held, cx);
            }
        }
    }
}
