//! Which life the memory at an address is in.

use std::collections::BTreeMap;

use crate::event::Mem;

/// All blocks that were allocated: the life of an address is that of the block it lies in, 0 until it is first seen
/// allocated. Numbers grow: an address never goes back to an earlier life.
#[derive(Default)]
pub(super) struct Allocations {
    /// Start of each block ever allocated and not covered by a later one: its end and life.
    blocks: BTreeMap<u64, (u128, u32)>,
    lives: u32,
}

impl Allocations {
    /// A block begins a new life.
    pub(super) fn begin(&mut self, mem: Mem) -> u32 {
        self.lives += 1;
        let (start, end) = (mem.addr, mem.end());
        // Whatever the new block covers of older ones is gone; what sticks out stays in its old life.
        let before = self.blocks.range(..start).next_back().map(|(&s, &(e, life))| (s, e, life));
        if let Some((old_start, old_end, life)) = before
            && old_end > u128::from(start)
        {
            self.blocks.insert(old_start, (u128::from(start), life));
            self.keep_tail(end, old_end, life);
        }
        while let Some((&old_start, &(old_end, life))) = self.blocks.range(start..).next()
            && u128::from(old_start) < end
        {
            self.blocks.remove(&old_start);
            self.keep_tail(end, old_end, life);
        }
        self.blocks.insert(start, (end, self.lives));
        self.lives
    }

    fn keep_tail(&mut self, start: u128, end: u128, life: u32) {
        if start < end
            && let Ok(start) = u64::try_from(start)
        {
            self.blocks.insert(start, (end, life));
        }
    }

    /// The life of the byte at an address.
    pub(super) fn life(&self, addr: u64) -> u32 {
        match self.blocks.range(..=addr).next_back() {
            Some((_, &(end, life))) if u128::from(addr) < end => life,
            _ => 0,
        }
    }

    /// The blocks that reach into a range: their start, end and life.
    pub(super) fn within(&self, first: u64, last: u64) -> impl Iterator<Item = (u64, u128, u32)> + '_ {
        let before = self.blocks.range(..first).next_back().filter(move |(_, (end, _))| *end > first.into());
        before
            .into_iter()
            .chain(self.blocks.range(first..=last))
            .map(|(&start, &(end, life))| (start, end, life))
    }
}
