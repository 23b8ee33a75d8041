//! Threads that park, and whether somebody has unparked them.
//!
//! Unparking is recorded as it is done. So a thread that parks, and was not unparked since it parked last, is blocked. A thread that went on although nobody was seen to have unparked it shows that others do so
//! unseen; of it nothing is said any more.

use foresee_format::Tag;
use rustc_hash::FxHashMap;

use crate::event::{Mem, Op, Order};

/// The words by which threads are unparked, in the space for what synchronises.
#[derive(Default)]
pub(super) struct Parked {
    words: FxHashMap<u64, Word>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Its thread was unparked, and has not parked since.
    HasToken,
    /// It has, or was never unparked.
    IsEmpty,
    /// Somebody unparks it unseen.
    Unreliable,
}

impl Parked {
    /// The thread of a word was unparked.
    pub(super) fn unparked(&mut self, word: u64) {
        let known = self.words.entry(word).or_insert(Word::HasToken);
        if *known == Word::IsEmpty {
            *known = Word::HasToken;
        }
    }

    /// A thread is about to park, and will wait for as long as it takes.
    pub(super) fn parks(&mut self, word: u64) -> Option<Op<'static>> {
        let is_blocked = *self.words.entry(word).or_insert(Word::IsEmpty) == Word::IsEmpty;
        is_blocked.then_some(Op::Blocked { mem: Mem { addr: word, size: 4 } })
    }

    /// An operation on an atomic that stands for something: it may be that a thread has parked.
    pub(super) fn synchronises(&mut self, tag: Tag, op: &Op<'_>) {
        if let (Tag::Rmw, Op::Rmw { mem, order: Order::Acquire, .. }) = (tag, op)
            && let Some(known) = self.words.get_mut(&mem.addr)
        {
            *known = if *known == Word::HasToken { Word::IsEmpty } else { Word::Unreliable };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_not_unparked_is_blocked() {
        let took = Op::Rmw { mem: Mem { addr: 8, size: 4 }, order: Order::Acquire, values: None };
        let mut parked = Parked::default();
        assert!(parked.parks(8).is_some());
        parked.unparked(8);
        assert!(parked.parks(8).is_none());
        parked.synchronises(Tag::Rmw, &took);
        assert!(parked.parks(8).is_some());
        // Somebody did so unseen.
        parked.synchronises(Tag::Rmw, &took);
        assert!(parked.parks(8).is_none());
        parked.unparked(8);
        assert!(parked.parks(8).is_none());
    }
}
