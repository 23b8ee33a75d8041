//! Accesses that were recorded along with others ([`JoinedAccess`]): where they belong among the records of their thread.
//!
//! They come right after the recorded access that was done before them, with its key: nothing that another thread could tell from it was done in between.

use foresee_format::{JOINED_SLOTS, JOINED_WORDS, JoinedAccess, MOST_JOINED, Tag};
use rustc_hash::FxHashMap;

use super::record::Record;

/// The accesses of a run that have no records.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// By the recorded access.
    points: FxHashMap<u64, Point>,
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
        Joined { points }
    }

    /// Adds what follows a record that was decoded.
    #[inline]
    pub(super) fn follow(&self, record: Record, kept: &mut Kept, records: &mut Vec<Record>) {
        if !self.points.is_empty() && matches!(record.tag, Tag::Read | Tag::Write) {
            self.follow_access(record, kept, records);
        }
    }

    fn follow_access(&self, record: Record, kept: &mut Kept, records: &mut Vec<Record>) {
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
