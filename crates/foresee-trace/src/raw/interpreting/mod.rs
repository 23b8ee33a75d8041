//! Interpreting: from the records of all threads, in the observed order, to events.
//!
//! Most records are one event each ([`operations`]); what is known beside decides which:
//!
//! | module | knows |
//! |---|---|
//! | [`naming`] | what is at an address: threads, locks, code, data |
//! | [`locks`] | which atomics are operations on locks |
//! | [`attempts`] | which attempts to take a lock failed, and because of whom |
//! | [`atomic_values`], [`plain_values`] | which values the recorded operations explain |
//! | [`annotations`] | what the program says itself |
//! | [`blind`] | where threads ran code that records nothing |
//! | [`orders`] | the part of that which may have ordered threads |
//! | [`branches`] | where control flow depended on what a thread has read |
//! | [`unseen_starts`] | which threads nobody was seen to start |
//! | [`plain_memory`] | which memory none of these has anything to say about |
//!
//! Nearly all records of most programs are accesses of which none of these has anything to say, and take a short way ([`usual`]).

mod annotations;
mod atomic_values;
mod attempts;
mod blind;
mod branches;
mod locks;
mod naming;
mod operations;
mod orders;
mod parked;
mod plain_memory;
mod plain_values;
mod quirks;
mod semaphores;
mod unseen_starts;
mod usual;

use std::rc::Rc;

use foresee_format::{
    AGAIN, AS_HELD, MAX_THREADS, OF_STREAM, ON_BEHALF, PLACE_OF, SHARED_MEMORY, SYNC_SPACE, SemaphoreStep,
    TIMED, Tag,
};
use rustc_hash::FxHashMap;

pub use self::attempts::is_lock_state;

use self::annotations::Annotations;
use self::atomic_values::{AtomicValues, Memory};
use self::attempts::{Attempts, Failure, Holder};
use self::blind::{BlindWalk, Ran};
use self::branches::Branches;
use self::locks::{LockAction, LockEvent, LockRecogniser, Meaning, ThreadState};
use self::naming::{CallSite, Naming};
use self::operations::{mode, of_atomic, of_memory};
use self::parked::Parked;
use self::plain_values::PlainValues;
use self::semaphores::{Meant, Semaphores};
use self::unseen_starts::{Beginning, UnseenStarts, hand_over_among, hand_over_to};
pub(crate) use self::usual::Usual;
use super::lock_table::LockTable;
use super::merging::{Lookahead, Record};
use super::symbols::{Origin, Symbolizer};
use crate::event::{Arg, Event, Mem, Mode, Op, Order};
use crate::ids::{LocId, LockId, ThreadId};
use crate::names::Names;
use crate::source::Facts;

/// What is known of the run so far.
pub(crate) struct Interpreter {
    naming: Naming,
    locks: LockRecogniser,
    /// The lock events of the current record.
    lock_events: Vec<LockEvent>,
    /// The lock that each thread has asked for last, and how.
    requested: FxHashMap<u64, (u64, Mode)>,
    attempts: Attempts,
    atomic_values: AtomicValues,
    plain_values: PlainValues,
    annotations: Annotations,
    semaphores: Semaphores,
    /// What comes before the event of the current record: by which thread.
    before: Vec<(u64, Op<'static>)>,
    /// Whether the current record is of a semaphore that is a lock, and was not to be had.
    is_refused: bool,
    parked: Parked,
    branches: Branches,
    blind: BlindWalk,
    starts: UnseenStarts,
    /// Threads that are forgotten.
    gone: Vec<ThreadId>,
    lines: KnownLines,
    /// Whether the program had memory at two addresses.
    has_aliases: bool,
    #[cfg(test)]
    is_long: bool,
}

/// Whether the lines of accesses are known.
#[derive(Default)]
struct KnownLines {
    /// How many sites there are with accesses.
    sites: u64,
    /// How many of them have no known line.
    unknown: u64,
}

impl Interpreter {
    /// The symbolizer finds the names of addresses, the table says which functions are operations on locks.
    pub(crate) fn new(symbolizer: Box<dyn Symbolizer>, table: LockTable) -> Interpreter {
        Interpreter {
            naming: Naming::new(symbolizer, table),
            locks: LockRecogniser::default(),
            lock_events: Vec::new(),
            requested: FxHashMap::default(),
            attempts: Attempts::default(),
            atomic_values: AtomicValues::default(),
            plain_values: PlainValues::default(),
            annotations: Annotations::default(),
            semaphores: Semaphores::default(),
            before: Vec::new(),
            is_refused: false,
            parked: Parked::default(),
            branches: Branches::default(),
            blind: BlindWalk::default(),
            starts: UnseenStarts::default(),
            gone: Vec::new(),
            lines: KnownLines::default(),
            has_aliases: false,
            #[cfg(test)]
            is_long: false,
        }
    }

    /// From now on, nothing is taken for usual.
    #[cfg(test)]
    pub(crate) fn take_the_long_way(&mut self) {
        self.is_long = true;
    }

    /// What is the same for all usual records of a thread that come next: accesses and calls of which nothing is to be asked but where they are.
    #[inline]
    pub(crate) fn usual(&mut self, number: u64) -> Option<Usual<'_>> {
        #[cfg(test)]
        if self.is_long {
            return None;
        }
        let thread = self.naming.known_thread(number)?;
        let state = self.locks.apart(number)?;
        let walk = self.blind.thread(number)?;
        let (naming, atomics) = (&self.naming, &self.atomic_values);
        (!self.branches.are_recorded).then_some(Usual { thread, state, walk, naming, atomics })
    }

    /// Adds the events of a record of a thread to `events`: none, or it and what it says about locks. `ahead` is what the thread does
    /// after it, `next` the first record of that, as far as it is decoded.
    pub(crate) fn record(
        &mut self,
        thread: u64,
        record: &Record,
        ahead: Lookahead<'_>,
        next: Option<&Record>,
        events: &mut Vec<Event<'static>>,
    ) {
        let id = self.naming.thread(thread);
        let site = self.site_of(record);
        let site = site.as_deref();
        let Ran { blind, is_reported } = self.blind.record(thread, record, site, &mut self.naming);
        let blind = blind.map(|(code, orders)| Op::Blind { code, orders });
        events.extend(blind.filter(|_| !is_reported).map(|op| Event { thread: id, loc: LocId::UNKNOWN, op }));
        let first = events.len();
        let mut lock_events = std::mem::take(&mut self.lock_events);
        let meaning = self.locks.record(thread, record, site, ahead, &mut self.naming, &mut lock_events);
        if self.branches.are_recorded {
            let locks = lock_events.iter().map(|event| event.addr);
            let branch = self.branches.before(thread, record, locks, &mut self.naming);
            events.extend(branch.map(|loc| Event { thread: id, loc, op: Op::Branch }));
        }
        for event in lock_events.drain(..) {
            if let LockAction::Fail { held_by, .. } = event.action {
                let lock = self.naming.lock_of(event.addr, event.lock_type);
                self.fail(Failure { thread, lock, loc: event.loc, held_by, is_again: false }, events);
            }
            let Some(op) = self.lock_operation(event) else { continue };
            let by = self.naming.thread(event.thread);
            self.attempts.deliver(Event { thread: by, loc: event.loc, op }, events);
            // A lock may be known to be held only after blind code has run under it.
            let again = blind.filter(|_| by == id && matches!(op, Op::Acquire { .. }));
            events.extend(again.map(|op| Event { thread: id, loc: LocId::UNKNOWN, op }));
        }
        self.lock_events = lock_events;
        let unexplained = self.atomic_values.unexplained;
        if let Some((loc, op)) = self.event(thread, record, site, meaning) {
            if record.tag == Tag::Semaphore
                && let Some(step) = SemaphoreStep::from_number(record.detail & !AGAIN)
            {
                self.semaphores.was_at(step, record.words[1], loc);
            }
            for (by, op) in std::mem::take(&mut self.before) {
                let thread = self.naming.thread(by);
                self.attempts.deliver(Event { thread, loc, op }, events);
            }
            if self.atomic_values.unexplained > unexplained {
                let unseen = self.blind.read_unseen(thread, &mut self.naming);
                let unseen = unseen.map(|(code, orders)| Op::Blind { code, orders });
                events.extend(unseen.map(|op| Event { thread: id, loc, op }));
            }
            self.attempts.deliver(Event { thread: id, loc, op }, events);
            if let Op::Store { mem, .. } | Op::Rmw { mem, .. } = op
                && self.naming.has_shared_memory()
                && self.naming.memory(mem) == Memory::Foreign
            {
                let others = self.blind.wrote_for_others(thread, &mut self.naming);
                let others = others.map(|(code, orders)| Op::Blind { code, orders });
                events.extend(others.map(|op| Event { thread: id, loc, op }));
            }
            let branches = &mut self.branches;
            if branches.are_recorded && branches.after(thread, loc, &op, record.words[0], &mut self.naming) {
                events.push(Event { thread: id, loc, op: Op::Branch });
            }
        }
        if record.tag == Tag::Exit {
            self.locks.pop(thread);
        }
        let is_refused = std::mem::take(&mut self.is_refused) || record.tag == Tag::Failed;
        if let (true, Meaning::Event, Some(site)) = (is_refused, meaning, site) {
            let (addr, mode) = (record.words[1], mode(record));
            let waits = |(&who, &(lock, _)): (&u64, &(u64, Mode))| {
                (lock == addr && who != thread).then_some(Holder::Likely(who))
            };
            let held_by = self.locks.holder(thread, addr, mode).map(Holder::Seen);
            let held_by = held_by.or_else(|| self.requested.iter().find_map(waits));
            let (lock, loc) = (self.naming.lock(addr), self.locks.place(thread, site));
            let is_again = record.detail & AGAIN != 0;
            self.fail(Failure { thread, lock, loc, held_by, is_again }, events);
        }
        let synchronises =
            |event: &Event<'_>| !matches!(event.op, Op::Blind { .. }) && synchronises(&event.op);
        if events[first..].iter().any(synchronises) {
            self.blind.synchronised(thread);
        }
        if let Some(Beginning { present, ended }) = self.starts.record(thread, record, next) {
            for one in present.into_iter().chain([thread]) {
                let id = self.naming.thread(one);
                events.push(Event { thread: id, loc: LocId::UNKNOWN, op: hand_over_to(thread) });
            }
            let joins = ended.into_iter().map(|one| Op::Join { child: self.naming.thread(one) });
            for op in joins.chain([hand_over_among()]).collect::<Vec<_>>() {
                events.push(Event { thread: id, loc: LocId::UNKNOWN, op });
            }
            // It is there because of that.
            let branch = Event { thread: id, loc: LocId::UNKNOWN, op: Op::Branch };
            events.extend(self.branches.are_recorded.then_some(branch));
        }
        self.let_go(record, thread);
    }

    /// Forgets what nobody will ask for any more: what a thread was doing, when it has ended, and who it was, when nobody can join it any more.
    fn let_go(&mut self, record: &Record, thread: u64) {
        if record.tag == Tag::End {
            self.blind.end(thread);
            self.branches.end(thread);
            self.annotations.end(thread);
            self.attempts.end(thread);
            self.requested.remove(&thread);
        }
        // Of one that has left a lock, whoever wants to have that speaks.
        let gone = self.starts.take_gone().filter(|&gone| !self.locks.has(gone));
        self.gone.extend(gone.and_then(|gone| self.naming.let_go(gone)));
    }

    /// From now on, threads that have gone are forgotten, and [`take_gone`](Interpreter::take_gone) has to be asked for them. Before any record.
    pub(crate) fn forget_threads(&mut self) {
        self.naming.forget_threads();
        self.starts.forget_threads();
    }

    /// The threads that were forgotten since the last call: no event of a later record speaks of them.
    pub(crate) fn take_gone(&mut self) -> Vec<ThreadId> {
        std::mem::take(&mut self.gone)
    }

    /// Where a record was made, if it was made somewhere in the program.
    fn site_of(&mut self, record: &Record) -> Option<Rc<CallSite>> {
        match record.tag {
            Tag::Begin | Tag::End | Tag::Exit | Tag::Frame | Tag::Text | Tag::Arg | Tag::Branch => None,
            // The thread is between two functions: what it has run of either is known at its next record.
            Tag::Call => None,
            _ => Some(self.naming.site(record.words[0])),
        }
    }

    /// A thread tried to take a lock and did not get it: what it does next depends on that.
    fn fail(&mut self, failure: Failure, events: &mut Vec<Event<'static>>) {
        let Failure { thread, loc, .. } = failure;
        if self.attempts.fail(failure, &mut self.naming, events) && self.branches.are_recorded {
            let thread = self.naming.thread(thread);
            events.push(Event { thread, loc, op: Op::Branch });
        }
    }

    /// What was done to a lock, but for failing to get it.
    fn lock_operation(&mut self, event: LockEvent) -> Option<Op<'static>> {
        if event.action == LockAction::Unknown {
            let (code, orders) = self.naming.lock_before();
            return Some(Op::Blind { code, orders });
        }
        let mut lock = || {
            let lock = self.naming.lock_of(event.addr, event.lock_type);
            if event.is_gate { self.naming.gate(lock) } else { lock }
        };
        Some(match event.action {
            LockAction::Request(mode) => Op::Request { lock: lock(), mode },
            LockAction::Acquire { mode, tried } => Op::Acquire { lock: lock(), mode, tried },
            LockAction::Release(mode) => Op::Release { lock: lock(), mode },
            // Whether it is until some time is not known.
            LockAction::Wait => Op::Wait { cond: lock(), timed: true },
            LockAction::Notify { all } => Op::Notify { cond: lock(), all },
            LockAction::Synchronise(word) => self.synchronise(word),
            LockAction::Fail { .. } | LockAction::Unknown => return None,
        })
    }

    /// A word gets all that a thread has done, and the thread sees all that it has got. Its value is not known then.
    fn synchronise(&mut self, word: Mem) -> Op<'static> {
        self.naming.touch(word);
        let op = Op::Rmw { mem: word, order: Order::AcqRel, values: None };
        self.atomic_values.explained(op, |_| Memory::Reused)
    }

    /// The event of a record itself, and where it is; `None` for one that says nothing an event can.
    fn event(
        &mut self,
        thread: u64,
        record: &Record,
        site: Option<&CallSite>,
        meaning: Meaning,
    ) -> Option<(LocId, Op<'static>)> {
        let addr = match meaning {
            Meaning::Nothing => return None,
            Meaning::Event => record.words[1],
            Meaning::EventApart => record.words[1] | SYNC_SPACE,
        };
        if site.is_some_and(|site| is_within_library(record, site)) {
            return None;
        }
        let op = self.operation(thread, record, addr)?;
        let Some(site) = site else {
            let loc =
                if record.tag == Tag::Call { self.naming.site(record.words[0]).loc } else { LocId::UNKNOWN };
            return Some((loc, op));
        };
        self.lines.count(&op, site);
        if let Some(mem) = op.mem() {
            self.touch(&op, mem, site, record)?;
        }
        let loc = if record.tag == Tag::Enter { site.loc } else { self.locks.place(thread, site) };
        let op = match op {
            // Who sees that all others have left a channel relies on what they did before, and the channels' own code does not say so.
            Op::Load { mem, order: Order::Relaxed, value } if self.locks.is_in_channel(thread, site) => {
                Op::Load { mem, order: Order::Acquire, value }
            }
            op => op,
        };
        match meaning {
            Meaning::EventApart if record.tag == Tag::Rmw => self.parked.unparked(addr),
            _ if addr >= SYNC_SPACE => self.parked.synchronises(record.tag, &op),
            _ => {}
        }
        let op = site.quirk.map_or(op, |quirk| quirk.meant(op, |mem, names| self.naming.is_in(mem, names)));
        let op = self.atomic_values.explained(op, |mem| self.naming.memory(mem));
        let op = self.plain_values.explained(op);
        match op {
            Op::Read { mem, value: Some(_) }
            | Op::Write { mem, value: Some(_) }
            | Op::Store { mem, .. }
            | Op::Rmw { mem, .. } => self.naming.plain_memory.mark(mem),
            // What it is at first is kept.
            Op::Load { mem, .. } if self.naming.memory(mem) != Memory::Reused => {
                self.naming.plain_memory.mark(mem);
            }
            _ => {}
        }
        Some((loc, op))
    }

    /// What a record says was done, at this address.
    fn operation(&mut self, thread: u64, record: &Record, addr: u64) -> Option<Op<'static>> {
        match record.tag {
            Tag::Read | Tag::Write | Tag::ReadRange | Tag::WriteRange | Tag::Alloc | Tag::Free => {
                of_memory(record, addr)
            }
            Tag::Load | Tag::Store | Tag::Rmw | Tag::Fence => of_atomic(record, addr),
            Tag::Request | Tag::Acquire | Tag::Release => self.seen_lock(thread, record, addr),
            Tag::Wait => Some(Op::Wait { cond: self.naming.lock(addr), timed: record.detail & TIMED != 0 }),
            Tag::Notify => Some(Op::Notify { cond: self.naming.lock(addr), all: record.detail != 0 }),
            Tag::Fork => Some(Op::Fork { child: self.other_thread(addr)? }),
            Tag::Join => Some(Op::Join { child: self.other_thread(addr)? }),
            Tag::Await => Some(Op::Await { child: self.other_thread(addr)? }),
            Tag::Semaphore => self.semaphore(thread, record, addr),
            Tag::Blocked => self.parked.parks(addr).inspect(|_| self.naming.touch(Mem { addr, size: 4 })),
            Tag::Begin => Some(Op::ThreadBegin),
            Tag::End => Some(Op::ThreadEnd),
            Tag::Enter => Some(Op::Enter { function: self.locks.function(thread)? }),
            // A function left that was never entered: the trace begins within it.
            Tag::Exit => Some(Op::Exit { function: self.locks.function(thread)? }),
            Tag::Text
            | Tag::Arg
            | Tag::Named
            | Tag::Call
            | Tag::Operation
            | Tag::Local
            | Tag::BlockBegin
            | Tag::BlockEnd
            | Tag::NameLock
            | Tag::NameVariable
            | Tag::ReadValue
            | Tag::WriteValue
            | Tag::Frame => self.annotations.interpret(&mut self.naming, thread, record),
            // Branches come before what depends on them, and so does blind code.
            Tag::Branch | Tag::Unseen => None,
            // It says only what will not happen.
            Tag::Detach => None,
            // What attempts say is said of two threads.
            Tag::Failed => None,
            Tag::Alias => {
                self.has_aliases = true;
                None
            }
            // Streams give these as what they say.
            Tag::ReadAt
            | Tag::WriteAt
            | Tag::ReadRangeAt
            | Tag::WriteRangeAt
            | Tag::EnterAt
            | Tag::NearRead
            | Tag::NearWrite
            | Tag::NearEnter
            | Tag::NearExit
            | Tag::NearLoad
            | Tag::NearStore
            | Tag::NearRmw
            | Tag::NearBranch
            | Tag::ReadSeen
            | Tag::NearReadSeen
            | Tag::CallAlone
            | Tag::CallWith1
            | Tag::CallWith2
            | Tag::CallWith3
            | Tag::Now => None,
            // It says something of values only.
            Tag::Changed => None,
        }
    }

    /// What the runtime has seen a thread do to a lock.
    fn seen_lock(&mut self, thread: u64, record: &Record, addr: u64) -> Option<Op<'static>> {
        if self.locks.is_demoted(addr) {
            // The futex of a mutex of Rust's library.
            let word = Mem { addr, size: 4 };
            return (record.tag != Tag::Request).then(|| self.synchronise(word));
        }
        let (lock, mode) = (self.naming.lock(addr), mode(record));
        Some(match record.tag {
            Tag::Request => self.requests(thread, addr, lock, mode),
            Tag::Acquire => self.acquires(thread, addr, lock, mode),
            _ => {
                // Unlocking a reader-writer lock does not say how it was held.
                let held = self.locks.released(thread, addr).filter(|_| record.detail == AS_HELD);
                Op::Release { lock, mode: held.unwrap_or(mode) }
            }
        })
    }

    /// A thread is about to wait for a lock.
    fn requests(&mut self, thread: u64, addr: u64, lock: LockId, mode: Mode) -> Op<'static> {
        self.requested.insert(thread, (addr, mode));
        Op::Request { lock, mode }
    }

    /// A thread has got a lock. The runtime notes a request wherever it would have waited.
    fn acquires(&mut self, thread: u64, addr: u64, lock: LockId, mode: Mode) -> Op<'static> {
        self.locks.acquired(thread, addr, mode);
        let tried = self.requested.remove(&thread).is_none_or(|(asked, _)| asked != addr);
        Op::Acquire { lock, mode, tried }
    }

    /// What was done to a semaphore.
    fn semaphore(&mut self, thread: u64, record: &Record, addr: u64) -> Option<Op<'static>> {
        let step = SemaphoreStep::from_number(record.detail & !AGAIN)?;
        let mode = Mode::Exclusive;
        Some(match self.semaphores.step(thread, step, addr, record.words[2]) {
            Meant::Nothing => return None,
            Meant::Request => {
                let lock = self.naming.lock(addr);
                self.requests(thread, addr, lock, mode)
            }
            Meant::Acquire => {
                let lock = self.naming.lock(addr);
                self.acquires(thread, addr, lock, mode)
            }
            Meant::Release => {
                self.locks.released(thread, addr);
                Op::Release { lock: self.naming.lock(addr), mode }
            }
            Meant::Fail => {
                self.is_refused = true;
                return None;
            }
            Meant::Demote { holder, op } => {
                let lock = self.naming.lock(addr);
                if let Some(holder) = holder {
                    self.locks.released(holder, addr);
                    self.before.push((holder, Op::Release { lock, mode }));
                }
                self.before.extend(semaphores::demoted(lock, addr).map(|op| (thread, op)));
                self.locks.demote_other(lock);
                op
            }
            Meant::Event(op) => {
                if let Op::Blocked { mem } = op {
                    self.naming.touch(mem);
                }
                op
            }
        })
    }

    fn other_thread(&mut self, number: u64) -> Option<ThreadId> {
        (number < MAX_THREADS).then(|| self.naming.thread(number))
    }

    /// Learns what an operation on this memory says about what is there, and whether others have it; `None` if it is no event.
    fn touch(&mut self, op: &Op<'_>, mem: Mem, site: &CallSite, record: &Record) -> Option<()> {
        let is_unseen = match op {
            Op::Read { .. } | Op::Write { .. } => match site.origin {
                Origin::Program => false,
                Origin::Container => !is_on_behalf(record),
                Origin::Foreign => true,
            },
            // (It may be the last owner, by what it has counted unseen.)
            Op::Free { .. } => site.origin != Origin::Program,
            _ => false,
        };
        if mem.size == 0 || mem.end() > 1 << 64 || is_unseen {
            return None;
        }
        match op {
            Op::Alloc { .. } => {
                self.renew(mem, true);
                let is_shared = record.tag == Tag::Alloc && record.detail == SHARED_MEMORY;
                self.naming.set_shared(mem, is_shared);
            }
            Op::Free { .. } => {}
            Op::Read { .. } | Op::Write { .. } | Op::Load { .. } if self.naming.is_plain(mem) => {}
            Op::Write { .. } => {
                self.renew(mem, false);
                self.naming.touch(mem);
            }
            _ => self.naming.touch(mem),
        }
        let is_event = !self.naming.is_counter(mem);
        if is_event && matches!(op, Op::Read { .. } | Op::Write { .. }) {
            self.naming.plain_memory.was_asked(mem);
        }
        is_event.then_some(())
    }

    /// Memory is given out anew, or written as no lock is while it is one: a lock that is there now is another than before. One that
    /// is held is not written like this, but it may have been leaked and its memory freed.
    fn renew(&mut self, mem: Mem, is_given_out: bool) {
        let mut from = mem.addr;
        while let Some(lock) = self.naming.lock_in(from, mem) {
            if is_given_out || !self.locks.is_held(lock) {
                self.locks.forget(lock);
                self.naming.forget_lock(lock);
            }
            from = lock + 1;
        }
    }

    /// Whether a thread left something to be done as it ends, which orders threads.
    pub(crate) fn leaves_orders(&self) -> bool {
        self.blind.leaves_orders()
    }

    /// Whether a thread that nobody was seen to start comes after others that are forgotten.
    pub(crate) fn begins_after_forgotten(&self) -> bool {
        self.starts.begins_after_forgotten()
    }

    /// Whether the program had memory at two addresses, which is two in the trace.
    pub(crate) fn has_aliases(&self) -> bool {
        self.has_aliases
    }

    /// Files are mapped as this copy of `/proc/self/maps` says, from now on.
    pub(crate) fn remap(&mut self, maps: &str) {
        self.naming.remap(maps);
        self.blind.remap();
    }

    /// What the file's header and facts say: what threads and parts of variables are called, and whether the program records its branches.
    pub(crate) fn learn(&mut self, thread_names: &[u8], has_branches: bool, facts: &Facts) {
        self.naming.set_thread_names(thread_names);
        self.branches.are_recorded = has_branches;
        for (name, place) in facts {
            if let (Some(part), Some(mem)) = (name.strip_prefix(PLACE_OF), place_of(place)) {
                self.naming.name_part(mem, part);
            }
        }
    }

    /// What hooks record, by their numbers.
    pub(crate) fn learn_calls(&mut self, calls: &[[String; 2]]) {
        self.annotations.learn_calls(&mut self.naming, calls);
    }

    /// From now on, finds out what threads must have held at the beginning.
    pub(crate) fn survey(&mut self) {
        self.locks = LockRecogniser::surveying();
    }

    /// What a survey found out, with the key from which on all is known; and the symbolizer, with all it has read.
    pub(crate) fn surveyed(self) -> (LockRecogniser, u64, Box<dyn Symbolizer>) {
        let (locks, clear) = self.locks.surveyed();
        (locks, clear, self.naming.into_symbolizer())
    }

    /// Begins with what a survey found out.
    pub(crate) fn set_locks(&mut self, locks: LockRecogniser) {
        self.locks = locks;
    }

    /// The trace begins here: adds what these threads are doing to `events`, before anything else; each with whether it goes on.
    pub(crate) fn begin(&mut self, threads: &[(u64, bool)], events: &mut Vec<Event<'static>>) {
        self.atomic_values = AtomicValues::default();
        self.plain_values = PlainValues::default();
        self.annotations.forget_blocks();
        for &(thread, goes_on) in threads {
            let ThreadState { calls, held, gates, waits_for } = self.locks.state(thread);
            let waits_for = waits_for.or(self.requested.get(&thread).copied());
            if !goes_on && held.is_empty() && waits_for.is_none() {
                continue;
            }
            let thread = self.naming.thread(thread);
            for (function, call) in calls {
                let loc = self.naming.site(call).loc;
                events.push(Event { thread, loc, op: Op::Enter { function } });
            }
            let mut holds: Vec<(LockId, Mode)> =
                held.into_iter().map(|(lock, mode)| (self.naming.lock(lock), mode)).collect();
            for lock in gates {
                let lock = self.naming.lock(lock);
                holds.push((self.naming.gate(lock), Mode::Exclusive));
            }
            for (lock, mode) in holds {
                let op = Op::Acquire { lock, mode, tried: true };
                events.push(Event { thread, loc: LocId::UNKNOWN, op });
            }
            if let Some((lock, mode)) = waits_for {
                let op = Op::Request { lock: self.naming.lock(lock), mode };
                events.push(Event { thread, loc: LocId::UNKNOWN, op });
            }
        }
    }

    pub(crate) fn names(&self) -> &Names {
        &self.naming.names
    }

    /// The arguments of the named event that was interpreted last.
    pub(crate) fn args(&self) -> &[Arg] {
        self.annotations.args()
    }

    pub(crate) fn symbolizer(&self) -> &dyn Symbolizer {
        self.naming.symbolizer()
    }

    /// How many atomic operations read a value that no recorded write explains; their values are left out.
    pub(crate) fn unexplained(&self) -> u64 {
        self.atomic_values.unexplained
    }

    /// How many atomic operations on locks were not recognised as locking or unlocking.
    pub(crate) fn unrecognised(&self) -> u64 {
        self.locks.unrecognised()
    }

    /// How many attempts to take a lock failed although nobody was seen to hold it.
    pub(crate) fn unexplained_attempts(&self) -> u64 {
        self.attempts.unexplained()
    }

    /// The locks that turned out not to behave like locks.
    pub(crate) fn demoted_locks(&self) -> impl ExactSizeIterator<Item = &str> {
        self.locks.demoted().iter().map(|&lock| self.naming.names.lock_name(lock))
    }

    /// The semaphores that stay in the order of the run although they need not: what each is called, with how many it began, and where it was lowered first.
    pub(crate) fn semaphores_in_order(&self) -> impl Iterator<Item = (String, u64, String)> + '_ {
        let names = &self.naming.names;
        self.semaphores.in_order().map(|semaphore| {
            let at = semaphore.addr | SYNC_SPACE;
            let name = names.symbol_at(at).map_or("", |symbol| names.str(symbol.name));
            let name = name.strip_prefix("sync ").unwrap_or(name);
            let name = if name.is_empty() { format!("{:#x}", semaphore.addr) } else { name.to_owned() };
            (name, semaphore.began, names.location_text(semaphore.loc))
        })
    }

    /// Whether most sites of accesses have no known line: the program has no debug information.
    pub(crate) fn lacks_debug_info(&self) -> bool {
        2 * self.lines.unknown > self.lines.sites
    }
}

/// Whether an operation may have to do with what other threads do.
fn synchronises(op: &Op<'_>) -> bool {
    !matches!(
        op,
        Op::Read { .. }
            | Op::Write { .. }
            | Op::Enter { .. }
            | Op::Exit { .. }
            | Op::Arguments { .. }
            | Op::Result { .. }
            | Op::Alloc { .. }
            | Op::Free { .. }
            | Op::Branch
    )
}

/// Whether Rust's library accesses memory for who called it.
fn is_on_behalf(record: &Record) -> bool {
    matches!(record.tag, Tag::ReadRange | Tag::WriteRange) && record.detail == ON_BEHALF
}

/// Whether Rust's library takes the lock of a standard stream for itself: it gives it back unseen.
fn is_within_library(record: &Record, site: &CallSite) -> bool {
    matches!(record.tag, Tag::Request | Tag::Acquire)
        && record.detail == OF_STREAM
        && site.origin != Origin::Program
}

impl KnownLines {
    fn count(&mut self, op: &Op<'_>, site: &CallSite) {
        if op.access().is_some() && !site.is_counted.replace(true) {
            self.sites += 1;
            self.unknown += u64::from(!site.has_line);
        }
    }
}

/// The memory that `address:size` is.
fn place_of(text: &str) -> Option<Mem> {
    let (addr, size) = text.split_once(':')?;
    let mem = Mem { addr: u64::from_str_radix(addr, 16).ok()?, size: u32::from_str_radix(size, 16).ok()? };
    (mem.size > 0).then_some(mem)
}
