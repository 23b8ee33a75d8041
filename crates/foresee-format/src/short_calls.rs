//! A call and its values in one record, as most calls have few of them.
//!
//! It says the same as records of its values and a [`Tag::Call`] behind them, in less than half of the bytes: the number of the hook is above the address, where no
//! program has code; and if all values are small numbers, two of them share a word.
//!
//! ```text
//! detail = RETURNED or 0 | HALVES << 1 | 1 << (2 + i) if value i is an object | how many values << 5
//! ```

use crate::{ARG_INT, ARG_OBJECT, RETURNED, Tag};

/// So many values a call in one record has at most.
pub const MOST_SHORT: usize = 3;

/// Two values share a word: numbers of 32 bits, with a sign.
const HALVES: u8 = 1 << 1;
const OBJECTS_SHIFT: u32 = 2;
const COUNT_SHIFT: u32 = 5;
const HOOK_SHIFT: u32 = 48;

/// A call, or a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCall {
    /// Behind the call.
    pub pc: u64,
    /// The number of the hook.
    pub hook: u64,
    /// The detail of the call: [`RETURNED`], or 0.
    pub detail: u8,
    /// How many values there are.
    pub count: usize,
    /// Of those that are there; the others are 0.
    pub values: [u64; MOST_SHORT],
    /// Which of these are objects: a bit for each.
    pub objects: u8,
}

impl ShortCall {
    /// The record: its tag, its detail, and its words, of which the tag says how many count. `None` if the call does not fit into one.
    #[inline(always)]
    pub fn record(&self) -> Option<(Tag, u8, [u64; 1 + MOST_SHORT])> {
        if self.pc >> HOOK_SHIFT != 0 || self.hook >> (u64::BITS - HOOK_SHIFT) != 0 || self.count > MOST_SHORT
        {
            return None;
        }
        let place = self.pc | self.hook << HOOK_SHIFT;
        let detail = self.detail & RETURNED
            | (self.objects & ((1 << self.count) - 1)) << OBJECTS_SHIFT
            | (self.count as u8) << COUNT_SHIFT;
        let [first, second, third] = self.values;
        let is_small = |value: u64| value as i64 == i64::from(value as i32);
        let are_small =
            detail >> OBJECTS_SHIFT & 7 == 0 && is_small(first) && is_small(second) && is_small(third);
        let half = |low: u64, high: u64| u64::from(low as u32) | high << 32;
        Some(match self.count {
            0 => (Tag::CallAlone, detail, [place, 0, 0, 0]),
            1 => (Tag::CallWith1, detail, [place, first, 0, 0]),
            2 if are_small => (Tag::CallWith1, detail | HALVES, [place, half(first, second), 0, 0]),
            2 => (Tag::CallWith2, detail, [place, first, second, 0]),
            _ if are_small => (Tag::CallWith2, detail | HALVES, [place, half(first, second), third, 0]),
            _ => (Tag::CallWith3, detail, [place, first, second, third]),
        })
    }

    /// What a record with this detail says; `None` if it is damaged.
    pub fn read(detail: u8, [place, first, second, third]: [u64; 1 + MOST_SHORT]) -> Option<ShortCall> {
        let count = usize::from(detail >> COUNT_SHIFT);
        if count > MOST_SHORT {
            return None;
        }
        let whole = |half: u64| i64::from(half as i32) as u64;
        let mut values = if detail & HALVES == 0 {
            [first, second, third]
        } else {
            [whole(first), whole(first >> 32), whole(second)]
        };
        values.iter_mut().skip(count).for_each(|value| *value = 0);
        Some(ShortCall {
            pc: place & ((1 << HOOK_SHIFT) - 1),
            hook: place >> HOOK_SHIFT,
            detail: detail & RETURNED,
            count,
            values,
            objects: detail >> OBJECTS_SHIFT & ((1 << count) - 1),
        })
    }

    /// The values, each with the detail of a [`Tag::Arg`].
    pub fn arguments(&self) -> impl Iterator<Item = (u8, u64)> {
        let kind = |at: usize| if self.objects >> at & 1 != 0 { ARG_OBJECT } else { ARG_INT };
        self.values.iter().take(self.count).enumerate().map(move |(at, &value)| (kind(at), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: ShortCall = ShortCall {
        pc: 0x7fff_ffff_ffff,
        hook: 0xffff,
        detail: RETURNED,
        count: 0,
        values: [0; 3],
        objects: 0,
    };

    #[test]
    fn calls_come_back_as_they_were() {
        let (small, large) =
            ([u64::MAX, i32::MAX as u64, i32::MIN as i64 as u64], [1, 1 << 31, u64::MAX - 7]);
        for values in [small, large, [u64::MAX, 0, 1 << 63]] {
            for (count, objects) in (0..=3).flat_map(|count| (0..1 << count).map(move |of| (count, of))) {
                let mut call = ShortCall { count, objects, values, detail: objects & RETURNED, ..CALL };
                call.values[count..].fill(0);
                let (tag, detail, words) = call.record().unwrap();
                assert!(words[tag.words() - 1..].iter().all(|&word| word == 0));
                assert_eq!(ShortCall::read(detail, words), Some(call));
            }
        }
    }

    #[test]
    fn small_numbers_share_words_and_objects_do_not() {
        let words = |count, objects, values| {
            ShortCall { count, objects, values, ..CALL }.record().map(|(tag, ..)| tag.words())
        };
        let small = [u64::MAX, 7, 0];
        assert_eq!(words(0, 0, [0; 3]), Some(2));
        assert_eq!(words(2, 0, small), Some(3));
        assert_eq!(words(2, 2, small), Some(4));
        assert_eq!(words(2, 0, [1 << 31, 7, 0]), Some(4));
        assert_eq!(words(3, 0, small), Some(4));
        assert_eq!(words(3, 1, small), Some(5));
    }

    #[test]
    fn what_does_not_fit_is_no_short_call() {
        assert_eq!(ShortCall { pc: 1 << 48, ..CALL }.record(), None);
        assert_eq!(ShortCall { hook: 1 << 16, ..CALL }.record(), None);
        assert_eq!(ShortCall { count: 4, ..CALL }.record(), None);
        assert_eq!(ShortCall::read(0xff, [0; 4]), None);
    }
}
