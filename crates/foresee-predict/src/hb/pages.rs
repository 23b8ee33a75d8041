//! From the address of a word to the list of its cells.
//!
//! Shadow memory comes in pages of 512 words of 8 bytes. A page that was only ever accessed as a whole (a large copy, a
//! large block freed) is *uniform*: one list of cells stands for all its words.

use rustc_hash::FxHashMap;

use super::cell::{CellId, WordWrite};

/// Words per page.
pub(super) const PAGE: u64 = 512;
const CACHED: usize = 512;

/// A page that exists.
#[derive(Clone, Copy, Debug)]
pub(super) enum Page {
    /// Where its only head is.
    Uniform(u32),
    /// Where the head of its first word is.
    Split(u32),
}

/// Where a word begins, or all words of a uniform page.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// Its first cell.
    cells: CellId,
    /// Its last write, if that is known: only looked at while there are several cells.
    slot: u32,
    time: u64,
}

/// Instead of the time of a word's last write.
const NOT_KNOWN: u64 = u64::MAX;

/// All pages. A *head* is the first cell of a word, or of all words of a uniform page.
pub(super) struct Pages {
    pages: FxHashMap<u64, Page>,
    /// Split pages looked up before, by their number modulo the size.
    cache: [(u64, u32); CACHED],
    heads: Vec<Head>,
    free_split: Vec<u32>,
    free_uniform: Vec<u32>,
}

impl Default for Pages {
    fn default() -> Self {
        Pages {
            pages: FxHashMap::default(),
            cache: [(u64::MAX, 0); CACHED],
            heads: Vec::new(),
            free_split: Vec::new(),
            free_uniform: Vec::new(),
        }
    }
}

impl Pages {
    /// The head of a word, if its page is split and in the cache.
    #[inline]
    pub(super) fn cached(&self, word: u64) -> Option<u32> {
        let page = word / PAGE;
        let (cached, base) = self.cache[page as usize % CACHED];
        (cached == page).then_some(base + (word % PAGE) as u32)
    }

    pub(super) fn get(&self, page: u64) -> Option<Page> {
        self.pages.get(&page).copied()
    }

    /// Puts a split page into the cache.
    pub(super) fn remember(&mut self, page: u64, base: u32) {
        self.cache[page as usize % CACHED] = (page, base);
    }

    #[inline]
    pub(super) fn cells(&self, head: u32) -> CellId {
        self.heads[head as usize].cells
    }

    #[inline]
    pub(super) fn set_cells(&mut self, head: u32, cells: CellId) {
        self.heads[head as usize].cells = cells;
    }

    /// The last write to a word of several cells, if all before happen before it.
    #[inline]
    pub(super) fn write(&self, head: u32) -> Option<WordWrite> {
        let Head { slot, time, .. } = self.heads[head as usize];
        (time != NOT_KNOWN).then_some(WordWrite { slot, time })
    }

    #[inline]
    pub(super) fn set_write(&mut self, head: u32, write: Option<WordWrite>) {
        let head = &mut self.heads[head as usize];
        (head.slot, head.time) = write.map_or((0, NOT_KNOWN), |write| (write.slot, write.time));
    }

    /// A new page in place of what is there: the position of its first head.
    pub(super) fn add_split(&mut self, page: u64) -> u32 {
        if let Some(Page::Uniform(old)) = self.get(page) {
            self.free_uniform.push(old);
        }
        let base = self.free_split.pop().unwrap_or_else(|| {
            let base = self.heads.len();
            self.heads.resize(base + PAGE as usize, Head::default());
            base as u32
        });
        self.pages.insert(page, Page::Split(base));
        base
    }

    /// A new page: the position of its only head.
    pub(super) fn add_uniform(&mut self, page: u64) -> u32 {
        let head = self.free_uniform.pop().unwrap_or_else(|| {
            self.heads.push(Head::default());
            self.heads.len() as u32 - 1
        });
        self.pages.insert(page, Page::Uniform(head));
        head
    }

    /// Takes a page away, whose heads must be 0 by now.
    pub(super) fn remove(&mut self, page: u64) {
        match self.pages.remove(&page) {
            Some(Page::Uniform(head)) => self.free_uniform.push(head),
            Some(Page::Split(base)) => {
                self.free_split.push(base);
                let cached = &mut self.cache[page as usize % CACHED];
                if cached.0 == page {
                    *cached = (u64::MAX, 0);
                }
            }
            None => {}
        }
    }

    /// The pages in a range that exist, in order; looks at the smaller of the two sets.
    pub(super) fn existing(&self, first: u64, last: u64) -> Vec<u64> {
        if last - first < self.pages.len() as u64 {
            return (first..=last).filter(|page| self.pages.contains_key(page)).collect();
        }
        let mut pages: Vec<u64> =
            self.pages.keys().copied().filter(|page| (first..=last).contains(page)).collect();
        pages.sort_unstable();
        pages
    }
}
