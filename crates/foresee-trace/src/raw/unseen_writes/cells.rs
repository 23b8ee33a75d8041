//! What is known of memory: what was read last where, and which writes may not be over.

use rustc_hash::FxHashMap;

use super::threads::{Moment, Threads, WriteOf};
use crate::event::Mem;
use crate::ids::LocId;

const PAGE_BITS: u32 = 12;
/// The most bytes that one access has; a larger piece of memory is a range.
const MOST: u64 = 16;
/// Memory of more pages than this is not noted page by page.
const LARGE: u64 = 256;

/// What a read saw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saw {
    pub(super) digest: u8,
    pub(super) by: Moment,
    /// The index of its event.
    pub(super) event: u64,
    pub(super) loc: LocId,
}

#[derive(Clone, Copy)]
enum State {
    Saw(Saw),
    /// It was written.
    Written(WriteOf),
    /// It is never compared, until it is renewed.
    Apart,
}

#[derive(Clone, Copy)]
struct Cell {
    mem: Mem,
    state: State,
}

/// Cells of the memory of one page, by their first bytes, and ranges that were written.
#[derive(Default)]
struct Page {
    cells: Vec<Cell>,
    ranges: Vec<(Mem, WriteOf)>,
}

/// All pages.
#[derive(Default)]
pub(super) struct Cells {
    pages: FxHashMap<u64, Page>,
}

fn pages(mem: Mem) -> (u64, u64) {
    (mem.addr >> PAGE_BITS, mem.addr.saturating_add(u64::from(mem.size.saturating_sub(1))) >> PAGE_BITS)
}

impl Page {
    /// The cells that may share bytes with this memory, from which to which.
    fn near(&self, mem: Mem) -> std::ops::Range<usize> {
        let first = self.cells.partition_point(|cell| cell.mem.addr + MOST <= mem.addr);
        let many = self.cells[first..].partition_point(|cell| u128::from(cell.mem.addr) < mem.end());
        first..first + many
    }

    fn insert(&mut self, cell: Cell) {
        let at = self.cells.partition_point(|other| other.mem.addr <= cell.mem.addr);
        self.cells.insert(at, cell);
    }

    /// Whether nothing of this memory is apart, or written by another thread and perhaps not over.
    fn is_clear(&mut self, mem: Mem, thread: u64, threads: &Threads) -> bool {
        self.ranges.retain(|&(_, write)| !threads.is_over(write));
        let is_open = |write: WriteOf| write.thread != thread && !threads.is_over(write);
        let near = self.near(mem);
        let cells = self.cells[near].iter().filter(|cell| cell.mem.overlaps(mem));
        let is_open_cell = |cell: &Cell| match cell.state {
            State::Saw(_) => false,
            State::Written(write) => is_open(write),
            State::Apart => true,
        };
        !cells.into_iter().any(is_open_cell)
            && !self.ranges.iter().any(|&(range, write)| range.overlaps(mem) && is_open(write))
    }

    /// What was read in this memory is not there any more, and writes that are over need not be known.
    fn forget(&mut self, mem: Mem, by: WriteOf, is_renewed: bool, threads: &Threads) {
        let near = self.near(mem);
        let stays = |cell: &Cell| {
            !cell.mem.overlaps(mem)
                || match cell.state {
                    State::Saw(_) => false,
                    State::Written(write) => write.thread != by.thread && !threads.is_over(write),
                    State::Apart => !is_renewed,
                }
        };
        let mut kept = near.start;
        for at in near.clone() {
            if stays(&self.cells[at]) {
                self.cells[kept] = self.cells[at];
                kept += 1;
            }
        }
        self.cells.drain(kept..near.end);
    }

    fn changed(&mut self, mem: Mem, by: WriteOf, is_renewed: bool, threads: &Threads) {
        self.forget(mem, by, is_renewed, threads);
        if u64::from(mem.size) <= MOST {
            self.insert(Cell { mem, state: State::Written(by) });
        } else {
            let stays = |&(range, write): &(Mem, WriteOf)| {
                !threads.is_over(write) && (write.thread != by.thread || !is_within(range, mem))
            };
            self.ranges.retain(stays);
            self.ranges.push((mem, by));
        }
    }
}

fn is_within(inner: Mem, outer: Mem) -> bool {
    outer.addr <= inner.addr && inner.end() <= outer.end()
}

impl Cells {
    /// Whether this memory has too many pages to be noted here.
    pub(super) fn is_large(mem: Mem) -> bool {
        let (first, last) = pages(mem);
        last - first >= LARGE
    }

    /// Whether a read of this memory by a thread sees what all writes before it have left.
    pub(super) fn is_clear(&mut self, mem: Mem, thread: u64, threads: &Threads) -> bool {
        let (first, last) = pages(mem);
        first == last
            && !threads.others_write_large(mem, thread)
            && self.pages.get_mut(&first).is_none_or(|page| page.is_clear(mem, thread, threads))
    }

    /// Notes what a read saw; what the last one of the same bytes saw, if nothing was written since.
    pub(super) fn saw(&mut self, mem: Mem, saw: Saw) -> Option<Saw> {
        let page = self.pages.entry(pages(mem).0).or_default();
        let near = page.near(mem);
        let same = |cell: &&mut Cell| cell.mem == mem && matches!(cell.state, State::Saw(_));
        if let Some(cell) = page.cells[near].iter_mut().find(same) {
            let State::Saw(before) = std::mem::replace(&mut cell.state, State::Saw(saw)) else { return None };
            return Some(before);
        }
        page.insert(Cell { mem, state: State::Saw(saw) });
        None
    }

    /// Memory was changed.
    pub(super) fn changed(&mut self, mem: Mem, by: WriteOf, is_renewed: bool, threads: &Threads) {
        let (first, last) = pages(mem);
        if Cells::is_large(mem) {
            // What is known of it is less than it is.
            for (_, page) in self.pages.iter_mut().filter(|(number, _)| (first..=last).contains(number)) {
                page.forget(mem, by, is_renewed, threads);
            }
            return;
        }
        for number in first..=last {
            let start = mem.addr.max(number << PAGE_BITS);
            let end = mem.end().min(u128::from((number + 1) << PAGE_BITS)) as u64;
            let part = Mem { addr: start, size: (end - start) as u32 };
            self.pages.entry(number).or_default().changed(part, by, is_renewed, threads);
        }
    }

    /// Whether this memory is not compared.
    pub(super) fn is_apart(&self, mem: Mem) -> bool {
        let Some(page) = self.pages.get(&pages(mem).0) else { return false };
        page.cells[page.near(mem)].iter().any(|cell| cell.mem == mem && matches!(cell.state, State::Apart))
    }

    /// This memory is not compared from now on.
    pub(super) fn set_apart(&mut self, mem: Mem) {
        if pages(mem).0 == pages(mem).1 {
            self.pages.entry(pages(mem).0).or_default().insert(Cell { mem, state: State::Apart });
        }
    }
}
