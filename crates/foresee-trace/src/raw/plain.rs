//! The short way from a record to an event, for nearly all records of most programs.
//!
//! A read or a write (or an atomic load) is just that, if its thread is in no operation on a lock, its site is known and has nothing to
//! do with locks, and its memory is [`quiet`](super::quiet): then none of the tables that [`interpret`](RawReader::interpret) goes
//! through has anything to say. Whatever is not known to be so goes the long way, which makes it known.

use foresee_format::{SYNC_SPACE, Tag, UNKNOWN_VALUE};

use super::naming::Origin;
use super::reader::RawReader;
use super::stream::Record;
use crate::event::{Event, Mem, Op, Order};

impl RawReader {
    /// Makes the next record the current event, if it is the usual thing: an access of which nothing is to be asked but where it
    /// is. Whether it is.
    #[inline]
    pub(super) fn take_plain(&mut self) -> bool {
        let Some((stream, event)) = self.plain() else { return false };
        let Some(record) = self.streams[stream].take() else { return false };
        self.reached = record.key;
        self.words_read += u64::from(record.length);
        self.current = event;
        true
    }

    #[inline]
    fn plain(&self) -> Option<(usize, Event<'static>)> {
        let stream = self.turns.certain(&self.streams)?;
        let (record, number) = (self.streams[stream].peek()?, self.streams[stream].thread);
        let mem = Mem { addr: record.words[1], size: record.detail.into() };
        let op = match record.tag {
            Tag::Read => Op::Read { mem, value: None },
            Tag::Write => Op::Write { mem, value: None },
            Tag::Load => atomic_load(record, record.words[1]),
            _ => return None,
        };
        let is_due = record.key < self.stop
            && self.has_begun
            && self.branches.are_surely_not_told()
            && self.follow.as_ref().is_none_or(|follow| follow.has_all_before(record.key))
            && self.chunks.maps.last().is_none_or(|&(key, _)| record.key < key);
        let site = self.naming.known_site(record.words[0])?;
        let loc = self.sections.place_apart(number, site)?;
        let mem = op.mem()?;
        let is_plain = site.is_counted.get() && site.origin == Origin::Program && mem.size > 0;
        let thread = self.naming.known_thread(number)?;
        (is_due && is_plain && self.naming.quiet.surely(mem)).then_some((stream, Event { thread, loc, op }))
    }
}

/// The operation of an atomic load from this address.
#[inline]
pub(super) fn atomic_load(record: &Record, addr: u64) -> Op<'static> {
    let value = record.words[2];
    let mem = Mem { addr, size: 1 << (record.detail >> 4 & 7).min(4) };
    let order = Order::ALL.get(usize::from(record.detail & 15)).copied().unwrap_or(Order::SeqCst);
    let known = mem.size <= 8 && addr < SYNC_SPACE && record.detail & UNKNOWN_VALUE == 0;
    Op::Load { mem, order, value: known.then_some(value) }
}
