//! From what happens inside of lock functions to lock events.
//!
//! A thread is within an *operation* while one of the functions of the [`LockTable`](super::roles::LockTable) is among its
//! calls: entered as a function of its own (debug builds: the runtime records entry and exit), or inlined into another (then
//! every record's program counter says so). What the operation does to memory is its own affair and dropped; instead,
//!
//! * taking a lock is a request at the operation's first atomic and an acquire **just before the thread's next event after
//!   the operation**. Part of the operation may be code that is not instrumented (the standard library's contended paths), or
//!   hand the lock over without an atomic of this thread (`parking_lot`'s fair unlock), so the moment of success is not seen. But
//!   the thread holds the lock from some moment inside of the operation until its release: nobody else can hold it between that
//!   moment and the acquire written here, so moving the acquire later changes neither who held the lock when, nor what the
//!   thread did while holding it;
//! * giving a lock back is a release at the operation's first atomic: likewise, it is held until some later
//!   moment, and the thread does nothing else in between;
//! * whether waiting for some time got the lock is seen by a change of its word, or else (it may be handed over) by what the
//!   thread does to the word next: if that is giving it back, it had it;
//! * giving way to others (`parking_lot`'s `bump`) is both, whether others waited or not;
//! * the lock is known by the address of the first atomic that the lock's own crate touches in the operation.
//!
//! Optimisers merge equal code of different calls, and then an atomic on the word of a lock may be in no function that is known.
//! If its thread holds the lock and it releases, it is the release; if it takes a lock that is only ever taken by one, it
//! is an acquire. Whatever else changes such a word is counted as unclear, and the run is doubted.
//!
//! Order between threads stays right because the runtime takes the stamp of an atomic before it is done: whoever gets a
//! lock in unseen code after such a release has later keys.
//!
//! **Known limits.** Changing the mode of a held lock (downgrade, upgrade) is a release and an acquire with nothing between;
//! upgradable locks count as shared.

mod continuation;

use foresee_format::{FRAMES_UNKNOWN, SYNC_SPACE, Tag};
use rustc_hash::FxHashMap;

pub(super) use self::continuation::State;
use super::ahead::Ahead;
use super::beginning::Beginning;
use super::naming::{Naming, RoleOf, Site};
use super::operation::{At, Atomic, Held, Operation};
use super::roles::Role;
use super::stream::Record;
use crate::event::Mode;
use crate::ids::{LocId, StrId};

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is an event.
    Keep,
    /// It is an event on memory of its own.
    Move,
    /// It says nothing that the steps do not say.
    Drop,
}

/// What a thread did to a lock, or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) addr: u64,
    pub(super) loc: LocId,
    /// The type of the lock.
    pub(super) of: Option<StrId>,
}

/// The kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Request(Mode),
    Acquire { mode: Mode, tried: bool },
    Release(Mode),
    Wait,
    Notify { all: bool },
}

/// What is at hand while a record is looked at.
struct Context<'a> {
    thread: u64,
    naming: &'a mut Naming,
    words: &'a mut Words,
    steps: &'a mut Vec<Step>,
    ahead: Ahead<'a>,
    beginning: Option<&'a mut Beginning>,
    is_continuation: bool,
}

impl Context<'_> {
    fn step(&mut self, at: At, action: Action, addr: u64) {
        self.steps.push(Step { action, addr, loc: at.loc, of: at.of });
    }
}

/// All threads of a run.
#[derive(Default)]
pub(super) struct Sections {
    threads: Vec<Thread>,
    words: Words,
    /// What was unclear about words that are no locks any more.
    unclear: u64,
    /// What threads must have held when the trace begins, while that is found out.
    beginning: Option<Beginning>,
    /// Whether the trace begins within the run.
    is_continuation: bool,
}

/// The words that are locks.
type Words = FxHashMap<u64, Word>;

/// What is known about the word of a lock.
#[derive(Default)]
struct Word {
    holders: u32,
    /// Whether it was ever held by any number.
    is_shared: bool,
    /// Whether nothing is known of it but that it is a lock later.
    is_new: bool,
    /// How many atomics changed it in a way that is not understood.
    unclear: u64,
}

#[derive(Default)]
struct Thread {
    /// Whether there was any record of it yet, and whether these were the calls that it begins with.
    has_begun: bool,
    begins_with_frames: bool,
    calls: Vec<Call>,
    /// The operations it is in: at most a wait, and one more within.
    operations: Vec<Operation>,
    /// The locks it holds: how, and how often.
    held: Held,
}

/// A function that was entered and not left yet.
struct Call {
    function: StrId,
    /// The nearest place of the user's that led here.
    user: Option<LocId>,
    /// The nearest crate that led here, other than `core`.
    krate: StrId,
    /// Entering was not told.
    silent: bool,
    /// Where the call is.
    call: u64,
}

impl Sections {
    fn thread(&mut self, thread: u64) -> &mut Thread {
        let thread = thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// The runtime has seen a thread get a lock.
    pub(super) fn acquired(&mut self, thread: u64, lock: u64, mode: Mode) {
        if let Some(beginning) = &mut self.beginning {
            beginning.handled(thread, lock);
        }
        self.thread(thread).hold(lock, mode);
        if let Some(word) = self.words.get_mut(&lock) {
            word.holders += 1;
        }
    }

    /// The runtime has seen a thread give a lock back; how it held it, if it did.
    pub(super) fn released(&mut self, thread: u64, lock: u64) -> Option<Mode> {
        if let Some(word) = self.words.get_mut(&lock) {
            word.holders = word.holders.saturating_sub(1);
        }
        if let Some(beginning) = &mut self.beginning {
            let holds = |one: &Thread| one.held.contains_key(&lock);
            let lacks = !self.threads.get(thread as usize).is_some_and(holds)
                && beginning.lacks(thread, lock, self.threads.iter().any(holds), false);
            beginning.handled(thread, lock);
            if lacks {
                self.thread(thread).hold(lock, Mode::Exclusive);
            }
        }
        self.thread(thread).give_back(lock)
    }

    /// How many atomics changed the word of a lock in a way that is not understood.
    pub(super) fn unclear(&self) -> u64 {
        self.unclear + self.words.values().map(|word| word.unclear).sum::<u64>()
    }

    /// Memory is given out or written anew: what was a lock there is none any more.
    pub(super) fn forget(&mut self, lock: u64) {
        self.unclear += self.words.remove(&lock).map_or(0, |word| word.unclear);
    }

    /// Whether somebody holds a lock that is made of atomics.
    pub(super) fn is_held(&self, lock: u64) -> bool {
        self.words.get(&lock).is_some_and(|word| word.holders > 0)
    }

    /// Where a thread is that reads or writes at this site, if that has surely nothing to do with locks.
    #[inline]
    pub(super) fn place_apart(&self, thread: u64, site: &Site) -> Option<LocId> {
        let thread = self.threads.get(thread as usize)?;
        let is_apart = site.roles.is_empty()
            && thread.operations.is_empty()
            && thread.has_begun
            && !thread.begins_with_frames
            && self.beginning.is_none();
        is_apart.then(|| thread.user(site).unwrap_or(site.loc))
    }

    /// The next record of a thread: what it did to locks before the record, and what becomes of the record, which is at this site
    /// if it has one.
    pub(super) fn record(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&Site>,
        ahead: Ahead<'_>,
        naming: &mut Naming,
        steps: &mut Vec<Step>,
    ) -> Fate {
        self.thread(number);
        let Some(thread) = self.threads.get_mut(number as usize) else { return Fate::Keep };
        let begins = !std::mem::replace(&mut thread.has_begun, true);
        if record.tag == Tag::Frame && record.detail == FRAMES_UNKNOWN && begins {
            self.unclear += u64::from(self.is_continuation);
        }
        let mut beginning = self.beginning.as_mut();
        if let Some(beginning) = &mut beginning {
            beginning.record(number, record.key, begins && record.tag != Tag::Begin);
        }
        let is_continuation = self.is_continuation;
        let words = &mut self.words;
        let mut cx = Context { thread: number, naming, words, steps, ahead, beginning, is_continuation };
        let fate = match record.tag {
            Tag::Frame => {
                // Those of the thread's later chunks tell what is known.
                if begins || thread.begins_with_frames {
                    thread.begins_with_frames = true;
                    thread.enter(record.words[0], record.words[1], &mut cx);
                }
                return Fate::Drop;
            }
            Tag::Enter => thread.enter(record.words[0], record.words[1], &mut cx),
            Tag::Exit => thread.exit(&mut cx),
            Tag::Begin | Tag::Text | Tag::Arg | Tag::Branch => Fate::Keep,
            Tag::End => {
                thread.leave_from(0, &mut cx);
                Fate::Keep
            }
            _ => site.map_or(Fate::Keep, |site| thread.act(record, site, &mut cx)),
        };
        thread.begins_with_frames = false;
        if let Some(beginning) = &mut self.beginning {
            beginning.recorded(number, !thread.operations.is_empty());
        }
        fate
    }

    /// The function that an exit is about to leave.
    pub(super) fn function(&mut self, thread: u64) -> Option<StrId> {
        self.thread(thread).calls.last().map(|call| call.function)
    }

    /// Takes the exit of a function, once it has been told.
    pub(super) fn pop(&mut self, thread: u64) {
        self.thread(thread).calls.pop();
    }

    /// Where a thread is: a place of the user's, if there is one at or above this site.
    pub(super) fn place(&mut self, thread: u64, site: &Site) -> LocId {
        self.thread(thread).user(site).unwrap_or(site.loc)
    }
}

impl Thread {
    fn hold(&mut self, lock: u64, mode: Mode) {
        self.held.entry(lock).or_insert((mode, 0)).1 += 1;
    }

    fn give_back(&mut self, lock: u64) -> Option<Mode> {
        let (mode, depth) = self.held.get_mut(&lock)?;
        let held = *mode;
        *depth -= 1;
        if *depth == 0 {
            self.held.remove(&lock);
        }
        Some(held)
    }

    fn acquired(&mut self, lock: u64, mode: Mode, cx: &mut Context<'_>) {
        self.hold(lock, mode);
        if let Some(beginning) = &mut cx.beginning {
            beginning.handled(cx.thread, lock);
        }
        let word = cx.words.entry(lock).or_default();
        word.is_new = false;
        word.holders += 1;
        word.is_shared |= mode == Mode::Shared;
    }

    /// The thread does what only a holder of the lock does: it may have been one from the beginning.
    fn acts_as_holder(&mut self, lock: u64, cx: &mut Context<'_>) {
        let others_hold = cx.words.get(&lock).is_some_and(|word| word.holders > 0);
        if let Some(beginning) = &mut cx.beginning
            && !self.held.contains_key(&lock)
            && beginning.lacks(cx.thread, lock, others_hold, true)
        {
            self.acquired(lock, Mode::Exclusive, cx);
        }
    }

    fn released(&mut self, lock: u64, cx: &mut Context<'_>) -> Option<Mode> {
        if let Some(beginning) = &mut cx.beginning {
            beginning.handled(cx.thread, lock);
        }
        if let Some(word) = cx.words.get_mut(&lock) {
            word.is_new = false;
            word.holders = word.holders.saturating_sub(1);
        }
        self.give_back(lock)
    }

    #[inline]
    fn user(&self, site: &Site) -> Option<LocId> {
        if site.users { Some(site.loc) } else { self.calls.last().and_then(|call| call.user) }
    }

    fn krate(&self, site: &Site) -> StrId {
        site.krate.unwrap_or_else(|| self.calls.last().map_or(StrId::EMPTY, |call| call.krate))
    }

    fn enter(&mut self, call: u64, callee: u64, cx: &mut Context<'_>) -> Fate {
        let site = cx.naming.site(call);
        self.leave_outside(&site, call, None, cx);
        self.begin_inlined(&site, call);
        let (user, krate) = (self.user(&site), self.krate(&site));
        let function = cx.naming.site(callee);
        let silent = self.is_hidden() || function.entry.is_some();
        let depth = self.calls.len();
        let caller = self.calls.last().map(|call| call.function);
        self.calls.push(Call { function: function.function, user, krate, silent, call });
        if let Some(role) = function.entry
            && self.may_begin()
        {
            let of = caller.and_then(|caller| cx.naming.lock_type(caller));
            self.begin(role, depth, None, At { loc: user.unwrap_or(site.loc), of }, callee);
        }
        if silent { Fate::Drop } else { Fate::Keep }
    }

    /// Before the call is popped, which is up to the caller of [`Sections::pop`].
    fn exit(&mut self, cx: &mut Context<'_>) -> Fate {
        let depth = self.calls.len();
        let ended = self.operations.iter().position(|operation| {
            let own = operation.instance.is_none();
            if own { operation.depth + 1 >= depth } else { operation.depth >= depth }
        });
        if let Some(first) = ended {
            self.leave_from(first, cx);
        }
        if self.calls.last().is_some_and(|call| call.silent) { Fate::Drop } else { Fate::Keep }
    }

    fn act(&mut self, record: &Record, site: &Site, cx: &mut Context<'_>) -> Fate {
        let [pc, addr, old, new] = record.words;
        let is_atomic = matches!(record.tag, Tag::Load | Tag::Store | Tag::Rmw) && addr < SYNC_SPACE;
        let krate = self.krate(site);
        let is_update = record.tag == Tag::Rmw;
        self.leave_outside(site, pc, is_atomic.then_some(Atomic { addr, krate, is_update }), cx);
        self.begin_inlined(site, pc);
        if self.operations.is_empty() {
            let loc = self.user(site).unwrap_or(site.loc);
            return if is_atomic { self.outside(record, loc, cx) } else { Fate::Keep };
        }
        if is_atomic {
            self.identify(addr, krate, cx);
        }
        let Some(operation) = self.operations.last_mut() else { return Fate::Keep };
        if operation.transparent {
            return Fate::Keep;
        }
        if operation.lock == Some(addr) && record.tag == Tag::Rmw {
            operation.note(old, new);
        }
        match record.tag {
            Tag::Alloc | Tag::Free | Tag::Fork | Tag::Join => Fate::Keep,
            _ if operation.role == Role::Foreign && is_atomic => Fate::Move,
            _ => Fate::Drop,
        }
    }

    /// An atomic that is in no operation, as far as one can see, but may be on the word of a lock.
    fn outside(&mut self, record: &Record, loc: LocId, cx: &mut Context<'_>) -> Fate {
        let [_, addr, old, new] = record.words;
        if record.tag == Tag::Load {
            return Fate::Keep;
        }
        let Some(word) = cx.words.get_mut(&addr) else { return Fate::Keep };
        let mode = match self.held.get(&addr) {
            Some(&(mode, _)) => {
                cx.step(At { loc, of: None }, Action::Release(mode), addr);
                self.released(addr, cx);
                return Fate::Drop;
            }
            None => Mode::Exclusive,
        };
        if record.tag == Tag::Rmw && old != new && !word.is_shared && word.holders == 0 && !word.is_new {
            cx.step(At { loc, of: None }, Action::Acquire { mode, tried: true }, addr);
            self.acquired(addr, mode, cx);
            return Fate::Drop;
        }
        word.unclear += 1;
        Fate::Keep
    }

    /// Whether what happens now is inside of an operation that tells nothing of it.
    fn is_hidden(&self) -> bool {
        self.operations.iter().any(|operation| !operation.transparent && operation.role != Role::Foreign)
    }

    fn may_begin(&self) -> bool {
        self.operations.last().is_none_or(|operation| operation.role == Role::Wait)
    }

    fn begin_inlined(&mut self, site: &Site, pc: u64) {
        for inlined in &site.roles {
            let depth = self.calls.len();
            let known = self.operations.iter().any(|operation| operation.instance == Some(inlined.instance));
            if !known && self.may_begin() {
                let user = if inlined.users { Some(inlined.loc) } else { None };
                let user = user.or_else(|| self.calls.last().and_then(|call| call.user));
                let loc = user.unwrap_or(inlined.loc);
                self.begin(inlined.what, depth, Some(inlined.instance), At { loc, of: inlined.of }, pc);
            }
        }
    }

    fn begin(&mut self, what: RoleOf, depth: usize, instance: Option<u64>, at: At, pc: u64) {
        self.operations.push(Operation {
            role: what.role,
            depth,
            instance,
            krate: what.krate,
            is_library: what.is_library,
            at,
            first_pc: pc,
            lock: None,
            changed: false,
            transparent: false,
            given_back: None,
        });
    }

    /// The first atomic of the lock's own crate is the lock.
    fn identify(&mut self, addr: u64, krate: StrId, cx: &mut Context<'_>) {
        let Some(operation) = self.operations.last() else { return };
        if operation.lock.is_some() || operation.krate != krate || operation.transparent {
            return;
        }
        if matches!(operation.role, Role::Unlock | Role::GiveWay(_)) {
            self.acts_as_holder(addr, cx);
        }
        let Some((operation, outer)) = self.operations.split_last_mut() else { return };
        operation.lock = Some(addr);
        let at = operation.at;
        match operation.role {
            Role::Lock(mode) => cx.step(at, Action::Request(mode), addr),
            Role::NotifyOne | Role::NotifyAll => {
                cx.step(at, Action::Notify { all: operation.role == Role::NotifyAll }, addr);
            }
            Role::Unlock => {
                let Some(&(mode, _)) = self.held.get(&addr) else {
                    // Taken in a way that was not seen: then this is the atomic operation it is.
                    operation.transparent = true;
                    if let Some(word) = cx.words.get_mut(&addr).filter(|word| word.is_shared) {
                        // Or shared more than once, which the beginning of the trace does not tell.
                        word.unclear += u64::from(cx.is_continuation);
                    }
                    return;
                };
                cx.step(at, Action::Release(mode), addr);
                if let Some(wait) = outer.last_mut() {
                    wait.given_back = Some(addr);
                    if let Some(condition) = wait.lock {
                        cx.step(at, Action::Wait, condition);
                    }
                }
                self.released(addr, cx);
            }
            Role::GiveWay(_) => {
                if let Some(&(mode, _)) = self.held.get(&addr) {
                    operation.given_back = Some(addr);
                    cx.step(at, Action::Release(mode), addr);
                    self.released(addr, cx);
                }
            }
            Role::TryLock(_) | Role::TimedLock(..) | Role::Change(_) | Role::Wait | Role::Foreign => {}
        }
    }

    /// Leaves the operations that a record at this site is not within.
    fn leave_outside(&mut self, site: &Site, pc: u64, atomic: Option<Atomic>, cx: &mut Context<'_>) {
        let depth = self.calls.len();
        let left = self.operations.iter().position(|operation| {
            if depth > operation.depth {
                return false;
            }
            let inlined = site.roles.iter().any(|inlined| Some(inlined.instance) == operation.instance);
            depth < operation.depth
                || !inlined
                || atomic.is_some_and(|atomic| operation.is_over(pc, atomic, &self.held))
        });
        if let Some(first) = left {
            self.leave_from(first, cx);
        }
    }

    fn leave_from(&mut self, first: usize, cx: &mut Context<'_>) {
        while self.operations.len() > first {
            if let Some(operation) = self.operations.pop() {
                self.left(&operation, cx);
            }
        }
    }

    fn left(&mut self, operation: &Operation, cx: &mut Context<'_>) {
        let Some(lock) = operation.lock.or(operation.given_back) else { return };
        match operation.role {
            Role::Lock(mode) => {
                cx.step(operation.at, Action::Acquire { mode, tried: false }, lock);
                self.acquired(lock, mode, cx);
            }
            Role::TryLock(mode) if operation.changed => {
                cx.step(operation.at, Action::Acquire { mode, tried: true }, lock);
                self.acquired(lock, mode, cx);
            }
            Role::TimedLock(mode, _) if operation.changed || cx.ahead.gives_back(lock, cx.naming) => {
                cx.step(operation.at, Action::Acquire { mode, tried: true }, lock);
                self.acquired(lock, mode, cx);
            }
            Role::Change(mode) => {
                self.acts_as_holder(lock, cx);
                if let Some(held) = self.released(lock, cx) {
                    cx.step(operation.at, Action::Release(held), lock);
                    cx.step(operation.at, Action::Acquire { mode, tried: true }, lock);
                    self.acquired(lock, mode, cx);
                }
            }
            Role::GiveWay(mode) if operation.given_back.is_some() => {
                cx.step(operation.at, Action::Request(mode), lock);
                cx.step(operation.at, Action::Acquire { mode, tried: false }, lock);
                self.acquired(lock, mode, cx);
            }
            Role::Wait => {
                if let Some(lock) = operation.given_back.filter(|lock| !self.held.contains_key(lock)) {
                    cx.step(operation.at, Action::Request(Mode::Exclusive), lock);
                    cx.step(operation.at, Action::Acquire { mode: Mode::Exclusive, tried: false }, lock);
                    self.acquired(lock, Mode::Exclusive, cx);
                }
            }
            _ => {}
        }
    }
}
