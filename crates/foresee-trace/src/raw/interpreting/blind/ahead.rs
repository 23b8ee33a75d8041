//! Blind code that may order threads is reported at both its ends.
//!
//! When it ran between two records is not known: at any time between, and
//! another thread may have run such code meanwhile, which was ordered after this or before. So it is reported right after the first record
//! ([`ahead`](BlindWalk::ahead)), and once more before the second: then each of two pieces of such code whose times
//! overlap has an end before an end of the other, and whoever takes them for ordered by their places finds an order. A thread may
//! be in such code for good: what it did before may still be ordered by it.
//!
//! While a trace is being written, the second record may not be there yet ([`Ahead::Unknown`]). If other threads then turn out
//! to have run such code meanwhile, it was reported too late.

use super::{Ahead, BlindWalk, CallSite, Naming, Next, Position, Record, StrId, Thread};

impl BlindWalk {
    /// Whether it is to be asked for what a thread runs [`ahead`](BlindWalk::ahead).
    pub(crate) fn may_order(&self, number: u64) -> bool {
        self.threads.get(number as usize).is_some_and(Thread::may_order)
    }

    /// The code that a thread runs after a record with this key and before its `next` one, at `site`, and that may order threads.
    pub(crate) fn ahead(
        &mut self,
        number: u64,
        key: u64,
        next: Next<'_>,
        naming: &mut Naming,
    ) -> Option<StrId> {
        let at = number as usize;
        let blind = match next {
            Next::Record(record, site) => self.before(at, record, site, naming),
            Next::Never => {
                let from = self.threads[at].calls.last().map(|call| call.at.get());
                from.and_then(|from| self.between(from, Position::Anywhere, naming))
            }
            Next::NotYet => {
                self.threads[at].ahead = Ahead::Unknown(self.orders);
                return None;
            }
        };
        let (code, _) = self.reported(number, blind.filter(|&(_, orders)| orders))?;
        self.threads[at].ahead = Ahead::Orders(code, key);
        Some(code)
    }

    /// The other end of the code that a thread has run and that may order threads, before this record, at `site`; and whether it
    /// should have been reported before.
    pub(crate) fn behind(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&CallSite>,
        naming: &mut Naming,
    ) -> Option<(StrId, bool)> {
        let at = number as usize;
        match self.threads.get(at)?.ahead {
            Ahead::Nothing => None,
            Ahead::Orders(code, key) => (key != record.key).then_some((code, false)),
            Ahead::Unknown(orders) => {
                let is_late = orders != self.orders;
                let code = self.ahead(number, record.key, Next::Record(record, site), naming)?;
                Some((code, is_late))
            }
        }
    }

    /// At the end of the trace: whether code should have been reported that a thread is still in.
    pub(crate) fn is_late(&self) -> bool {
        let is_late =
            |thread: &Thread| matches!(thread.ahead, Ahead::Unknown(orders) if orders != self.orders);
        self.threads.iter().any(is_late)
    }
}
