//! Blind code that may have ordered threads, as events: before and after the records between which it ran.

use foresee_format::Tag;

use super::{Interpreter, Record};
use crate::event::{Event, Op};
use crate::ids::{LocId, StrId};
use crate::raw::meetings::{ATOMICS, Meetings};

impl Interpreter {
    /// Whether what a thread may do to order threads before its next record is to be reported
    /// ([`orders_ahead`](Interpreter::orders_ahead)).
    #[inline]
    pub(crate) fn may_order(&self, thread: u64) -> bool {
        self.blind.may_order(thread)
    }

    /// The blind code that a thread runs after a record, which may order threads. `next` is its next record, if there is one by now.
    pub(crate) fn orders_ahead(
        &mut self,
        thread: u64,
        record: &Record,
        next: Option<&Record>,
    ) -> Option<Event<'static>> {
        if record.tag == Tag::End {
            return None;
        }
        let site = next.and_then(|next| self.site_of(next));
        let next = next.map(|next| (next, site.as_deref()));
        let code = self.blind.ahead(thread, record.key, next, &mut self.naming)?;
        Some(self.ordering(thread, code))
    }

    /// The key of the last record of a thread, if blind code that may order threads was reported after it.
    #[inline]
    pub(crate) fn ran_ahead(&self, thread: u64) -> Option<u64> {
        self.blind.ran_ahead(thread)
    }

    /// The blind code that a thread has run before its next record, which may order threads, if that record was not made at the same time as the one
    /// before.
    pub(crate) fn orders_behind(&mut self, thread: u64, record: &Record) -> Option<Event<'static>> {
        let site = self.site_of(record);
        let code = self.blind.behind(thread, record, site.as_deref(), &mut self.naming)?;
        Some(self.ordering(thread, code))
    }

    /// Adds to events that come next what threads do to atomics that blind code may use.
    pub(crate) fn meet(&mut self, meetings: &mut Meetings, events: &mut Vec<Event<'static>>) {
        let ends = events.iter().any(|event| event.op == Op::ThreadEnd);
        let end = (ends && self.naming.has_assembly()).then(|| self.naming.intern(ATOMICS));
        meetings.add(events, |code| self.naming.uses_atomics(code), end);
    }

    fn ordering(&mut self, thread: u64, code: StrId) -> Event<'static> {
        let thread = self.naming.thread(thread);
        Event { thread, loc: LocId::UNKNOWN, op: Op::Blind { code, orders: true } }
    }
}
