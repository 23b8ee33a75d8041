//! Which [`History`] belongs to which bytes.
//!
//! Memory is split into words of 8 bytes, a page of words at a time. A word begins as one group of bytes with one history;
//! an access that touches only some bytes of a group splits it. So two accesses share a history exactly when they share a
//! byte. Nearly every word stays one group.
//!
//! **Cost.** An access: one look-up of a page, then one index per word. Memory: 4 bytes per word of a touched page and
//! one history per word touched. Allocation forgets the histories in its range; absent pages are skipped.

use foresee_trace::Mem;
use rustc_hash::FxHashMap;

/// Number of a history.
pub(super) type Group = u32;

const WORDS_PER_PAGE: u64 = 512;
const NONE: Group = Group::MAX;

/// One group of bytes of a word.
#[derive(Clone, Copy)]
struct Bytes {
    mask: u8,
    history: u32,
    next: Group,
}

/// Maps bytes to the numbers of their histories.
#[derive(Default)]
pub(super) struct Memory {
    pages: FxHashMap<u64, Box<[Group]>>,
    groups: Vec<Bytes>,
}

/// What [`Memory::visit`] comes across.
pub(super) enum Visit {
    /// A history of bytes the access touches.
    Touch(u32),
    /// Bytes that no event touched before: they need a new history, whose number is the answer.
    New,
    /// The bytes of this history are no longer one group: the answer is the number of a copy.
    Split(u32),
}

impl Memory {
    /// Calls `act` for every group of bytes that the range touches, and for what has to be done before. Only `Touch`'s answer is
    /// not used.
    pub(super) fn visit(&mut self, mem: Mem, mut act: impl FnMut(Visit) -> u32) {
        let (first, last) = words(mem);
        let mut word = first;
        loop {
            let mask = mask(mem, word);
            let page = self.pages.entry(word / WORDS_PER_PAGE).or_insert_with(empty_page);
            let head = &mut page[(word % WORDS_PER_PAGE) as usize];
            visit_word(head, &mut self.groups, mask, &mut act);
            if word == last {
                return;
            }
            word += 1;
        }
    }

    /// Calls `touch` for every history that there already is in the range.
    pub(super) fn visit_known(&self, mem: Mem, mut touch: impl FnMut(u32)) {
        let mut at = |head: Group, mask: u8| {
            let mut group = head;
            while let Some(bytes) = self.groups.get(group as usize) {
                if bytes.mask & mask != 0 {
                    touch(bytes.history);
                }
                group = bytes.next;
            }
        };
        self.known_words(mem).for_each(|(page, word)| {
            at(self.pages[&page][word], mask(mem, page * WORDS_PER_PAGE + word as u64))
        });
    }

    /// Forgets a range: what comes now is about other variables.
    pub(super) fn forget(&mut self, mem: Mem) {
        let known: Vec<(u64, usize)> = self.known_words(mem).collect();
        for (page, word) in known {
            let mask = mask(mem, page * WORDS_PER_PAGE + word as u64);
            let Some(page) = self.pages.get_mut(&page) else { continue };
            let mut group = page[word];
            if mask == u8::MAX {
                page[word] = NONE;
                continue;
            }
            while let Some(bytes) = self.groups.get_mut(group as usize) {
                bytes.mask &= !mask;
                group = bytes.next;
            }
        }
    }

    /// The page and the number in the page of every word that an event touched before.
    fn known_words(&self, mem: Mem) -> impl Iterator<Item = (u64, usize)> + '_ {
        let (first, last) = words(mem);
        let few = last / WORDS_PER_PAGE - first / WORDS_PER_PAGE <= self.pages.len() as u64;
        let mut pages: Vec<u64> = if few {
            (first / WORDS_PER_PAGE..=last / WORDS_PER_PAGE)
                .filter(|page| self.pages.contains_key(page))
                .collect()
        } else {
            self.pages
                .keys()
                .copied()
                .filter(|page| (first / WORDS_PER_PAGE..=last / WORDS_PER_PAGE).contains(page))
                .collect()
        };
        pages.sort_unstable();
        pages.into_iter().flat_map(move |page| {
            let start = first.max(page * WORDS_PER_PAGE) - page * WORDS_PER_PAGE;
            let end = last.min(page * WORDS_PER_PAGE + WORDS_PER_PAGE - 1) - page * WORDS_PER_PAGE;
            let words = self.pages.get(&page);
            (start as usize..=end as usize)
                .filter(move |&word| words.is_some_and(|words| words[word] != NONE))
                .map(move |word| (page, word))
        })
    }
}

fn empty_page() -> Box<[Group]> {
    vec![NONE; WORDS_PER_PAGE as usize].into_boxed_slice()
}

/// The first and the last word of a range; a range that runs out of the address space ends with it.
fn words(mem: Mem) -> (u64, u64) {
    let last = mem.addr.saturating_add(u64::from(mem.size.max(1)) - 1);
    (mem.addr / 8, last / 8)
}

/// Which bytes of a word the range covers.
#[inline]
fn mask(mem: Mem, word: u64) -> u8 {
    let (start, end) = (u128::from(word) * 8, u128::from(word) * 8 + 8);
    let from = u128::from(mem.addr).max(start) - start;
    let to = mem.end().min(end) - start;
    (((1u16 << to) - 1) & !((1u16 << from) - 1)) as u8
}

#[inline]
fn visit_word(head: &mut Group, groups: &mut Vec<Bytes>, mask: u8, act: &mut impl FnMut(Visit) -> u32) {
    let mut missing = mask;
    let mut group = *head;
    while let Some(&bytes) = groups.get(group as usize) {
        let common = bytes.mask & mask;
        if common != 0 {
            missing &= !common;
            if common != bytes.mask {
                let rest = Bytes {
                    mask: bytes.mask & !mask,
                    history: act(Visit::Split(bytes.history)),
                    next: *head,
                };
                groups[group as usize].mask = common;
                *head = groups.len() as Group;
                groups.push(rest);
            }
            act(Visit::Touch(bytes.history));
        }
        group = bytes.next;
    }
    if missing != 0 {
        let history = act(Visit::New);
        let new = Bytes { mask: missing, history, next: *head };
        *head = groups.len() as Group;
        groups.push(new);
        act(Visit::Touch(history));
    }
}
