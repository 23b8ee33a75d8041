//! Where threads ran blind code: code whose accesses or orders are not in the trace.
//!
//! Each call of an instrumented function is at some position: where it made its last record. At its next record, the symbolizer
//! says what lies between the two in the function's code ([`Symbolizer::blind`](crate::raw::Symbolizer::blind)). A record that
//! was made by other code, which called a function that the runtime stands in front of, says by itself that blind code
//! is running, unless that is code of the system: then it is known by what the function calls.
//!
//! A call of such a function may make several records, all at the same return address: that it uses an object, asks for it, and has it. Nothing of the
//! caller runs between them, whatever loop the call may be in ([`Object`]).
//!
//! The runtime itself says where a function that it stands in front of does what it cannot record ([`Unseen`]).
//!
//! Blind code that has been reported matters again only when the thread has synchronised since; such that may order threads matters
//! each time, as what the thread did before it may be ordered by it.
//!
//! That is reported at both its ends ([`ahead`]).

mod ahead;

use std::cell::Cell;

use foresee_format::{SYNC_SPACE, Tag, Unseen};
use rustc_hash::FxHashMap;

use super::naming::{CallSite, Naming};
use crate::event::Mem;
use crate::ids::StrId;
use crate::raw::merging::Record;
use crate::raw::symbols::{Position, Recording};
use crate::thread_table::ThreadTable;

/// Whether code of the system that makes such a record has to be known by what calls it: it may do more than that between this and what else
/// synchronises, such as what a lock of its own is for. What it frees may have been shared by what it counts.
fn is_by_others(tag: Tag) -> bool {
    use Tag::{
        Acquire, Enter, Failed, Fence, Fork, Free, Join, Load, Notify, Release, Request, Rmw, Store, Wait,
    };
    matches!(
        tag,
        Acquire
            | Enter
            | Failed
            | Fence
            | Fork
            | Free
            | Join
            | Load
            | Notify
            | Release
            | Request
            | Rmw
            | Store
            | Wait
    )
}

/// In the name of what makes a future ready when its thread has ended.
const AT_EXIT: &str = "_State_baseV2::_Make_ready::";
/// What to call code that has written an atomic, and is known by nothing else.
const UNSEEN_WRITE: &str = "code that wrote an atomic";

/// What to call code of another process that has the same memory.
const OTHER_PROCESSES: &str = "another process with the same memory";

/// The calls that all threads are in.
#[derive(Default)]
pub(crate) struct BlindWalk {
    threads: ThreadTable<u64, Thread>,
    /// Whether a thread left something to be done as it ends, which orders threads by atomics of the library.
    leaves_orders: bool,
    /// What lies between positions.
    known: FxHashMap<(u64, Position), Option<Blind>>,
}

/// Blind code: its name, and whether it may order threads.
pub(crate) type Blind = (StrId, bool);

/// What one thread is in, innermost call last.
#[derive(Default)]
pub(crate) struct Thread {
    calls: Vec<Call>,
    /// Whether blind code has been reported since the thread synchronised last.
    is_reported: bool,
    /// Whether it has entered a function.
    has_entered: bool,
    /// Blind code that it has run and that may order threads.
    ordering: Option<StrId>,
    ahead: Ahead,
    used: Option<Object>,
}

/// An object that a thread was about to use when it made its last record, or one before in the same call of a function that the runtime stands in front of.
///
/// A call that uses an object whose life is recorded first reads a byte of it, each time: so what else is recorded of it there, without having moved, is of that call. A lock whose life
/// is not recorded is asked for first, and then had.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Object {
    pc: u64,
    addr: u64,
    is_asked_for: bool,
}

impl Object {
    fn of(record: &Record, is_asked_for: bool) -> Object {
        Object { pc: record.words[0], addr: record.words[1] & (SYNC_SPACE - 1), is_asked_for }
    }
}

/// Whether a thread runs code that may order threads before its next record.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Ahead {
    #[default]
    Nothing,
    /// It does, and that was reported at a record with this key.
    Orders(StrId, u64),
    /// It may, and that was reported at a record with this key: there was no next record then.
    MayOrder(u64),
}

impl Thread {
    /// Whether the thread has left all functions of the program after it ran code that may order threads.
    fn is_ending(&self) -> bool {
        self.calls.is_empty() && self.ordering.is_some()
    }

    /// Whether it may run code that orders threads before its next record.
    fn may_order(&self) -> bool {
        self.calls.last().is_none_or(|call| call.may_order)
    }
}

/// A call of a function, by the first address of the one that it is instrumented as (0 if as none), and where it is.
struct Call {
    function: u64,
    at: Cell<u64>,
    /// Whether the function has code that may order threads.
    may_order: bool,
}

/// What a thread does without blind code before, as far as that was found out, and without code after it that may order threads. The innermost call has none.
impl Thread {
    /// Whether a record at `pc`, the next one, is an access of that kind; then the thread is there now.
    #[inline]
    pub(crate) fn pass(&self, pc: u64, site: &CallSite) -> bool {
        if site.instrumented == 0 {
            return site.recording == Recording::System;
        }
        let Some(call) = self.calls.last() else { return false };
        let from = call.at.get();
        let [first, second] = &site.clear_from;
        let passes = call.function == site.instrumented && (first.get() == from || second.get() == from);
        if passes {
            call.at.set(pc);
        }
        passes
    }

    /// The same of a call at `pc` of the function that begins at `callee`; then the thread is in that now.
    #[inline]
    pub(crate) fn enter(&mut self, [pc, callee]: [u64; 2], site: &CallSite, function: &CallSite) -> bool {
        let Some(call) = self.calls.last() else { return false };
        let is_clear = site.instrumented != 0
            && call.function == site.instrumented
            && call.at.get() == site.entered_clear_from.get();
        let enters = is_clear && function.may_order.get() == Some(&false);
        if enters {
            call.at.set(pc);
            self.calls.push(Call {
                function: function.instrumented,
                at: Cell::new(callee),
                may_order: false,
            });
        }
        enters
    }

    /// The same of leaving the innermost function, from the site that `site` finds at an address; then the thread is in its caller now.
    #[inline]
    pub(crate) fn leave<'a>(&mut self, site: impl Fn(u64) -> Option<&'a CallSite>) -> bool {
        let [.., caller, call] = &self.calls[..] else { return false };
        let leaves = !caller.may_order && site(call.at.get()).is_some_and(|site| site.is_clear_to_end.get());
        if leaves {
            self.calls.pop();
        }
        leaves
    }

    /// The thread has read memory, at this place: it may be about to use what is there.
    #[inline]
    pub(crate) fn read(&mut self, pc: u64, mem: Mem) {
        if mem.size == 1 {
            self.used = Some(Object { pc, addr: mem.addr, is_asked_for: false });
        }
    }

    /// Whether a record is made in the same call of a function that the runtime stands in front of as the one before.
    fn goes_on(&self, record: &Record) -> bool {
        use Tag::{Acquire, Failed, Load, Notify, Release, Request, Rmw, Semaphore, Store, Wait};
        let is_first = || self.used == Some(Object::of(record, false));
        let is_of_it = match record.tag {
            Acquire | Failed => is_first() || self.used == Some(Object::of(record, true)),
            Load | Store | Rmw => record.words[1] >= SYNC_SPACE && is_first(),
            Request | Release | Wait | Notify | Semaphore => is_first(),
            _ => false,
        };
        is_of_it && self.calls.last().is_some_and(|call| call.at.get() == record.words[0])
    }

    /// What the thread is about to use after this record.
    fn use_of(&mut self, record: &Record) {
        match record.tag {
            Tag::Read => {
                self.read(record.words[0], Mem { addr: record.words[1], size: record.detail.into() })
            }
            Tag::Request => self.used = Some(Object::of(record, true)),
            Tag::Semaphore => {}
            Tag::Load | Tag::Store | Tag::Rmw if record.words[1] >= SYNC_SPACE => {}
            _ => self.used = None,
        }
    }

    /// The thread has synchronised: what it runs from now on counts again.
    #[inline]
    pub(crate) fn synchronised(&mut self) {
        self.is_reported = false;
    }
}

/// What a thread has run before a record.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ran {
    pub(crate) blind: Option<Blind>,
    /// Whether that was reported ahead.
    pub(crate) is_reported: bool,
}

impl BlindWalk {
    /// A thread that is in a call, unless it may run code that orders threads before the next record.
    #[inline]
    pub(crate) fn thread(&mut self, thread: u64) -> Option<&mut Thread> {
        self.threads.get_mut(thread).filter(|thread| !thread.may_order())
    }

    /// The blind code that a thread has run before this record, if that is to be reported. The record is at `site`, if it has one.
    pub(crate) fn record(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&CallSite>,
        naming: &mut Naming,
    ) -> Ran {
        let blind = self.before(number, record, site, naming);
        self.go_on(number, record, site, blind.is_none(), naming);
        let ahead = std::mem::take(&mut self.threads.entry(number).ahead);
        let is_reported = !matches!(ahead, Ahead::Nothing);
        match blind.filter(|&(_, orders)| orders && is_reported) {
            Some(_) => Ran { blind, is_reported },
            None => Ran { blind: self.reported(number, blind), is_reported: false },
        }
    }

    /// The same, while the thread is still where it was before.
    fn before(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&CallSite>,
        naming: &mut Naming,
    ) -> Option<Blind> {
        if self.threads.get(number).is_some_and(|thread| thread.goes_on(record)) {
            return None;
        }
        let pc = record.words[0];
        match (record.tag, site) {
            (Tag::Exit, _) => {
                let from = self.position(number);
                from.and_then(|from| self.between(from, Position::Exit, naming))
            }
            // What it has run may go on as it ends, in no function of the program: destructors, what a library has left to do.
            _ if self.threads.get(number).is_some_and(Thread::is_ending) => {
                self.threads.get(number).and_then(|thread| thread.ordering).map(|code| (code, true))
            }
            // Its caller runs, or is called back by, something that records nothing itself.
            (tag, Some(site)) if site.recording == Recording::System && is_by_others(tag) => {
                let call = self.position(number);
                let to = if tag == Tag::Enter { Position::CalledBack } else { Position::Within };
                let between = call.and_then(|from| self.between(from, to, naming));
                // What calls back need not be what the system called.
                let has_entered = self.threads.get(number).is_some_and(|thread| thread.has_entered);
                let is_called_back = tag == Tag::Enter && has_entered;
                let by_system = is_called_back.then(|| naming.called_by_system(false)).flatten();
                by_system.or(between)
            }
            (Tag::End, _) => naming.called_by_system(true),
            (Tag::Unseen, Some(site)) => {
                let before = self.come(number, record.tag, pc, site, naming).filter(|&(_, orders)| orders);
                before.or_else(|| {
                    let what = *Unseen::ALL.get(usize::from(record.detail))?;
                    Some((naming.intern(what.name()), what.orders()))
                })
            }
            (_, Some(site)) => self.come(number, record.tag, pc, site, naming),
            (_, None) => None,
        }
    }

    /// A thread comes to where its record is.
    fn go_on(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&CallSite>,
        is_clear: bool,
        naming: &mut Naming,
    ) {
        let (pc, callee) = (record.words[0], record.words[1]);
        let site = site.filter(|site| site.instrumented != 0);
        let thread = self.threads.entry(number);
        let is_clear = is_clear && !thread.goes_on(record);
        thread.use_of(record);
        let calls = &mut thread.calls;
        let call = calls.last();
        if let Some((site, call)) = site.zip(call).filter(|(site, call)| call.function == site.instrumented) {
            let from = call.at.replace(pc);
            match (is_clear, record.tag) {
                // What frees is called from few places.
                (false, _) | (true, Tag::Free) => {}
                (true, Tag::Enter) => site.entered_clear_from.set(from),
                (true, _) => {
                    let [first, second] = &site.clear_from;
                    second.set(first.replace(from));
                }
            }
        }
        match record.tag {
            Tag::Exit => {
                let left = calls.pop().filter(|_| is_clear);
                let left = left.and_then(|call| naming.known_site(call.at.get()));
                left.into_iter().for_each(|site| site.is_clear_to_end.set(true));
            }
            Tag::Enter => self.enter(number, callee, naming),
            Tag::Frame if calls.is_empty() => self.enter(number, callee, naming),
            Tag::End => *calls = Vec::new(),
            _ => {}
        }
    }

    /// Whether a thread left something to be done as it ends, which orders threads: whoever sees it done may do so by an atomic whose
    /// write nobody has recorded.
    pub(crate) fn leaves_orders(&self) -> bool {
        self.leaves_orders
    }

    /// Other code may be where some was.
    pub(crate) fn remap(&mut self) {
        self.known.clear();
    }

    /// A thread has read an atomic that was written by code that records nothing.
    pub(crate) fn read_unseen(&mut self, thread: u64, naming: &mut Naming) -> Option<Blind> {
        self.ordered_by(UNSEEN_WRITE, thread, naming)
    }

    /// A thread has written to memory that other processes have, too: what they do next may be seen by other threads.
    pub(crate) fn wrote_for_others(&mut self, thread: u64, naming: &mut Naming) -> Option<Blind> {
        self.ordered_by(OTHER_PROCESSES, thread, naming)
    }

    /// Code of this name, which records nothing, may order what a thread does at this moment.
    fn ordered_by(&mut self, name: &str, thread: u64, naming: &mut Naming) -> Option<Blind> {
        let code = naming.intern(name);
        self.reported(thread, Some((code, true)))
    }

    /// A thread has synchronised: what it runs from now on counts again.
    pub(crate) fn synchronised(&mut self, thread: u64) {
        self.threads.get_mut(thread).into_iter().for_each(Thread::synchronised);
    }

    /// A thread has ended.
    pub(crate) fn end(&mut self, thread: u64) {
        self.threads.remove(thread);
    }

    /// Where the innermost call of a thread is.
    fn position(&self, thread: u64) -> Option<u64> {
        self.threads.get(thread)?.calls.last().map(|call| call.at.get())
    }

    fn reported(&mut self, thread: u64, blind: Option<Blind>) -> Option<Blind> {
        let (code, orders) = blind?;
        let thread = self.threads.entry(thread);
        let is_known = std::mem::replace(&mut thread.is_reported, true);
        if orders {
            thread.ordering = Some(code);
        }
        (!is_known || orders).then_some((code, orders))
    }

    fn enter(&mut self, number: u64, callee: u64, naming: &mut Naming) {
        let function = naming.site(callee);
        let orders = || naming.blind(callee, Position::Anywhere).is_some_and(|(_, orders)| orders);
        let may_order = *function.may_order.get_or_init(orders);
        let thread = self.threads.entry(number);
        thread.has_entered = true;
        thread.calls.push(Call { function: function.instrumented, at: Cell::new(callee), may_order });
    }

    /// What is blind before a position in the innermost call of a thread, or where it makes a record from elsewhere.
    fn come(
        &mut self,
        number: u64,
        tag: Tag,
        pc: u64,
        site: &CallSite,
        naming: &mut Naming,
    ) -> Option<Blind> {
        if let Recording::Blind(blind) = &site.recording {
            return Some(naming.blind_code(blind));
        }
        if site.instrumented == 0 {
            return None;
        }
        let call = self.threads.get(number).and_then(|thread| thread.calls.last());
        let call = call.filter(|call| call.function == site.instrumented);
        let Some(call) = call else { return self.between(pc, Position::Anywhere, naming) };
        let to = match tag {
            Tag::Free => Position::FreedAt(pc),
            Tag::Enter => Position::EnteredAt(pc),
            _ => Position::At(pc),
        };
        self.between(call.at.get(), to, naming)
    }

    fn between(&mut self, from: u64, to: Position, naming: &mut Naming) -> Option<Blind> {
        let blind = *self.known.entry((from, to)).or_insert_with(|| naming.blind(from, to));
        self.leaves_orders |=
            blind.is_some_and(|(code, orders)| orders && naming.text(code).contains(AT_EXIT));
        blind
    }
}
