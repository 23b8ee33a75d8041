//! One order out of those of all threads: by key, equal keys by thread.
//!
//! A thread mostly does many things before another does something that must come between: near records have the key of the record
//! before. So the thread that is first stays the *leader*, outside of the queue, as long as its keys are below the first of
//! the others; that takes one comparison for a record.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::stream::Stream;

/// Which stream comes next.
#[derive(Default)]
pub(super) struct Turns {
    leader: Option<usize>,
    /// The leader is first as long as its keys are smaller.
    until: u64,
    /// The next keys of the other streams that have records, their threads, and which they are.
    others: BinaryHeap<Reverse<(u64, u64, usize)>>,
}

impl Turns {
    /// A stream has records again.
    pub(super) fn add(&mut self, stream: usize, streams: &[Stream]) {
        self.others.extend(entry(stream, streams));
    }

    /// There may be other streams than those known.
    pub(super) fn reconsider(&mut self, streams: &[Stream]) {
        self.others.extend(self.leader.take().and_then(|leader| entry(leader, streams)));
    }

    /// The leader no longer takes part.
    pub(super) fn leave(&mut self, stream: usize) {
        self.leader = self.leader.filter(|&leader| leader != stream);
    }

    /// The smallest key of those that are not the leader.
    pub(super) fn first_other(&self) -> Option<u64> {
        self.others.peek().map(|&Reverse((key, _, _))| key)
    }

    pub(super) fn leader(&self) -> Option<usize> {
        self.leader
    }

    /// The leader, if it has a record that comes next for sure.
    #[inline]
    pub(super) fn certain(&self, streams: &[Stream]) -> Option<usize> {
        let leader = self.leader?;
        (streams.get(leader)?.peek()?.key < self.until).then_some(leader)
    }

    /// The leader, and the key up to which its records come next for sure.
    #[inline]
    pub(super) fn certain_until(&self) -> Option<(usize, u64)> {
        Some((self.leader?, self.until))
    }

    /// Nothing comes next.
    pub(super) fn end(&mut self) {
        *self = Turns::default();
    }

    /// The stream with the next record.
    #[inline]
    pub(super) fn first(&mut self, streams: &[Stream]) -> Option<usize> {
        let next = self.leader.and_then(|leader| streams.get(leader)?.peek());
        if next.is_none_or(|record| record.key >= self.until) {
            self.change(streams);
        }
        self.leader
    }

    /// The first of the others becomes the leader, and the leader one of them if it has more records.
    fn change(&mut self, streams: &[Stream]) {
        let before = self.leader.and_then(|leader| entry(leader, streams));
        let first = match (before, self.others.peek_mut()) {
            (Some(before), Some(mut first)) => Some(std::mem::replace(&mut *first, before)),
            (None, Some(first)) => Some(PeekMut::pop(first)),
            (before, None) => before,
        };
        self.leader = first.map(|Reverse((_, _, stream))| stream);
        let thread = first.map_or(0, |Reverse((_, thread, _))| thread);
        self.until = match self.others.peek() {
            Some(&Reverse((key, other, _))) => key + u64::from(thread < other),
            None => u64::MAX,
        };
    }
}

fn entry(stream: usize, streams: &[Stream]) -> Option<Reverse<(u64, u64, usize)>> {
    let known = streams.get(stream)?;
    Some(Reverse((known.peek()?.key, known.thread, stream)))
}
