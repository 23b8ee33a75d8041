//! Memory about which nothing is known but that plain accesses touch it, which is nearly all.
//!
//! What an access may mean beside being one depends on where it is: a static has a name to be found, a write may end a lock that
//! was there, or make an atomic's value unknown. Each is a question to a table of its own, for every access. So the addresses that
//! have an entry in any of these tables are *marked*; all others are plain, and one look at their page shows it. Where a file is mapped, an address is plain once it has been
//! asked what is there.
//!
//! **Memory.** 128 bytes for each page that has something marked, 512 for each with statics that were accessed.

use foresee_format::SYNC_SPACE;
use rustc_hash::FxHashMap;

use crate::event::Mem;
use crate::raw::modules::Module;

const PAGE_BITS: u32 = 12;
/// What is marked is a piece of memory of four bytes: often two halves of a word mean different things.
const PIECE_BITS: u32 = 2;
/// How many pages are remembered, each in the one slot that it can be in.
const SLOTS: usize = 1 << 12;
/// No page has this number.
const NO_PAGE: u64 = u64::MAX;

/// Which pieces of a page are marked: a bit for each.
type Pieces = [u64; 1 << (PAGE_BITS - PIECE_BITS - 6)];

/// Which bytes of a page it has been asked what they are: a bit for each.
type Bytes = [u64; 1 << (PAGE_BITS - 6)];

/// What is known of a page: that it is plain, that a file is mapped there, or where its pieces are, or its bytes and its pieces if there are any.
#[derive(Clone, Copy)]
enum Page {
    Plain,
    Mapped,
    Marked(u32),
    Asked(u32, Option<u32>),
}

/// Which addresses are plain.
pub(crate) struct PlainMemory {
    recent: Box<[(u64, Page)]>,
    marked: FxHashMap<u64, u32>,
    pieces: Vec<Pieces>,
    asked: FxHashMap<u64, u32>,
    bytes: Vec<Bytes>,
}

impl Default for PlainMemory {
    fn default() -> PlainMemory {
        let recent = vec![(NO_PAGE, Page::Mapped); SLOTS].into();
        let (marked, asked) = (FxHashMap::default(), FxHashMap::default());
        PlainMemory { recent, marked, pieces: Vec::new(), asked, bytes: Vec::new() }
    }
}

/// The first and the last page or piece of some memory that is not empty.
#[inline]
fn parts<const BITS: u32>(mem: Mem) -> (u64, u64) {
    let last = mem.addr.saturating_add(u64::from(mem.size.saturating_sub(1)));
    (mem.addr >> BITS, last >> BITS)
}

/// Which word of the bytes of its page an address is in, and which bit there.
#[inline]
fn byte(addr: u64) -> (usize, u64) {
    let at = addr as usize % (1 << PAGE_BITS);
    (at / 64, 1 << (at % 64))
}

/// Which word of the pieces of its page a piece is in, and which bit there.
#[inline]
fn bit(piece: u64) -> (usize, u64) {
    let at = piece as usize % (1 << (PAGE_BITS - PIECE_BITS));
    (at / 64, 1 << (at % 64))
}

impl PlainMemory {
    /// Something is known of this memory, which is small.
    pub(crate) fn mark(&mut self, mem: Mem) {
        let (first, last) = parts::<PIECE_BITS>(mem);
        for piece in first..=last {
            let page = piece >> (PAGE_BITS - PIECE_BITS);
            let next = self.pieces.len() as u32;
            let at = *self.marked.entry(page).or_insert(next);
            if at == next {
                self.pieces.push(Pieces::default());
                self.recent[slot(page)] = (NO_PAGE, Page::Mapped);
            }
            let (word, bit) = bit(piece);
            self.pieces[at as usize][word] |= bit;
        }
    }

    /// It has been asked what is at the beginning of this memory, in the page that was looked at last: a variable with a name, if anything.
    pub(crate) fn was_asked(&mut self, mem: Mem) {
        let page = mem.addr >> PAGE_BITS;
        let recent = self.recent[slot(page)];
        if recent.0 != page || page >= SYNC_SPACE >> PAGE_BITS {
            return;
        }
        let at = match recent.1 {
            Page::Asked(at, _) => at,
            Page::Mapped => {
                let at = self.bytes.len() as u32;
                self.bytes.push([0; 1 << (PAGE_BITS - 6)]);
                self.asked.insert(page, at);
                self.recent[slot(page)] = (NO_PAGE, Page::Mapped);
                at
            }
            Page::Plain | Page::Marked(_) => return,
        };
        let (word, bit) = byte(mem.addr);
        self.bytes[at as usize][word] |= bit;
    }

    /// Files are mapped otherwise than before.
    pub(crate) fn remap(&mut self) {
        self.recent.fill((NO_PAGE, Page::Mapped));
        self.asked.clear();
        self.bytes.clear();
    }

    /// Whether nothing is known of this memory, and no file is mapped there.
    pub(crate) fn is_plain(&mut self, mem: Mem, modules: &[Module]) -> bool {
        let page = mem.addr >> PAGE_BITS;
        if self.recent[slot(page)].0 != page {
            self.recent[slot(page)] = (page, self.look_up(page, modules));
        }
        self.is_surely_plain(mem)
    }

    /// The same, but `false` if that would have to be looked up.
    #[inline]
    pub(crate) fn is_surely_plain(&self, mem: Mem) -> bool {
        let (first, last) = parts::<PAGE_BITS>(mem);
        let (page, known) = self.recent[slot(first)];
        let is_plain = match known {
            Page::Plain => true,
            Page::Mapped => false,
            Page::Marked(at) => self.is_plain_there(at, mem),
            Page::Asked(at, marked) => {
                let (word, bit) = byte(mem.addr);
                let was_asked = self.bytes[at as usize][word] & bit != 0;
                was_asked && marked.is_none_or(|at| self.is_plain_there(at, mem))
            }
        };
        page == first && first == last && is_plain
    }

    /// Whether a file is mapped where memory is that is surely plain.
    #[inline]
    pub(crate) fn is_mapped(&self, mem: Mem) -> bool {
        matches!(self.recent[slot(mem.addr >> PAGE_BITS)].1, Page::Asked(..))
    }

    fn is_plain_there(&self, at: u32, mem: Mem) -> bool {
        let pieces = &self.pieces[at as usize];
        let (first, last) = parts::<PIECE_BITS>(mem);
        (first..=last).all(|piece| {
            let (word, bit) = bit(piece);
            pieces[word] & bit == 0
        })
    }

    fn look_up(&self, page: u64, modules: &[Module]) -> Page {
        let after = modules.partition_point(|module| module.start >> PAGE_BITS <= page);
        let below = after.checked_sub(1).and_then(|at| modules.get(at));
        let is_mapped = below.is_some_and(|module| page << PAGE_BITS < module.end);
        let marked = self.marked.get(&page).copied();
        if is_mapped || page >= SYNC_SPACE >> PAGE_BITS {
            return self.asked.get(&page).map_or(Page::Mapped, |&at| Page::Asked(at, marked));
        }
        marked.map_or(Page::Plain, Page::Marked)
    }
}

#[inline]
fn slot(page: u64) -> usize {
    (page ^ page >> 12) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_marked_or_mapped_is_not_plain() {
        let mut memory = PlainMemory::default();
        let modules = [Module { path: "/a".to_owned(), start: 0x9800, end: 0xa000, offset: 0 }];
        let is = |memory: &mut PlainMemory, addr, size| memory.is_plain(Mem { addr, size }, &modules);
        assert!(is(&mut memory, 0x5004, 8));
        memory.mark(Mem { addr: 0x5000, size: 1 });
        assert!(!is(&mut memory, 0x5000, 1) && !is(&mut memory, 0x4ffd, 4) && !is(&mut memory, 0x5002, 8));
        assert!(is(&mut memory, 0x5004, 8) && is(&mut memory, 0x6000, 1) && is(&mut memory, 0x4ff8, 8));
        // What is on two pages is not looked at.
        assert!(!is(&mut memory, 0x6ffc, 8));
        assert!(!is(&mut memory, 0x9000, 8) && !is(&mut memory, 0x9fff, 1) && is(&mut memory, 0xa000, 1));
        assert!(!is(&mut memory, SYNC_SPACE | 0x5000, 8) && !is(&mut memory, u64::MAX, 2));
    }

    #[test]
    fn what_was_asked_for_is_plain_where_nothing_is_marked() {
        let mut memory = PlainMemory::default();
        let modules = [Module { path: "/a".to_owned(), start: 0x9000, end: 0xb000, offset: 0 }];
        let is = |memory: &mut PlainMemory, addr, size| memory.is_plain(Mem { addr, size }, &modules);
        let ask = |memory: &mut PlainMemory, addr, size| {
            is(memory, addr, size);
            memory.was_asked(Mem { addr, size });
        };
        ask(&mut memory, 0x9004, 8);
        ask(&mut memory, 0xa000, 1);
        assert!(is(&mut memory, 0x9004, 8) && is(&mut memory, 0x9004, 16) && is(&mut memory, 0xa000, 1));
        assert!(memory.is_mapped(Mem { addr: 0x9004, size: 8 }));
        assert!(!is(&mut memory, 0x9005, 1) && !is(&mut memory, 0x9000, 8) && !is(&mut memory, 0xa001, 1));
        memory.mark(Mem { addr: 0x9010, size: 4 });
        assert!(is(&mut memory, 0x9004, 12) && !is(&mut memory, 0x9004, 16));
        // Elsewhere it is no matter of asking.
        memory.mark(Mem { addr: 0xc000, size: 4 });
        ask(&mut memory, 0xc000, 4);
        ask(&mut memory, SYNC_SPACE | 0x5000, 4);
        assert!(!is(&mut memory, 0xc000, 4) && !is(&mut memory, SYNC_SPACE | 0x5000, 4));
        memory.remap();
        assert!(!is(&mut memory, 0x9004, 8));
    }
}
