//! A cell of shadow memory: some bytes of a word that are always accessed together, and what is known of their accesses.
//!
//! **Every racy pair, yet mostly O(1).** Each cell keeps an entry per (thread, place, manner). That is exact for pairs of
//! places: an earlier access with the same key is ordered before the later one, so whatever the earlier is not ordered
//! with, the later is not either, in both orders.
//! Looking at all entries is avoided by FastTrack's insight, kept also after races: a *clean* write is a plain write that
//! was ordered after every access of the cell before it. Whoever is ordered after the clean write is ordered after all
//! those, and needs to look only at the `recent` entries, those later than the clean write; a read only at the writes
//! and atomics among them. Recent entries are marked in bit sets by position in the table, modulo 32.

use super::entries::{Entry, Key, Manner, Table, Tables};
use super::snapshots::{SnapshotId, Snapshots};
use super::threads::Thread;

/// Identifies a cell; 0 is none.
pub(super) type CellId = u32;

/// An access to the bytes of one word.
#[derive(Clone, Copy)]
pub(super) struct WordAccess {
    /// Who, where and how.
    pub(super) key: Key,
    /// When.
    pub(super) time: u64,
    /// Which bytes of the word.
    pub(super) mask: u8,
}

/// A write: who and when, and what its thread knew.
#[derive(Clone, Copy, Default)]
pub(super) struct LastWrite {
    pub(super) time: u64,
    pub(super) slot: u32,
    pub(super) snapshot: Option<SnapshotId>,
}

/// The last write to a word, before which all others happen; at time 0 if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordWrite {
    pub(super) slot: u32,
    pub(super) time: u64,
}

#[derive(Clone, Copy, Default)]
struct Recent {
    reads: u32,
    writes: u32,
    atomics: u32,
}

impl Recent {
    #[inline]
    fn mark(&mut self, at: usize, manner: Manner) {
        let set = match (manner.is_atomic(), manner.writes()) {
            (true, _) => &mut self.atomics,
            (false, true) => &mut self.writes,
            (false, false) => &mut self.reads,
        };
        *set |= 1 << (at % 32);
    }

    /// The positions that may hold an access which races with one of this manner.
    #[inline]
    fn rivals(self, manner: Manner) -> u32 {
        let reads = if manner.writes() { self.reads } else { 0 };
        let atomics = if manner.is_atomic() { 0 } else { self.atomics };
        self.writes | reads | atomics
    }
}

/// See the module documentation. One cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Cell {
    /// The next cell of the same word.
    pub(super) next: CellId,
    /// The bytes.
    pub(super) mask: u8,
    pub(super) table: Table,
    recent: Recent,
    clean_slot: u32,
    clean_time: u64,
    pub(super) last_write: LastWrite,
    /// What atomic writes have published here; 0 is none.
    pub(super) sync: u32,
}

impl Cell {
    pub(super) fn new(mask: u8, next: CellId, tables: &mut Tables) -> Cell {
        Cell { mask, next, table: tables.new_table(), ..Cell::default() }
    }

    /// Shows each entry that races with the access. Whether the access is ordered after all of the cell (asked only of plain
    /// writes).
    #[inline]
    pub(super) fn races(
        &self,
        tables: &Tables,
        access: &WordAccess,
        thread: &Thread,
        mut each: impl FnMut(&Entry),
    ) -> bool {
        let manner = access.key.manner();
        let is_after_clean = thread.is_after(self.clean_slot, self.clean_time);
        let mut positions = if is_after_clean { self.recent.rivals(manner) } else { u32::MAX };
        if positions == 0 {
            return true;
        }
        let entries = tables.entries(self.table);
        let mut is_after_all = is_after_clean;
        while positions != 0 {
            let first = positions.trailing_zeros() as usize;
            if first >= entries.len() {
                break;
            }
            for entry in entries[first..].iter().step_by(32) {
                if !thread.is_after(entry.key.slot(), entry.time) {
                    is_after_all = false;
                    if manner.races(entry.key.manner()) {
                        each(entry);
                    }
                }
            }
            positions &= positions - 1;
        }
        is_after_all
    }

    /// Notes the access.
    #[inline]
    pub(super) fn note(&mut self, tables: &mut Tables, access: &WordAccess, is_after_all: bool) {
        let (key, time) = (access.key, access.time);
        let at = loop {
            match tables.note(self.table, key, time) {
                Some(at) => break at,
                None => self.grow(tables),
            }
        };
        let manner = key.manner();
        if is_after_all && manner.writes() && !manner.is_atomic() {
            (self.clean_slot, self.clean_time) = (key.slot(), time);
            self.recent = Recent::default();
        } else {
            self.recent.mark(at, manner);
        }
    }

    #[cold]
    fn grow(&mut self, tables: &mut Tables) {
        self.table = tables.grown(self.table);
        self.recent = Recent::default();
        for (at, entry) in tables.entries(self.table).iter().enumerate() {
            if entry.time > self.clean_time {
                self.recent.mark(at, entry.key.manner());
            }
        }
    }

    /// The last write, if it is known that all others happen before it.
    pub(super) fn only_write(&self) -> Option<WordWrite> {
        let in_order = self.recent.writes | self.recent.atomics == 0;
        in_order.then_some(WordWrite { slot: self.clean_slot, time: self.clean_time })
    }

    /// Notes who wrote last.
    #[inline]
    pub(super) fn wrote(&mut self, thread: &mut Thread, time: u64, snapshots: &mut Snapshots) {
        let current = match thread.snapshot {
            Some(current) if !thread.outdated => current,
            outdated => {
                if let Some(outdated) = outdated {
                    snapshots.drop(outdated);
                }
                thread.outdated = false;
                *thread.snapshot.insert(snapshots.take(thread.known.schedulable()))
            }
        };
        let before = self.last_write.snapshot;
        self.last_write = LastWrite { time, slot: thread.slot, snapshot: Some(current) };
        if before != Some(current) {
            snapshots.hold(current);
            if let Some(before) = before {
                snapshots.drop(before);
            }
        }
    }
}

impl LastWrite {
    /// The thread has read this write.
    #[inline]
    pub(super) fn read_by(self, thread: &mut Thread, snapshots: &Snapshots) {
        if !thread.is_schedulably_after(self.slot, self.time)
            && let Some(snapshot) = self.snapshot
        {
            thread.known.read_from(snapshots.clock(snapshot), self.slot, self.time);
            thread.outdated = true;
        }
    }
}
