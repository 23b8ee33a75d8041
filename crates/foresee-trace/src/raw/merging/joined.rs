//! Accesses that were recorded along with others ([`JoinedAccess`]): where they belong among the records of their thread.
//!
//! They come right after the recorded access that was done before them, with its key: nothing that another thread could tell from it was done in between.

use std::sync::atomic::{AtomicBool, Ordering};

use foresee_format::{JOINED_SLOTS, JOINED_WORDS, JoinedAccess, MOST_JOINED, Tag};
use rustc_hash::FxHashMap;

use super::record::Record;

/// The accesses of a run that have no records.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// By the recorded access.
    points: FxHashMap<u64, Point>,
    /// A bit for each of them, by some bits of it: most accesses are found to be none.
    filter: Filter,
    /// Whether what follows the last record of a thread was done, too.
    are_last_done: AtomicBool,
}

const FILTER_BITS: usize = 1 << 12;
type Filter = Box<[u64]>;

/// Which word of the filter an access is in, and which bit there.
#[inline]
fn bit(pc: u64) -> (usize, u64) {
    let bit = (pc ^ pc >> 12) as usize % FILTER_BITS;
    (bit / 64, 1 << (bit % 64))
}

/// What a recorded access means for others.
#[derive(Debug, Default)]
struct Point {
    /// Where its address is kept, if others are counted from it.
    slot: Option<u8>,
    /// What follows it.
    next: Vec<JoinedAccess>,
}

/// The addresses from which a thread's next accesses without a record are counted, by their slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept([u64; JOINED_SLOTS]);

impl Joined {
    /// From the text of a raw trace, of which nothing is trusted.
    pub(super) fn from_text(text: &[u8]) -> Joined {
        let (words, _) = text.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let (accesses, _) = words.as_chunks::<JOINED_WORDS>();
        let mut points: FxHashMap<u64, Point> = FxHashMap::default();
        for &access in accesses {
            let access = JoinedAccess::from_words(access);
            points.entry(access.base).or_default().slot = Some(access.slot);
            let next = &mut points.entry(access.after).or_default().next;
            if next.len() < MOST_JOINED {
                next.push(access);
            }
        }
        let mut filter: Filter =
            if points.is_empty() { Box::default() } else { vec![0; FILTER_BITS / 64].into() };
        for &pc in points.keys() {
            let (word, bit) = bit(pc);
            filter[word] |= bit;
        }
        Joined { points, filter, are_last_done: AtomicBool::new(false) }
    }

    /// What follows the last record of a thread was done, too.
    pub(super) fn complete_last(&self) {
        self.are_last_done.store(true, Ordering::Relaxed);
    }

    pub(super) fn are_last_done(&self) -> bool {
        self.are_last_done.load(Ordering::Relaxed)
    }

    /// Whether something may follow a record; that is known at once.
    #[inline]
    pub(super) fn may_follow(&self, record: &Record) -> bool {
        let (word, bit) = bit(record.words[0]);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
            && matches!(record.tag, Tag::Read | Tag::Write)
    }

    /// Adds what follows a record that was decoded and that something [may follow](Joined::may_follow).
    pub(super) fn follow(&self, record: Record, kept: &mut Kept, records: &mut Vec<Record>) {
        let [pc, addr, ..] = record.words;
        let Some(point) = self.points.get(&pc) else { return };
        if let Some(slot) = point.slot {
            kept.0[usize::from(slot) % JOINED_SLOTS] = addr;
        }
        records.extend(point.next.iter().map(|access| {
            let base = kept.0[usize::from(access.slot) % JOINED_SLOTS];
            Record {
                words: [access.pc, base.wrapping_add_signed(access.distance.into()), 0, 0],
                tag: if access.writes { Tag::Write } else { Tag::Read },
                detail: access.size,
                length: 0,
                ..record
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pc: u64, addr: u64) -> Record {
        Record { key: 6, words: [pc, addr, 0, 0], tag: Tag::Read, detail: 8, length: 1 }
    }

    fn joined(after: u64, base: u64, pc: u64, distance: i32, slot: u8) -> JoinedAccess {
        JoinedAccess { after, base, pc, distance, size: 4, writes: true, call_len: 5, slot }
    }

    fn of(accesses: &[JoinedAccess]) -> Joined {
        let words = accesses.iter().flat_map(|access| access.words());
        Joined::from_text(&words.flat_map(u64::to_le_bytes).collect::<Vec<_>>())
    }

    fn followed(joined: &Joined, records: &[Record]) -> Vec<(u64, u64)> {
        let (mut kept, mut all) = (Kept::default(), Vec::new());
        for &record in records {
            all.push(record);
            if joined.may_follow(&record) {
                joined.follow(record, &mut kept, &mut all);
            }
        }
        all.iter().map(|record| (record.words[0], record.words[1])).collect()
    }

    #[test]
    fn accesses_come_back_where_they_were_done() {
        // 10 and 20 are recorded; 11 is done after 10, and 21 and 22 after 20, of which one is counted from what 10 accessed.
        let joined = of(&[joined(10, 10, 11, 8, 0), joined(20, 10, 21, -4, 0), joined(20, 20, 22, 0, 1)]);
        let records = [record(10, 1000), record(20, 5000), record(30, 7), record(10, 2000), record(20, 0)];
        let expected = [
            [(10, 1000), (11, 1008)].as_slice(),
            &[(20, 5000), (21, 996), (22, 5000)],
            &[(30, 7)],
            &[(10, 2000), (11, 2008)],
            &[(20, 0), (21, 1996), (22, 0)],
        ];
        assert_eq!(followed(&joined, &records), expected.concat());
    }

    #[test]
    fn nothing_grows_without_bound() {
        let all: Vec<JoinedAccess> = (0..10_000).map(|pc| joined(1, 1, pc, i32::MIN, 255)).collect();
        assert_eq!(followed(&of(&all), &[record(1, 0)]).len(), 1 + MOST_JOINED);
        // Half an access is none.
        assert!(Joined::from_text(&[7; 31]).points.is_empty());
    }
}
