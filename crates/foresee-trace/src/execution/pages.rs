//! From the address of a word to the variables that begin in it and the life it is in.
//!
//! Memory comes in pages of 32 words of 8 bytes, each word a slot of 8 bytes: programs touch neighbours, so the slot at hand
//! is usually in the processor's cache, which no hash table of variables achieves. Pages are small because some
//! programs touch one word in many. A page whose memory begins a new life as a whole is forgotten, so that beginning lives
//! costs no more than touching memory did.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::lives::Allocations;

/// Bytes per word.
pub(super) const WORD: u64 = 8;
const WORDS: usize = 32;
const BYTES: u64 = WORD * WORDS as u64;

/// No variable.
pub(super) const NONE: u32 = u32::MAX;
/// The life of a word whose bytes are in different lives.
pub(super) const MIXED: u32 = u32::MAX;

/// One word.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// The newest small variable that begins here; the others follow from it.
    pub(super) head: u32,
    pub(super) life: u32,
}

const UNTOUCHED: Slot = Slot { head: NONE, life: 0 };

/// Pages per region.
const REGION: u64 = 64;

const CACHED: usize = 1 << 12;
const NO_PAGE: u64 = u64::MAX;

/// All pages that were touched.
pub(super) struct Pages {
    /// Where the slots of each page are.
    places: FxHashMap<u64, u32>,
    /// Which pages of each region there are, as bits: to find those of a range.
    regions: BTreeMap<u64, u64>,
    /// Pages looked up before, by their number modulo the size.
    cache: Box<[(u64, u32)]>,
    slots: Vec<[Slot; WORDS]>,
    unused: Vec<u32>,
}

impl Default for Pages {
    fn default() -> Self {
        let cache = vec![(NO_PAGE, 0); CACHED].into();
        Pages {
            places: FxHashMap::default(),
            regions: BTreeMap::new(),
            cache,
            slots: Vec::new(),
            unused: Vec::new(),
        }
    }
}

impl Pages {
    /// The slot of the word at an address.
    #[inline]
    pub(super) fn slot(&mut self, addr: u64, allocated: &Allocations) -> &mut Slot {
        let page = addr / BYTES;
        let (cached, place) = self.cache[page as usize % CACHED];
        let place = if cached == page { place } else { self.look_up(page, allocated) };
        &mut self.slots[place as usize][(addr / WORD) as usize % WORDS]
    }

    #[inline(never)]
    fn look_up(&mut self, page: u64, allocated: &Allocations) -> u32 {
        let place = match self.places.get(&page) {
            Some(&place) => place,
            None => self.add(page, allocated),
        };
        self.cache[page as usize % CACHED] = (page, place);
        place
    }

    fn add(&mut self, page: u64, allocated: &Allocations) -> u32 {
        let place = self.unused.pop().unwrap_or_else(|| {
            self.slots.push([UNTOUCHED; WORDS]);
            self.slots.len() as u32 - 1
        });
        let slots = &mut self.slots[place as usize];
        slots.fill(UNTOUCHED);
        let first = page * BYTES;
        for (start, end, life) in allocated.within(first, first + (BYTES - 1)) {
            cover(slots, first, start, end, life);
        }
        self.places.insert(page, place);
        *self.regions.entry(page / REGION).or_default() |= 1 << (page % REGION);
        place
    }

    /// The bytes from `start` to `end` have begun this life.
    pub(super) fn begin(&mut self, start: u64, end: u128, life: u32) {
        if end <= start.into() {
            return;
        }
        let last = u64::try_from(end - 1).unwrap_or(u64::MAX);
        let (first_page, last_page) = (start / BYTES, last / BYTES);
        let mut from = first_page / REGION;
        while let Some((&region, &bits)) = self.regions.range(from..=last_page / REGION).next() {
            let mut left = bits;
            while left != 0 {
                let page = region * REGION + u64::from(left.trailing_zeros());
                left &= left - 1;
                if (first_page..=last_page).contains(&page) {
                    self.begin_page(page, start, end, life);
                }
            }
            if region == last_page / REGION {
                break;
            }
            from = region + 1;
        }
    }

    fn begin_page(&mut self, page: u64, start: u64, end: u128, life: u32) {
        let first = page * BYTES;
        let is_whole = start <= first && u128::from(first) + u128::from(BYTES) <= end;
        let Some(&place) = self.places.get(&page) else { return };
        if !is_whole {
            return cover(&mut self.slots[place as usize], first, start, end, life);
        }
        self.places.remove(&page);
        self.unused.push(place);
        let cached = &mut self.cache[page as usize % CACHED];
        if cached.0 == page {
            cached.0 = NO_PAGE;
        }
        if let Some(bits) = self.regions.get_mut(&(page / REGION)) {
            *bits &= !(1 << (page % REGION));
            if *bits == 0 {
                self.regions.remove(&(page / REGION));
            }
        }
    }
}

/// Notes the life of a block in the slots of a page that begins at `first`.
fn cover(slots: &mut [Slot; WORDS], first: u64, start: u64, end: u128, life: u32) {
    let from = start.saturating_sub(first).min(BYTES);
    let to = end.saturating_sub(first.into()).min(BYTES.into()) as u64;
    let word = |byte: u64| (byte / WORD) as usize;
    let (whole_from, whole_to) = (word(from.next_multiple_of(WORD)), word(to));
    for (byte, edge) in [(from, word(from)), (to, word(to))] {
        if !byte.is_multiple_of(WORD) {
            slots[edge].life = MIXED;
        }
    }
    // No variable that begins in a word of which every byte is new can be touched again.
    if whole_from < whole_to {
        slots[whole_from..whole_to].fill(Slot { head: NONE, life });
    }
}
