//! Blind code that may have ordered threads, as events: before and after the records between which it ran.

use foresee_format::Tag;

use super::blind::Next;
use super::{Interpreter, Record};
use crate::event::{Event, Op};
use crate::ids::{LocId, StrId};

impl Interpreter {
    /// Whether what a thread may do to order threads before its next record is to be reported
    /// ([`orders_ahead`](Interpreter::orders_ahead)).
    #[inline]
    pub(crate) fn may_order(&self, thread: u64) -> bool {
        self.blind.may_order(thread)
    }

    /// The blind code that a thread runs after a record, which may order threads. `next` is its next record; if there is none,
    /// whether there will be one.
    pub(crate) fn orders_ahead(
        &mut self,
        thread: u64,
        record: &Record,
        next: Result<&Record, bool>,
    ) -> Option<Event<'static>> {
        let site = next.ok().and_then(|next| self.site_of(next));
        let next = match next {
            Ok(next) => Next::Record(next, site.as_deref()),
            Err(true) => Next::NotYet,
            Err(false) if record.tag == Tag::End => return None,
            Err(false) => Next::Never,
        };
        let code = self.blind.ahead(thread, record.key, next, &mut self.naming)?;
        Some(self.ordering(thread, code))
    }

    /// The blind code that a thread has run before its next record, which may order threads, if that record was not made at the same time as the one
    /// before; and whether it should have been reported before.
    pub(crate) fn orders_behind(&mut self, thread: u64, record: &Record) -> Option<(Event<'static>, bool)> {
        let site = self.site_of(record);
        let (code, is_late) = self.blind.behind(thread, record, site.as_deref(), &mut self.naming)?;
        Some((self.ordering(thread, code), is_late))
    }

    /// At the end of the trace: whether blind code should have been reported that a thread is still in.
    pub(crate) fn is_late(&self) -> bool {
        self.blind.is_late()
    }

    fn ordering(&mut self, thread: u64, code: StrId) -> Event<'static> {
        let thread = self.naming.thread(thread);
        Event { thread, loc: LocId::UNKNOWN, op: Op::Blind { code, orders: true } }
    }
}
