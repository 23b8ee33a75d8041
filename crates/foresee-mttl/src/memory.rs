//! Memory as shared variables, byte by byte.
//!
//! A variable is a set of bytes that no access splits: where one touches a part of what others touched as a whole, the variable becomes two, with the same
//! vectors. They are kept by blocks of eight bytes. What is never accessed again costs its place here until it is freed.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::variable::Variable;
use crate::vector::Vector;

/// How many bytes a block has.
const BLOCK: u64 = 8;

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Its first byte.
    pub addr: u64,
    /// How many they are; none counts as one.
    pub size: u64,
}

/// A variable: which bytes of its block, as bits, and the vectors.
type Cell<V> = (u8, Variable<V>);

/// All memory that was accessed.
#[derive(Debug, Default)]
pub struct Memory<V> {
    blocks: FxHashMap<u64, SmallVec<[Cell<V>; 1]>>,
    /// What nobody has accessed: its vectors are shared, too.
    untouched: Variable<V>,
}

impl<V: Vector + Clone> Memory<V> {
    /// The variable that these bytes are, if they are one, or may become one: no access has split them, or touched more.
    #[inline]
    pub fn single(&mut self, mem: Bytes) -> Option<&mut Variable<V>> {
        let (block, bytes) = (mem.addr / BLOCK, part(mem, mem.addr / BLOCK));
        if last(mem) / BLOCK != block {
            return None;
        }
        let cells = self.blocks.entry(block).or_default();
        match cells.iter().position(|(of, _)| of & bytes != 0) {
            Some(at) if cells[at].0 == bytes => Some(&mut cells[at].1),
            Some(_) => None,
            None => {
                cells.push((bytes, self.untouched.clone()));
                cells.last_mut().map(|(_, variable)| variable)
            }
        }
    }

    /// Visits all variables that have some of these bytes and were accessed before.
    pub fn known(&mut self, mem: Bytes, mut visit: impl FnMut(&Variable<V>)) {
        for (block, bytes) in blocks(mem) {
            let Some(cells) = self.blocks.get_mut(&block) else { continue };
            split(cells, bytes);
            cells.iter().filter(|(of, _)| of & bytes != 0).for_each(|(_, variable)| visit(variable));
        }
    }

    /// Visits all variables of these bytes, to be changed: those that were visited as known, and one for what is left of each block.
    pub fn all(&mut self, mem: Bytes, mut visit: impl FnMut(&mut Variable<V>)) {
        for (block, bytes) in blocks(mem) {
            let cells = self.blocks.entry(block).or_default();
            let mut left = bytes;
            for (of, variable) in cells.iter_mut().filter(|(of, _)| of & bytes != 0) {
                left &= !*of;
                visit(variable);
            }
            if left != 0 {
                let mut variable = self.untouched.clone();
                visit(&mut variable);
                cells.push((left, variable));
            }
        }
    }

    /// Memory begins or ends its life: nothing that was known there counts for what comes.
    pub fn forget(&mut self, mem: Bytes) {
        let forget = |cells: &mut SmallVec<[Cell<V>; 1]>, bytes: u8| {
            split(cells, bytes);
            cells.retain(|(of, _)| *of & bytes == 0);
        };
        if mem.size / BLOCK > self.blocks.len() as u64 {
            self.blocks.retain(|block, cells| {
                forget(cells, part(mem, *block));
                !cells.is_empty()
            });
            return;
        }
        for (block, bytes) in blocks(mem) {
            if let Some(cells) = self.blocks.get_mut(&block) {
                forget(cells, bytes);
                if cells.is_empty() {
                    self.blocks.remove(&block);
                }
            }
        }
    }
}

/// Makes two of each variable that has some of these bytes and others.
fn split<V: Clone>(cells: &mut SmallVec<[Cell<V>; 1]>, bytes: u8) {
    for at in 0..cells.len() {
        let (of, variable) = &mut cells[at];
        let (inside, outside) = (*of & bytes, *of & !bytes);
        if inside != 0 && outside != 0 {
            *of = inside;
            let rest = (outside, variable.clone());
            cells.push(rest);
        }
    }
}

/// The blocks of these bytes, each with the bytes that are meant.
#[inline]
fn blocks(mem: Bytes) -> impl Iterator<Item = (u64, u8)> {
    (mem.addr / BLOCK..=last(mem) / BLOCK).map(move |block| (block, part(mem, block)))
}

/// The bytes of a block that are meant, as bits.
#[inline]
fn part(mem: Bytes, block: u64) -> u8 {
    let (start, last) = (block * BLOCK, last(mem));
    if start > last || start + (BLOCK - 1) < mem.addr {
        return 0;
    }
    let from = mem.addr.saturating_sub(start);
    let to = (last - start).min(BLOCK - 1);
    ((0xffu16 << from) & (0xff >> (BLOCK - 1 - to))) as u8
}

#[inline]
fn last(mem: Bytes) -> u64 {
    mem.addr.saturating_add(mem.size.max(1) - 1)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Bytes, blocks};
    use crate::{Knowledge, NoTrail};

    #[test]
    fn blocks_have_the_bytes_that_are_meant() {
        let of = |addr, size| blocks(Bytes { addr, size }).collect::<Vec<_>>();
        assert_eq!(of(8, 8), [(1, 0xff)]);
        assert_eq!(of(10, 2), [(1, 0b1100)]);
        assert_eq!(of(14, 4), [(1, 0b1100_0000), (2, 0b11)]);
        assert_eq!(of(u64::MAX, 1), [(u64::MAX / 8, 0x80)]);
    }

    type Memory = super::Memory<Rc<Knowledge<NoTrail>>>;

    /// How many variables of these bytes were known, and how many there are then.
    fn touch(memory: &mut Memory, addr: u64, size: u64) -> (u32, u32) {
        let mem = Bytes { addr, size };
        let (mut known, mut all) = (0, 0);
        memory.known(mem, |_| known += 1);
        memory.all(mem, |_| all += 1);
        (known, all)
    }

    #[test]
    fn variables_split_where_accesses_do() {
        let mut memory = Memory::default();
        assert_eq!(touch(&mut memory, 0, 4), (0, 1));
        assert_eq!(touch(&mut memory, 4, 4), (0, 1));
        assert_eq!(touch(&mut memory, 0, 8), (2, 2));
        assert_eq!(touch(&mut memory, 2, 4), (2, 2));
        assert_eq!(touch(&mut memory, 0, 8), (4, 4));
        for (addr, size, is_single) in
            [(0, 2, true), (2, 2, true), (0, 4, false), (6, 4, false), (8, 4, true)]
        {
            assert_eq!(memory.single(Bytes { addr, size }).is_some(), is_single);
        }
        assert_eq!(touch(&mut memory, 8, 8), (1, 2));
        // All of 0..8 is split at 2, 4 and 6; the two bytes in the middle are forgotten, then all that is near.
        for (addr, size, left) in [(3, 2, 4), (0, 1 << 20, 0)] {
            memory.forget(Bytes { addr, size });
            let mut known = 0;
            memory.known(Bytes { addr: 0, size: 8 }, |_| known += 1);
            assert_eq!(known, left);
        }
    }
}
