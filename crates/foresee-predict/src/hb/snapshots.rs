//! Copies of clocks, shared by all writes that a thread does between two changes of its clock.

use std::num::NonZeroU32;

use crate::clock::Clock;

/// A snapshot that someone holds: its position plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SnapshotId(NonZeroU32);

impl SnapshotId {
    #[inline]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Counted references to clocks in one arena; the buffer of one that nobody holds is used again.
#[derive(Default)]
pub(super) struct Snapshots {
    clocks: Vec<Clock>,
    /// How many hold each; apart from the clocks, because every write counts here.
    holders: Vec<u32>,
    free: Vec<SnapshotId>,
}

impl Snapshots {
    /// A copy of the clock, held once.
    pub(super) fn take(&mut self, clock: &Clock) -> SnapshotId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.clocks.push(Clock::default());
            self.holders.push(0);
            SnapshotId(NonZeroU32::new(self.clocks.len() as u32).unwrap_or(NonZeroU32::MAX))
        });
        self.clocks[id.index()].copy_from(clock);
        self.holders[id.index()] = 1;
        id
    }

    #[inline]
    pub(super) fn clock(&self, id: SnapshotId) -> &Clock {
        &self.clocks[id.index()]
    }

    /// One more holder.
    #[inline]
    pub(super) fn hold(&mut self, id: SnapshotId) {
        self.holders[id.index()] += 1;
    }

    /// One holder less.
    #[inline]
    pub(super) fn drop(&mut self, id: SnapshotId) {
        let holders = &mut self.holders[id.index()];
        *holders -= 1;
        if *holders == 0 {
            self.free.push(id);
        }
    }
}
