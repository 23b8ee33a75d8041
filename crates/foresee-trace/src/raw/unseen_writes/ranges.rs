//! Pieces of memory that are special as long as they are not used for something else.

use std::collections::BTreeMap;

use crate::event::Mem;

/// Pieces of memory: from where to where.
#[derive(Default)]
pub(super) struct Ranges {
    all: BTreeMap<u64, u64>,
}

impl Ranges {
    pub(super) fn add(&mut self, addr: u64, size: u64) {
        self.all.insert(addr, addr.saturating_add(size));
    }

    pub(super) fn contain(&self, mem: Mem) -> bool {
        self.all.range(..=mem.addr).next_back().is_some_and(|(_, &end)| mem.addr < end)
    }

    /// This memory is used for something else.
    pub(super) fn forget(&mut self, mem: Mem) {
        let end = mem.addr.saturating_add(u64::from(mem.size));
        while let Some((&start, _)) = self.all.range(..end).next_back().filter(|&(_, &last)| mem.addr < last)
        {
            self.all.remove(&start);
        }
    }
}
