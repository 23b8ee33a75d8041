//! Shadow memory: what is known of the accesses to each byte of the program's memory.
//!
//! A word has one [`Cell`] per distinct set of its bytes that is accessed together: one for most words, two for two
//! `u32`s side by side. An access looks for races in all cells it overlaps and is noted in the one of its bytes. An access of
//! several words is one access per word; it looks in all of them before it is noted in any.
//!
//! **Words of many cells.** Code that reads many bytes at once from anywhere (hash tables that look at sixteen at a time) makes many cells of each word. So such a word
//! also has its last write, as long as each write to it happens after the one before. A read that happens after that races with none, and learns nothing: it need not look into the cells.
//! The cell that is accessed goes to the front.

use foresee_trace::Mem;
use rustc_hash::FxHashSet;

use super::cell::{Cell, CellId, LastWrite, WordAccess, WordWrite};
use super::entries::{Entry, Key, Tables};
use super::knowledge::Published;
use super::pages::{PAGE, Page, Pages};
use super::races::{Races, Standing};
use super::snapshots::Snapshots;
use super::threads::Thread;

/// See the module documentation.
pub(super) struct Shadow {
    pages: Pages,
    /// The first is no cell.
    cells: Vec<Cell>,
    free_cells: Vec<CellId>,
    tables: Tables,
    snapshots: Snapshots,
    /// What atomic writes have published in a cell; the first belongs to no cell.
    syncs: Vec<Published>,
    free_syncs: Vec<u32>,
    /// Empty, but with room: for accesses of several words.
    parts: Vec<Part>,
    are_after_all: Vec<bool>,
}

/// A word, or all words of a page, and the bytes of it.
type Part = (u32, u8);

impl Default for Shadow {
    fn default() -> Self {
        Shadow {
            pages: Pages::default(),
            cells: vec![Cell::default()],
            free_cells: Vec::new(),
            tables: Tables::default(),
            snapshots: Snapshots::default(),
            syncs: vec![Published::default()],
            free_syncs: Vec::new(),
            parts: Vec::new(),
            are_after_all: Vec::new(),
        }
    }
}

impl Shadow {
    /// An access by the thread at this time.
    #[inline]
    pub(super) fn access(&mut self, mem: Mem, key: Key, time: u64, thread: &mut Thread, races: &mut Races) {
        let Some(mask) = mask_in_one_word(mem) else {
            return self.access_many(mem, key, time, thread, races);
        };
        let head = self.head(mem.addr / 8);
        let access = WordAccess { key, time, mask };
        let id = self.pages.cells(head);
        let cell = &mut self.cells[id as usize];
        if cell.mask != mask || cell.next != 0 {
            if self.is_read_in_order(head, key, thread) {
                return self.note_only(head, &access, thread, true);
            }
            let is_after_all = self.look(head, &access, thread, |earlier, standing| {
                races.found(earlier, key, time, standing);
            });
            return self.note(head, &access, thread, is_after_all);
        }
        let is_after_all = cell.races(&self.tables, &access, thread, |earlier| {
            races.found(earlier, key, time, standing(earlier, key, thread));
        });
        if key.manner().reads() {
            cell.last_write.read_by(thread, &self.snapshots);
        }
        cell.note(&mut self.tables, &access, is_after_all);
        if key.manner().writes() {
            cell.wrote(thread, time, &mut self.snapshots);
        }
    }

    fn access_many(&mut self, mem: Mem, key: Key, time: u64, thread: &mut Thread, races: &mut Races) {
        if !self.access_whole_words(mem, key, time, thread) {
            self.access_parts(mem, key, time, thread, races);
        }
    }

    /// The usual access of several words: of two that are always accessed as a whole, and without a race. Whether it is one; then it is done.
    fn access_whole_words(&mut self, mem: Mem, key: Key, time: u64, thread: &mut Thread) -> bool {
        const WORDS: usize = 2;
        let first = mem.addr / 8;
        let is_of_words = mem.addr.is_multiple_of(8) && mem.size as usize == 8 * WORDS;
        if !is_of_words || first % PAGE > PAGE - WORDS as u64 {
            return false;
        }
        let Some(head) = self.pages.cached(first) else { return false };
        let access = WordAccess { key, time, mask: u8::MAX };
        let ids: [CellId; WORDS] = std::array::from_fn(|nth| self.pages.cells(head + nth as u32));
        let mut is_usual = true;
        let are_after_all = ids.map(|id| {
            let cell = &self.cells[id as usize];
            is_usual &= cell.mask == u8::MAX && cell.next == 0;
            is_usual && cell.races(&self.tables, &access, thread, |_| is_usual = false)
        });
        if !is_usual {
            return false;
        }
        if key.manner().reads() {
            ids.iter().for_each(|&id| self.cells[id as usize].last_write.read_by(thread, &self.snapshots));
        }
        for (id, is_after_all) in ids.into_iter().zip(are_after_all) {
            let cell = &mut self.cells[id as usize];
            cell.note(&mut self.tables, &access, is_after_all);
            if key.manner().writes() {
                cell.wrote(thread, time, &mut self.snapshots);
            }
        }
        true
    }

    #[cold]
    fn access_parts(&mut self, mem: Mem, key: Key, time: u64, thread: &mut Thread, races: &mut Races) {
        let (mut parts, mut are_after_all) =
            (std::mem::take(&mut self.parts), std::mem::take(&mut self.are_after_all));
        self.add_parts(mem, &mut parts);
        let access = |mask| WordAccess { key, time, mask };
        // An earlier access of several words is met in each of them, and is one.
        let mut met = FxHashSet::default();
        for &(head, mask) in &parts {
            if self.is_read_in_order(head, key, thread) {
                are_after_all.push(true);
                continue;
            }
            are_after_all.push(self.look(head, &access(mask), thread, |earlier, standing| {
                if met.insert(earlier.time) {
                    races.found(earlier, key, time, standing);
                }
            }));
        }
        if key.manner().reads() {
            for &(head, mask) in &parts {
                if !self.is_read_in_order(head, key, thread) {
                    self.read_from(head, mask, thread);
                }
            }
        }
        for ((head, mask), is_after_all) in parts.drain(..).zip(are_after_all.drain(..)) {
            self.note_only(head, &access(mask), thread, is_after_all);
        }
        (self.parts, self.are_after_all) = (parts, are_after_all);
    }

    /// Whether it is only read, and all writes to this word of several cells happen before.
    #[inline]
    fn is_read_in_order(&self, head: u32, key: Key, thread: &Thread) -> bool {
        !key.manner().writes()
            && self.cells[self.pages.cells(head) as usize].next != 0
            && self.pages.write(head).is_some_and(|last| thread.is_after(last.slot, last.time))
    }

    /// Looks for races in all cells of a word, showing the earlier access and whether the pair is schedulable. Whether
    /// the access is ordered after all of the cell of the same bytes.
    fn look(
        &self,
        head: u32,
        access: &WordAccess,
        thread: &Thread,
        mut each: impl FnMut(&Entry, Standing),
    ) -> bool {
        let mut own = None;
        for id in self.overlapping(head, access.mask) {
            let cell = &self.cells[id as usize];
            let is_after_all = cell.races(&self.tables, access, thread, |earlier| {
                each(earlier, standing(earlier, access.key, thread));
            });
            if cell.mask == access.mask {
                own.get_or_insert(is_after_all);
            }
        }
        own.unwrap_or(true)
    }

    fn note(&mut self, head: u32, access: &WordAccess, thread: &mut Thread, is_after_all: bool) {
        if access.key.manner().reads() {
            self.read_from(head, access.mask, thread);
        }
        self.note_only(head, access, thread, is_after_all);
    }

    fn note_only(&mut self, head: u32, access: &WordAccess, thread: &mut Thread, is_after_all: bool) {
        let id = self.own_cell(head, access.mask);
        let cell = &mut self.cells[id as usize];
        cell.note(&mut self.tables, access, is_after_all);
        if access.key.manner().writes() {
            cell.wrote(thread, access.time, &mut self.snapshots);
            let last = self.pages.write(head).filter(|last| thread.is_after(last.slot, last.time));
            self.pages.set_write(head, last.map(|_| WordWrite { slot: thread.slot, time: access.time }));
        }
    }

    /// The thread reads, byte by byte, the last write of any cell.
    fn read_from(&mut self, head: u32, mask: u8, thread: &mut Thread) {
        let mut overlapping = self.overlapping(head, mask);
        if let (first, None) = (overlapping.next(), overlapping.next()) {
            if let Some(only) = first {
                self.cells[only as usize].last_write.read_by(thread, &self.snapshots);
            }
            return;
        }
        let mut writes: Vec<(LastWrite, u8)> = (self.overlapping(head, mask))
            .map(|id| &self.cells[id as usize])
            .map(|cell| (cell.last_write, cell.mask & mask))
            .collect();
        writes.sort_unstable_by_key(|(write, _)| std::cmp::Reverse(write.time));
        let mut unread = mask;
        for (write, bytes) in writes {
            if bytes & unread != 0 {
                write.read_by(thread, &self.snapshots);
                unread &= !bytes;
            }
        }
    }

    fn overlapping(&self, head: u32, mask: u8) -> impl Iterator<Item = CellId> {
        let some = |id: CellId| (id != 0).then_some(id);
        std::iter::successors(some(self.pages.cells(head)), move |&id| some(self.cells[id as usize].next))
            .filter(move |&id| self.cells[id as usize].mask & mask != 0)
    }

    /// The cell of exactly these bytes, which is the first of its word then.
    fn own_cell(&mut self, head: u32, mask: u8) -> CellId {
        let first = self.pages.cells(head);
        let (mut before, mut id) = (0, first);
        while id != 0 {
            let Cell { next, mask: of, .. } = self.cells[id as usize];
            if of == mask {
                if before != 0 {
                    self.cells[before as usize].next = next;
                    self.cells[id as usize].next = first;
                    self.pages.set_cells(head, id);
                }
                return id;
            }
            (before, id) = (id, next);
        }
        if first != 0 && self.cells[first as usize].next == 0 {
            // From now on there are several.
            self.pages.set_write(head, self.cells[first as usize].only_write());
        }
        let cell = Cell::new(mask, first, &mut self.tables);
        let id = self.add_cell(cell);
        self.pages.set_cells(head, id);
        id
    }

    fn add_cell(&mut self, cell: Cell) -> CellId {
        match self.free_cells.pop() {
            Some(id) => {
                self.cells[id as usize] = cell;
                id
            }
            None => {
                self.cells.push(cell);
                self.cells.len() as CellId - 1
            }
        }
    }

    #[inline]
    fn head(&mut self, word: u64) -> u32 {
        match self.pages.cached(word) {
            Some(head) => head,
            None => self.split_page(word / PAGE) + (word % PAGE) as u32,
        }
    }

    /// A page with a head per word, made so if it is not.
    #[cold]
    fn split_page(&mut self, page: u64) -> u32 {
        let base = match self.pages.get(page) {
            Some(Page::Split(base)) => base,
            None => self.pages.add_split(page),
            Some(Page::Uniform(head)) => {
                let (cells, write) = (self.pages.cells(head), self.pages.write(head));
                self.pages.set_cells(head, 0);
                let base = self.pages.add_split(page);
                for word in 1..PAGE as u32 {
                    let copy = self.copy_cells(cells);
                    self.pages.set_cells(base + word, copy);
                }
                self.pages.set_cells(base, cells);
                (base..base + PAGE as u32).for_each(|head| self.pages.set_write(head, write));
                base
            }
        };
        self.pages.remember(page, base);
        base
    }

    fn copy_cells(&mut self, first: CellId) -> CellId {
        let mut copies = 0;
        let mut id = first;
        while id != 0 {
            let mut cell = self.cells[id as usize];
            id = cell.next;
            if let Some(snapshot) = cell.last_write.snapshot {
                self.snapshots.hold(snapshot);
            }
            if cell.sync != 0 {
                cell.sync = self.add_sync(self.syncs[cell.sync as usize].clone());
            }
            cell.table = self.tables.copy(cell.table);
            cell.next = copies;
            copies = self.add_cell(cell);
        }
        copies
    }

    /// Adds all parts of a range, made if they are not there. A page that is covered stays uniform or becomes so if it is new.
    fn add_parts(&mut self, mem: Mem, parts: &mut Vec<Part>) {
        let Some(last) = last_byte(mem) else { return };
        for page in mem.addr / 8 / PAGE..=last / 8 / PAGE {
            if is_covered(page, mem.addr, last) {
                let uniform = match self.pages.get(page) {
                    None => Some(self.pages.add_uniform(page)),
                    Some(Page::Uniform(head)) => Some(head),
                    Some(Page::Split(_)) => None,
                };
                if let Some(head) = uniform {
                    parts.push((head, u8::MAX));
                    continue;
                }
            }
            let base = self.head(page * PAGE);
            parts.extend(words_of(page, base, mem.addr, last));
        }
    }

    /// The memory begins a new life.
    pub(super) fn forget(&mut self, mem: Mem) {
        let Some(last) = last_byte(mem) else { return };
        for page in self.pages.existing(mem.addr / 8 / PAGE, last / 8 / PAGE) {
            if is_covered(page, mem.addr, last) {
                match self.pages.get(page) {
                    Some(Page::Uniform(head)) => self.forget_bytes(head, u8::MAX),
                    Some(Page::Split(base)) => {
                        (base..base + PAGE as u32).for_each(|head| self.forget_bytes(head, u8::MAX));
                    }
                    None => {}
                }
                self.pages.remove(page);
            } else {
                let base = self.split_page(page);
                for (head, mask) in words_of(page, base, mem.addr, last) {
                    self.forget_bytes(head, mask);
                }
            }
        }
    }

    fn forget_bytes(&mut self, head: u32, mask: u8) {
        let mut id = self.pages.cells(head);
        let mut kept = 0;
        while id != 0 {
            let cell = &mut self.cells[id as usize];
            let next = cell.next;
            cell.mask &= !mask;
            if cell.mask == 0 {
                self.tables.free(cell.table);
                if let Some(snapshot) = cell.last_write.snapshot {
                    self.snapshots.drop(snapshot);
                }
                if cell.sync != 0 {
                    self.syncs[cell.sync as usize].clear();
                    self.free_syncs.push(cell.sync);
                }
                self.free_cells.push(id);
            } else {
                cell.next = kept;
                kept = id;
            }
            id = next;
        }
        self.pages.set_cells(head, kept);
    }

    /// What atomic writes to any of these bytes have published.
    pub(super) fn published(&mut self, mem: Mem, mut each: impl FnMut(&Published)) {
        for (head, mask) in self.atomic_parts(mem) {
            for id in self.overlapping(head, mask) {
                let sync = self.cells[id as usize].sync;
                if sync != 0 {
                    each(&self.syncs[sync as usize]);
                }
            }
        }
    }

    /// Changes what an atomic write to these bytes, already noted, publishes.
    pub(super) fn publish(&mut self, mem: Mem, mut change: impl FnMut(&mut Published)) {
        for (head, mask) in self.atomic_parts(mem) {
            let id = self.own_cell(head, mask) as usize;
            if self.cells[id].sync == 0 {
                self.cells[id].sync = self.add_sync(Published::default());
            }
            change(&mut self.syncs[self.cells[id].sync as usize]);
        }
    }

    fn atomic_parts(&mut self, mem: Mem) -> impl Iterator<Item = Part> + use<> {
        let mut many = Vec::new();
        let one = mask_in_one_word(mem).map(|mask| (self.head(mem.addr / 8), mask));
        if one.is_none() {
            self.add_parts(mem, &mut many);
        }
        one.into_iter().chain(many)
    }

    fn add_sync(&mut self, published: Published) -> u32 {
        match self.free_syncs.pop() {
            Some(id) => {
                self.syncs[id as usize] = published;
                id
            }
            None => {
                self.syncs.push(published);
                self.syncs.len() as u32 - 1
            }
        }
    }
}

/// How certain a race of the thread's access with an earlier one is.
fn standing(earlier: &Entry, key: Key, thread: &Thread) -> Standing {
    let (slot, time) = (earlier.key.slot(), earlier.time);
    if thread.is_suspected_after(slot, time) {
        Standing::Doubtful
    } else if thread.is_schedulably_after(slot, time) || !key.manner().races_anywhere(earlier.key.manner()) {
        Standing::Observed
    } else {
        Standing::Schedulable
    }
}

/// The last byte of a range, which ends at the latest with the address space; `None` for no bytes.
fn last_byte(mem: Mem) -> Option<u64> {
    let more = mem.size.checked_sub(1)?;
    Some(mem.addr.saturating_add(u64::from(more)))
}

/// The bytes of the word that a range lies in; `None` if it lies in several or has no bytes.
#[inline]
fn mask_in_one_word(mem: Mem) -> Option<u8> {
    let first = (mem.addr % 8) as u32;
    if mem.size == 0 || mem.size > 8 - first {
        return None;
    }
    Some((0xff_u32 >> (8 - mem.size) << first) as u8)
}

fn is_covered(page: u64, first: u64, last: u64) -> bool {
    let start = page * PAGE * 8;
    first <= start && last - start >= PAGE * 8 - 1
}

/// The words of a split page that the bytes from `first` to `last` touch.
fn words_of(page: u64, base: u32, first: u64, last: u64) -> impl Iterator<Item = Part> {
    let start = page * PAGE;
    let words = (first / 8).max(start)..=(last / 8).min(start + PAGE - 1);
    words.map(move |word| {
        let from = if word == first / 8 { first % 8 } else { 0 };
        let to = if word == last / 8 { last % 8 } else { 7 };
        (base + (word - start) as u32, (0xff_u32 >> (7 - (to - from)) << from) as u8)
    })
}
