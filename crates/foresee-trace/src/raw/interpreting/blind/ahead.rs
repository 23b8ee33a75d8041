//! Blind code that may order threads is reported at both its ends.
//!
//! When it ran between two records is not known: at any time between, and
//! another thread may have run such code meanwhile, which was ordered after this or before. So it is reported right after the first record
//! ([`ahead`](BlindWalk::ahead)), and once more before the second: then each of two pieces of such code whose times
//! overlap has an end before an end of the other, and whoever takes them for ordered by their places finds an order. A thread may
//! be in such code for good: what it did before may still be ordered by it.
//!
//! While a trace is being written, the second record may not be there yet. Then the thread counts as one that is in such code for good, and
//! what it really ran is known when the record is there.

use super::{Ahead, BlindWalk, CallSite, Naming, Position, Record, StrId, Thread};

impl BlindWalk {
    /// Whether it is to be asked for what a thread runs [`ahead`](BlindWalk::ahead).
    pub(crate) fn may_order(&self, number: u64) -> bool {
        self.threads.get(number).is_some_and(Thread::may_order)
    }

    /// The code that a thread runs after a record with this key and before its `next` one, which may be at a site, and that may order
    /// threads. If there is no next record, any of its function.
    pub(crate) fn ahead(
        &mut self,
        number: u64,
        key: u64,
        next: Option<(&Record, Option<&CallSite>)>,
        naming: &mut Naming,
    ) -> Option<StrId> {
        let blind = match next {
            Some((record, site)) => self.before(number, record, site, naming),
            None => {
                let from = self.position(number);
                from.and_then(|from| self.between(from, Position::Anywhere, naming))
            }
        };
        let (code, _) = self.reported(number, blind.filter(|&(_, orders)| orders))?;
        let ahead = if next.is_some() { Ahead::Orders(code, key) } else { Ahead::MayOrder(key) };
        self.threads.entry(number).ahead = ahead;
        Some(code)
    }

    /// The key of the last record of a thread, if the thread then ran, or may have run, code that may order threads.
    pub(crate) fn ran_ahead(&self, number: u64) -> Option<u64> {
        match self.threads.get(number)?.ahead {
            Ahead::Orders(_, key) | Ahead::MayOrder(key) => Some(key),
            Ahead::Nothing => None,
        }
    }

    /// The other end of the code that a thread has run and that may order threads, before this record, at `site`.
    pub(crate) fn behind(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&CallSite>,
        naming: &mut Naming,
    ) -> Option<StrId> {
        match self.threads.get(number)?.ahead {
            Ahead::Orders(code, key) if key != record.key => Some(code),
            Ahead::MayOrder(key) if key != record.key => {
                let (code, orders) = self.before(number, record, site, naming)?;
                orders.then_some(code)
            }
            _ => None,
        }
    }
}
