//! Where threads ran blind code: code whose accesses or orders are not in the trace.
//!
//! Each call of an instrumented function is at some position: where it made its last record. At its next record, the symbolizer
//! says what lies between the two in the function's code ([`Symbolizer::blind`](crate::raw::Symbolizer::blind)). A record that
//! was made by other code, which called a function that the runtime stands in front of, says by itself that blind code
//! is running, unless that is code of the system: then it is known by what the function calls.
//!
//! The runtime itself says where a function that it stands in front of does what it cannot record ([`Unseen`]).
//!
//! Blind code that has been reported matters again only when the thread has synchronised since; such that may order threads matters
//! each time, as what the thread did before it may be ordered by it.

use std::cell::Cell;

use foresee_format::{Tag, Unseen};
use rustc_hash::FxHashMap;

use super::naming::{CallSite, Naming};
use crate::ids::StrId;
use crate::raw::merging::Record;
use crate::raw::symbols::{Position, Recording};

/// In the name of what makes a future ready when its thread has ended.
const AT_EXIT: &str = "_State_baseV2::_Make_ready::";
/// What to call code that has written an atomic, and is known by nothing else.
const UNSEEN_WRITE: &str = "code that wrote an atomic";

/// The calls that all threads are in.
#[derive(Default)]
pub(crate) struct BlindWalk {
    threads: Vec<Thread>,
    /// Whether a thread left something to be done as it ends, which orders threads by atomics of the library.
    leaves_orders: bool,
    /// What lies between positions.
    known: FxHashMap<(u64, Position), Option<Blind>>,
}

/// Blind code: its name, and whether it may order threads.
type Blind = (StrId, bool);

#[derive(Default)]
struct Thread {
    calls: Vec<Call>,
    /// Whether blind code has been reported since the thread synchronised last.
    is_reported: bool,
    /// Blind code that it has run and that may order threads.
    ordering: Option<StrId>,
}

impl Thread {
    /// Whether the thread has left all functions of the program after it ran code that may order threads.
    fn is_ending(&self) -> bool {
        self.calls.is_empty() && self.ordering.is_some()
    }
}

/// A call of a function, by the first address of the one that it is instrumented as (0 if as none), and where it is.
struct Call {
    function: u64,
    at: Cell<u64>,
}

impl BlindWalk {
    /// Whether a record of a thread at `pc` surely comes without blind code before; then it is there now.
    #[inline]
    pub(crate) fn passes(&self, thread: u64, pc: u64, site: &CallSite) -> bool {
        let thread = self.threads.get(thread as usize);
        if site.instrumented == 0 {
            return site.recording == Recording::System && !thread.is_some_and(Thread::is_ending);
        }
        let call = thread.and_then(|thread| thread.calls.last());
        let Some(call) = call.filter(|call| call.function == site.instrumented) else { return false };
        let from = call.at.get();
        let [first, second] = &site.clear_from;
        let passes = first.get() == from || second.get() == from;
        if passes {
            call.at.set(pc);
        }
        passes
    }

    /// The blind code that a thread has run before this record, if that is to be reported. The record is at `site`, if it has one.
    pub(crate) fn record(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&CallSite>,
        naming: &mut Naming,
    ) -> Option<Blind> {
        let at = number as usize;
        if self.threads.len() <= at {
            self.threads.resize_with(at + 1, Thread::default);
        }
        let pc = record.words[0];
        let blind = match (record.tag, site) {
            (Tag::Exit, _) => {
                let call = self.threads[at].calls.pop();
                call.and_then(|call| self.between(call.at.get(), Position::Exit, naming))
            }
            // What it has run may go on as it ends, in no function of the program: destructors, what a library has left to do.
            _ if self.threads[at].is_ending() => self.threads[at].ordering.map(|code| (code, true)),
            (Tag::Enter, Some(site)) if site.recording == Recording::System => {
                let call = self.threads[at].calls.last().map(|call| call.at.get());
                call.and_then(|from| self.between(from, Position::Called, naming))
            }
            (Tag::Unseen, Some(site)) => {
                let before = self.come(at, pc, site, naming).filter(|&(_, orders)| orders);
                before.or_else(|| {
                    let what = Unseen::ALL.get(usize::from(record.detail))?;
                    Some((naming.intern(what.name()), false))
                })
            }
            (_, Some(site)) => self.come(at, pc, site, naming),
            (_, None) => None,
        };
        if matches!(record.tag, Tag::Enter) {
            self.enter(at, record.words[1], naming);
        }
        if matches!(record.tag, Tag::Frame) && self.threads[at].calls.is_empty() {
            self.enter(at, record.words[1], naming);
        }
        self.reported(number, blind)
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
        let code = naming.intern(UNSEEN_WRITE);
        self.threads.get(thread as usize)?;
        self.reported(thread, Some((code, true)))
    }

    /// A thread has synchronised: what it runs from now on counts again.
    pub(crate) fn synchronised(&mut self, thread: u64) {
        if let Some(thread) = self.threads.get_mut(thread as usize) {
            thread.is_reported = false;
        }
    }

    fn reported(&mut self, thread: u64, blind: Option<Blind>) -> Option<Blind> {
        let (code, orders) = blind?;
        let is_known = std::mem::replace(&mut self.threads[thread as usize].is_reported, true);
        if orders {
            self.threads[thread as usize].ordering = Some(code);
        }
        (!is_known || orders).then_some((code, orders))
    }

    fn enter(&mut self, at: usize, callee: u64, naming: &mut Naming) {
        let function = naming.site(callee).instrumented;
        self.threads[at].calls.push(Call { function, at: Cell::new(callee) });
    }

    /// A thread comes to a position in its innermost call, or makes a record from elsewhere.
    fn come(&mut self, at: usize, pc: u64, site: &CallSite, naming: &mut Naming) -> Option<Blind> {
        if let Recording::Blind(blind) = &site.recording {
            return Some((naming.intern(&blind.code), blind.orders));
        }
        if site.instrumented == 0 {
            return None;
        }
        let call = self.threads[at].calls.last().filter(|call| call.function == site.instrumented);
        let Some(call) = call else { return self.between(pc, Position::Anywhere, naming) };
        let from = call.at.replace(pc);
        let blind = self.between(from, Position::At(pc), naming);
        if blind.is_none() {
            let [first, second] = &site.clear_from;
            second.set(first.replace(from));
        }
        blind
    }

    fn between(&mut self, from: u64, to: Position, naming: &mut Naming) -> Option<Blind> {
        let blind = *self.known.entry((from, to)).or_insert_with(|| naming.blind(from, to));
        self.leaves_orders |=
            blind.is_some_and(|(code, orders)| orders && naming.text(code).contains(AT_EXIT));
        blind
    }
}
