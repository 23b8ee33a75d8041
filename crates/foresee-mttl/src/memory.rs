//! Memory as shared variables, byte by byte.
//!
//! A variable is a set of bytes that no access splits: where one touches a part of what others touched as a whole, the variable becomes two, with the same
//! vectors. They are found by blocks of eight bytes, and who remembers a place finds its variable without looking for it. What is never accessed again costs its place here until it is freed.

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

/// Where a variable is, until the [`layout`](Memory::layout) changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place(u32);

/// Which bytes of its block a variable has, as bits, and where it is.
type Cell = (u8, Place);

/// The variables of a block.
type Cells = SmallVec<[Cell; 2]>;

/// All memory that was accessed.
#[derive(Debug, Default)]
pub struct Memory<V> {
    blocks: FxHashMap<u64, Cells>,
    variables: Variables<V>,
    layout: u64,
}

/// Variables by their places.
#[derive(Debug, Default)]
struct Variables<V> {
    all: Vec<Variable<V>>,
    /// Places of variables that there are no more.
    free: Vec<Place>,
    /// What nobody has accessed: its vectors are shared, too.
    untouched: Variable<V>,
}

impl<V: Vector + Clone> Memory<V> {
    /// The place of the variable that these bytes are, if they are one, or may become one: no access has split them, or touched more.
    #[inline]
    pub fn single(&mut self, mem: Bytes) -> Option<Place> {
        let (block, bytes) = (mem.addr / BLOCK, part(mem, mem.addr / BLOCK));
        if last(mem) / BLOCK != block {
            return None;
        }
        let cells = self.blocks.entry(block).or_default();
        match cells.iter().find(|(of, _)| of & bytes != 0) {
            Some(&(of, place)) => (of == bytes).then_some(place),
            None => {
                let place = self.variables.add(self.variables.untouched.clone());
                cells.push((bytes, place));
                Some(place)
            }
        }
    }

    /// Another number whenever a variable was split or forgotten: until then, a place is that of the same bytes.
    #[inline]
    pub fn layout(&self) -> u64 {
        self.layout
    }

    /// The variable at a place.
    #[inline]
    pub fn at(&mut self, place: Place) -> &mut Variable<V> {
        self.variables.at(place)
    }

    /// Visits all variables that have some of these bytes and were accessed before.
    pub fn known(&mut self, mem: Bytes, mut visit: impl FnMut(&Variable<V>)) {
        let Memory { blocks: all, variables, layout } = self;
        for (block, bytes) in blocks(mem) {
            let Some(cells) = all.get_mut(&block) else { continue };
            *layout += u64::from(split(cells, variables, bytes));
            let meant = cells.iter().filter(|(of, _)| of & bytes != 0);
            meant.for_each(|(_, place)| visit(variables.at(*place)));
        }
    }

    /// Visits all variables of these bytes, to be changed: those that were visited as known, and one for what is left of each block.
    pub fn all(&mut self, mem: Bytes, mut visit: impl FnMut(&mut Variable<V>)) {
        let Memory { blocks: all, variables, .. } = self;
        for (block, bytes) in blocks(mem) {
            let cells = all.entry(block).or_default();
            let mut left = bytes;
            for (of, place) in cells.iter().filter(|(of, _)| of & bytes != 0) {
                left &= !*of;
                visit(variables.at(*place));
            }
            if left != 0 {
                let mut variable = variables.untouched.clone();
                visit(&mut variable);
                cells.push((left, variables.add(variable)));
            }
        }
    }

    /// Memory begins or ends its life: nothing that was known there counts for what comes.
    pub fn forget(&mut self, mem: Bytes) {
        let Memory { blocks: all, variables, layout } = self;
        let mut forget = |cells: &mut Cells, bytes: u8| {
            *layout += u64::from(split(cells, variables, bytes));
            cells.retain(|(of, place)| {
                let is_left = *of & bytes == 0;
                if !is_left {
                    variables.remove(*place);
                    *layout += 1;
                }
                is_left
            });
        };
        if mem.size / BLOCK > all.len() as u64 {
            all.retain(|block, cells| {
                forget(cells, part(mem, *block));
                !cells.is_empty()
            });
            return;
        }
        for (block, bytes) in blocks(mem) {
            if let Some(cells) = all.get_mut(&block) {
                forget(cells, bytes);
                if cells.is_empty() {
                    all.remove(&block);
                }
            }
        }
    }
}

impl<V: Clone> Variables<V> {
    #[inline]
    fn at(&mut self, place: Place) -> &mut Variable<V> {
        &mut self.all[place.0 as usize]
    }

    fn add(&mut self, variable: Variable<V>) -> Place {
        match self.free.pop() {
            Some(place) => {
                *self.at(place) = variable;
                place
            }
            None => {
                self.all.push(variable);
                Place(self.all.len() as u32 - 1)
            }
        }
    }

    fn remove(&mut self, place: Place) {
        *self.at(place) = self.untouched.clone();
        self.free.push(place);
    }
}

/// Makes two of each variable that has some of these bytes and others. Whether there is any.
fn split<V: Clone>(cells: &mut Cells, variables: &mut Variables<V>, bytes: u8) -> bool {
    let before = cells.len();
    for at in 0..before {
        let (of, place) = &mut cells[at];
        let (inside, outside) = (*of & bytes, *of & !bytes);
        if inside != 0 && outside != 0 {
            *of = inside;
            let rest = variables.at(*place).clone();
            cells.push((outside, variables.add(rest)));
        }
    }
    cells.len() != before
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

    #[test]
    fn places_are_those_of_the_same_bytes_until_the_layout_changes() {
        let mut memory = Memory::default();
        let [one, other] = [0, 4].map(|addr| memory.single(Bytes { addr, size: 4 }));
        let layout = memory.layout();
        // What is new, and what is touched as it is, splits nothing.
        touch(&mut memory, 0, 16);
        assert_eq!((memory.single(Bytes { addr: 0, size: 4 }), memory.layout()), (one, layout));
        touch(&mut memory, 6, 4);
        assert_ne!(memory.layout(), layout);
        // Of a variable that is split, the part that is touched stays where it was, and the rest goes on elsewhere.
        assert_eq!(memory.single(Bytes { addr: 6, size: 2 }), other);
        let rest = memory.single(Bytes { addr: 4, size: 2 });
        assert!(rest.is_some() && rest != other && rest != one);
        let layout = memory.layout();
        memory.forget(Bytes { addr: 64, size: 64 });
        assert_eq!(memory.layout(), layout);
        memory.forget(Bytes { addr: 0, size: 4 });
        assert_ne!(memory.layout(), layout);
        // The place is free for others.
        assert_eq!(memory.single(Bytes { addr: 128, size: 8 }), one);
    }
}
