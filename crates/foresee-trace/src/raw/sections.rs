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
//! * the lock is known by the address of the first atomic that the lock's own crate touches in the operation.
//!
//! Order between threads stays right because the runtime takes the stamp of an atomic before it is done: whoever gets a
//! lock in unseen code after such a release has later keys.
//!
//! **Known limits.** Changing the mode of a held lock (downgrade, upgrade) is a release and an acquire with nothing between;
//! upgradable locks count as shared. A timed `parking_lot` lock that is handed over in the moment it waits is not seen.

use rustc_hash::FxHashMap;

use super::format::{SYNC_SPACE, Tag};
use super::naming::{Naming, Site};
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

/// All threads of a run.
#[derive(Default)]
pub(super) struct Sections {
    threads: Vec<Thread>,
}

#[derive(Default)]
struct Thread {
    calls: Vec<Call>,
    /// The operations it is in: at most a wait, and one more within.
    operations: Vec<Operation>,
    /// The locks it holds: how, and how often.
    held: FxHashMap<u64, (Mode, u32)>,
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
}

struct Operation {
    role: Role,
    /// How many calls there were when it began.
    depth: usize,
    /// Where it is inlined; `None` for a function of its own.
    instance: Option<u64>,
    krate: StrId,
    loc: LocId,
    first_pc: u64,
    lock: Option<u64>,
    /// Whether the word of the lock was changed.
    changed: bool,
    /// It is no operation after all: what it does are events.
    transparent: bool,
    /// The lock that was given back while waiting.
    given_back: Option<u64>,
}

impl Sections {
    fn thread(&mut self, thread: u64) -> &mut Thread {
        let thread = thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// A thread has got a lock.
    pub(super) fn acquired(&mut self, thread: u64, lock: u64, mode: Mode) {
        self.thread(thread).acquired(lock, mode);
    }

    /// A thread gives a lock back; how it held it, if it did.
    pub(super) fn released(&mut self, thread: u64, lock: u64) -> Option<Mode> {
        self.thread(thread).released(lock)
    }

    /// The next record of a thread: what it did to locks before the record, and what becomes of the record.
    pub(super) fn record(
        &mut self,
        thread: u64,
        record: &Record,
        naming: &mut Naming,
        steps: &mut Vec<Step>,
    ) -> Fate {
        let thread = self.thread(thread);
        match record.tag {
            Tag::Enter => thread.enter(record.words[0], record.words[1], naming, steps),
            Tag::Exit => thread.exit(steps),
            Tag::Begin => Fate::Keep,
            Tag::End => {
                thread.leave_from(0, steps);
                Fate::Keep
            }
            _ => thread.act(record, naming, steps),
        }
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
        if site.users {
            return site.loc;
        }
        self.thread(thread).calls.last().and_then(|call| call.user).unwrap_or(site.loc)
    }
}

impl Thread {
    fn acquired(&mut self, lock: u64, mode: Mode) {
        self.held.entry(lock).or_insert((mode, 0)).1 += 1;
    }

    fn released(&mut self, lock: u64) -> Option<Mode> {
        let (mode, depth) = self.held.get_mut(&lock)?;
        let held = *mode;
        *depth -= 1;
        if *depth == 0 {
            self.held.remove(&lock);
        }
        Some(held)
    }

    fn user(&self, site: &Site) -> Option<LocId> {
        if site.users { Some(site.loc) } else { self.calls.last().and_then(|call| call.user) }
    }

    fn krate(&self, site: &Site) -> StrId {
        site.krate.unwrap_or_else(|| self.calls.last().map_or(StrId::EMPTY, |call| call.krate))
    }

    fn enter(&mut self, call: u64, callee: u64, naming: &mut Naming, steps: &mut Vec<Step>) -> Fate {
        let site = naming.site(call);
        self.leave_outside(&site, call, None, steps);
        self.begin_inlined(&site, call);
        let silent = self.is_hidden();
        let (user, krate) = (self.user(&site), self.krate(&site));
        let function = naming.site(callee);
        let depth = self.calls.len();
        self.calls.push(Call { function: function.function, user, krate, silent });
        if let Some((role, krate)) = function.entry
            && self.may_begin()
        {
            self.begin(role, depth, None, krate, user.unwrap_or(site.loc), callee);
        }
        if silent { Fate::Drop } else { Fate::Keep }
    }

    /// Before the call is popped, which is up to the caller of [`Sections::pop`].
    fn exit(&mut self, steps: &mut Vec<Step>) -> Fate {
        let depth = self.calls.len();
        let ended = self.operations.iter().position(|operation| {
            let own = operation.instance.is_none();
            if own { operation.depth + 1 >= depth } else { operation.depth >= depth }
        });
        if let Some(first) = ended {
            self.leave_from(first, steps);
        }
        if self.calls.last().is_some_and(|call| call.silent) { Fate::Drop } else { Fate::Keep }
    }

    fn act(&mut self, record: &Record, naming: &mut Naming, steps: &mut Vec<Step>) -> Fate {
        let [pc, addr, ..] = record.words;
        let site = naming.site(pc);
        let is_atomic = matches!(record.tag, Tag::Load | Tag::Store | Tag::Rmw) && addr < SYNC_SPACE;
        self.leave_outside(&site, pc, is_atomic.then_some(addr), steps);
        self.begin_inlined(&site, pc);
        if self.operations.is_empty() {
            return Fate::Keep;
        }
        let krate = self.krate(&site);
        if is_atomic {
            self.identify(addr, krate, steps);
        }
        let Some(operation) = self.operations.last_mut() else { return Fate::Keep };
        if operation.transparent {
            return Fate::Keep;
        }
        if operation.lock == Some(addr) && record.tag == Tag::Rmw {
            operation.changed |= record.words[2] != record.words[3];
        }
        match record.tag {
            Tag::Alloc | Tag::Free | Tag::Fork | Tag::Join => Fate::Keep,
            _ if operation.role == Role::Foreign => {
                if is_atomic {
                    Fate::Move
                } else {
                    Fate::Keep
                }
            }
            _ => Fate::Drop,
        }
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
                self.begin(inlined.role, depth, Some(inlined.instance), inlined.krate, loc, pc);
            }
        }
    }

    fn begin(&mut self, role: Role, depth: usize, instance: Option<u64>, krate: StrId, loc: LocId, pc: u64) {
        self.operations.push(Operation {
            role,
            depth,
            instance,
            krate,
            loc,
            first_pc: pc,
            lock: None,
            changed: false,
            transparent: false,
            given_back: None,
        });
    }

    /// The first atomic of the lock's own crate is the lock.
    fn identify(&mut self, addr: u64, krate: StrId, steps: &mut Vec<Step>) {
        let Some((operation, outer)) = self.operations.split_last_mut() else { return };
        if operation.lock.is_some() || operation.krate != krate || operation.transparent {
            return;
        }
        operation.lock = Some(addr);
        let mut step = |action, addr| steps.push(Step { action, addr, loc: operation.loc });
        match operation.role {
            Role::Lock(mode) => step(Action::Request(mode), addr),
            Role::NotifyOne | Role::NotifyAll => {
                step(Action::Notify { all: operation.role == Role::NotifyAll }, addr);
            }
            Role::Unlock => {
                let Some(&(mode, _)) = self.held.get(&addr) else {
                    // Taken in a way that was not seen: then this is the atomic operation it is.
                    operation.transparent = true;
                    return;
                };
                step(Action::Release(mode), addr);
                if let Some(wait) = outer.last_mut() {
                    wait.given_back = Some(addr);
                    if let Some(condition) = wait.lock {
                        step(Action::Wait, condition);
                    }
                }
                self.released(addr);
            }
            Role::TryLock(_) | Role::Change(_) | Role::Wait | Role::Foreign => {}
        }
    }

    /// Leaves the operations that a record at this site is not within.
    fn leave_outside(&mut self, site: &Site, pc: u64, atomic: Option<u64>, steps: &mut Vec<Step>) {
        let depth = self.calls.len();
        let left = self.operations.iter().position(|operation| {
            if depth > operation.depth {
                return false;
            }
            let inlined = site.roles.iter().any(|inlined| Some(inlined.instance) == operation.instance);
            // The same place once more: a loop within the operation, or the next operation of the program's own loop.
            let again = operation.first_pc == pc
                && operation.lock.is_some()
                && atomic.is_some_and(|addr| operation.lock != Some(addr) || operation.changed);
            depth < operation.depth || !inlined || again
        });
        if let Some(first) = left {
            self.leave_from(first, steps);
        }
    }

    fn leave_from(&mut self, first: usize, steps: &mut Vec<Step>) {
        while self.operations.len() > first {
            if let Some(operation) = self.operations.pop() {
                self.left(&operation, steps);
            }
        }
    }

    fn left(&mut self, operation: &Operation, steps: &mut Vec<Step>) {
        let mut step = |action, addr| steps.push(Step { action, addr, loc: operation.loc });
        let Some(lock) = operation.lock.or(operation.given_back) else { return };
        match operation.role {
            Role::Lock(mode) => {
                step(Action::Acquire { mode, tried: false }, lock);
                self.acquired(lock, mode);
            }
            Role::TryLock(mode) if operation.changed => {
                step(Action::Acquire { mode, tried: true }, lock);
                self.acquired(lock, mode);
            }
            Role::Change(mode) => {
                if let Some(held) = self.released(lock) {
                    step(Action::Release(held), lock);
                    step(Action::Acquire { mode, tried: true }, lock);
                    self.acquired(lock, mode);
                }
            }
            Role::Wait => {
                if let Some(lock) = operation.given_back.filter(|lock| !self.held.contains_key(lock)) {
                    step(Action::Request(Mode::Exclusive), lock);
                    step(Action::Acquire { mode: Mode::Exclusive, tried: false }, lock);
                    self.acquired(lock, Mode::Exclusive);
                }
            }
            _ => {}
        }
    }
}
