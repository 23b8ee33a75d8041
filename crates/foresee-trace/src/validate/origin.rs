//! Do the places that values are said to come from make sense?
//!
//! Where a value comes from is said directly before it is used, in its thread, and names bytes that the thread has read. Of each
//! thread the bytes it has read are kept as ranges; when there are too many, all count as read.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::report::Report;
use crate::event::{Mem, Op};
use crate::names::Names;

/// How many ranges are kept for a thread.
const RANGES_KEPT: usize = 1 << 10;
/// For how many pages the last of them is found at once.
const PAGES: usize = 1 << 3;
/// And, for each range that there is, for so many words.
const WORDS: usize = 4;

/// What a thread has read, and what it has just said about its next value.
#[derive(Default)]
pub(super) struct Origins {
    read: Ranges,
    /// The last event that says where a value comes from, if the value is still to come.
    pending: Option<u64>,
}

impl Origins {
    /// The thread's next event.
    pub(super) fn event(&mut self, names: &Names, report: &mut Report<'_>) {
        if let Some(said) = self.pending.take()
            && !report.event.op.takes_value()
            && !matches!(report.event.op, Op::From { .. } | Op::Constant)
        {
            report.problem(|| format!("takes no value, but event {said} says where from"));
        }
        match report.event.op {
            Op::Read { mem, .. } | Op::Load { mem, .. } | Op::Rmw { mem, .. } => self.read.add(mem),
            Op::From { mem } if !self.read.contain(mem) => report.problem(|| {
                format!("takes a value from `{}`, which the thread has not read", names.mem_text(mem))
            }),
            _ => {}
        }
        if let Op::From { .. } | Op::Constant = report.event.op {
            self.pending = Some(report.index);
        }
    }
}

/// A set of bytes.
#[derive(Default)]
struct Ranges {
    /// First byte and end of ranges that do not touch.
    ends: BTreeMap<u64, u128>,
    /// Some of them, or parts of them: for each page the one that was found there last, if no other page took its place.
    of_page: [(u64, u128); PAGES],
    /// The same for words: many threads read a few bytes here and there, again and again.
    of_word: Vec<(u64, u128)>,
    /// Whether there were too many: then there is no telling.
    full: bool,
}

impl Ranges {
    fn add(&mut self, mem: Mem) {
        let (start, end) = (mem.addr, mem.end());
        let page = (start >> 12) as usize % PAGES;
        let word = (start >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let includes = |&(first, last): &(u64, u128)| first <= start && end <= last;
        // How many there are is a power of two, or none.
        let at = |words: usize| word as usize & words.wrapping_sub(1);
        let is_known =
            includes(&self.of_page[page]) || self.of_word.get(at(self.of_word.len())).is_some_and(includes);
        if self.full || is_known {
            return;
        }
        let range = self.join(start, end);
        self.of_page[page] = range;
        if self.of_word.len() < WORDS * self.ends.len() {
            self.of_word = vec![(0, 0); 2 * WORDS * self.ends.len().next_power_of_two()];
        }
        let word = at(self.of_word.len());
        self.of_word[word] = range;
        if self.ends.len() > RANGES_KEPT {
            *self = Ranges { full: true, ..Ranges::default() };
        }
    }

    /// Makes these bytes a part of a range; which one.
    fn join(&mut self, start: u64, end: u128) -> (u64, u128) {
        let before = self.ends.range_mut(..=start).next_back().map(|(&first, last)| (first, last));
        let (first, mut last) = match before {
            Some((first, last)) if u128::from(start) <= *last => {
                *last = end.max(*last);
                (first, *last)
            }
            _ => {
                self.ends.insert(start, end);
                (start, end)
            }
        };
        let after = |ends: &BTreeMap<u64, u128>| {
            let next = ends.range((Bound::Excluded(first), Bound::Unbounded)).next();
            next.map(|(&next, &end)| (next, end))
        };
        while let Some((next, end)) = after(&self.ends).filter(|&(next, _)| u128::from(next) <= last) {
            self.ends.remove(&next);
            last = last.max(end);
            self.ends.insert(first, last);
        }
        (first, last)
    }

    fn contain(&self, mem: Mem) -> bool {
        let around = self.ends.range(..=mem.addr).next_back();
        self.full || around.is_some_and(|(_, &end)| end >= mem.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_bytes() {
        let mut bytes = [false; 40];
        let mut ranges = Ranges::default();
        let mut seed = 7_u64;
        for _ in 0..200 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (addr, size) = ((seed >> 33) % 36, 1 + (seed >> 50) as u32 % 4);
            if seed >> 60 == 0 {
                (ranges, bytes) = (Ranges::default(), [false; 40]);
            }
            ranges.add(Mem { addr, size });
            bytes[addr as usize..][..size as usize].fill(true);
            for addr in 0..38 {
                for size in 1..3 {
                    let all = bytes[addr..][..size].iter().all(|&read| read);
                    let mem = Mem { addr: addr as u64, size: size as u32 };
                    assert_eq!(ranges.contain(mem), all, "{mem:?} {:?}", ranges.ends);
                }
            }
        }
        ranges.add(Mem { addr: u64::MAX, size: 1 });
        assert!(ranges.contain(Mem { addr: u64::MAX, size: 1 }));
    }

    #[test]
    fn too_many_ranges_are_forgotten() {
        let mut ranges = Ranges::default();
        (0..=RANGES_KEPT as u64).for_each(|nth| ranges.add(Mem { addr: 2 * nth, size: 1 }));
        assert!(ranges.ends.is_empty() && ranges.contain(Mem { addr: 1, size: 1 }));
    }
}
