//! Shadow entries: who accessed a cell from where and how, and when last.
//!
//! The entries of a cell are a small open-addressing hash table that may be completely full: a look-up that fails inserts, so
//! it happens once per entry. All tables of a size lie in one arena.

/// How a cell is accessed, in four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner(u8);

const READS: u8 = 1;
const WRITES: u8 = 2;
const ATOMIC: u8 = 4;
/// By the allocation of the memory.
const ALLOCATES: u8 = 8;

impl Manner {
    #[inline]
    pub(super) fn of(access: foresee_trace::Access) -> Manner {
        let bit = |has: bool, bit: u8| if has { bit } else { 0 };
        Manner(bit(access.reads, READS) | bit(access.writes, WRITES) | bit(access.atomic, ATOMIC))
    }

    /// The same where the access is part of allocating the memory, if `allocates`.
    #[inline]
    pub(super) fn allocating(self, allocates: bool) -> Manner {
        if allocates { Manner(self.0 | ALLOCATES) } else { self }
    }

    #[inline]
    pub(super) fn allocates(self) -> bool {
        self.0 & ALLOCATES != 0
    }

    #[inline]
    pub(super) fn reads(self) -> bool {
        self.0 & READS != 0
    }

    #[inline]
    pub(super) fn writes(self) -> bool {
        self.0 & WRITES != 0
    }

    #[inline]
    pub(super) fn is_atomic(self) -> bool {
        self.0 & ATOMIC != 0
    }

    /// As [`foresee_trace::Access::races`].
    #[inline]
    pub(super) fn races(self, other: Manner) -> bool {
        (self.0 | other.0) & WRITES != 0 && self.0 & other.0 & ATOMIC == 0
    }

    /// Whether the two race wherever they are put side by side. A read-modify-write that reads another write than
    /// observed may write nothing (a compare-exchange fails), and then races with no read.
    #[inline]
    pub(super) fn races_anywhere(self, other: Manner) -> bool {
        let certain = |manner: Manner| if manner.reads() { Manner(manner.0 & !WRITES) } else { manner };
        certain(self).races(certain(other))
    }
}

/// Who, where and how: place in 32 bits, slot in 28, manner in 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Key(u64);

impl Key {
    #[inline]
    pub(super) fn new(place: u32, slot: u32, manner: Manner) -> Key {
        Key(u64::from(place) << 32 | u64::from(slot) << 4 | u64::from(manner.0))
    }

    #[inline]
    pub(super) fn place(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(super) fn slot(self) -> u32 {
        self.0 as u32 >> 4
    }

    #[inline]
    pub(super) fn manner(self) -> Manner {
        Manner(self.0 as u8 & 15)
    }

    /// Where to look first in a table of this size. Threads that read and write a cell in one place each get positions
    /// of their own; places are spread by sixteens.
    #[inline]
    fn home(self, size: usize) -> usize {
        let thread = (self.slot() << 1) as usize + usize::from(self.manner().writes());
        let spread = (self.place().wrapping_mul(0x9e37_79b1) >> 12 & !0xf) as usize;
        (thread + spread) & (size - 1)
    }
}

/// The last access with this key; time 0 where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) time: u64,
}

/// A table: 2 to the power of `class` entries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Table {
    class: u8,
    number: u32,
}

#[derive(Default)]
struct Arena {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

/// All tables.
pub(super) struct Tables {
    by_class: [Arena; 32],
}

impl Default for Tables {
    fn default() -> Self {
        Tables { by_class: std::array::from_fn(|_| Arena::default()) }
    }
}

impl Tables {
    /// The smallest table, empty.
    pub(super) fn new_table(&mut self) -> Table {
        self.allocate(1)
    }

    fn allocate(&mut self, class: u8) -> Table {
        let size = 1_usize << class;
        let arena = &mut self.by_class[usize::from(class)];
        let number = match arena.free.pop() {
            Some(number) => {
                arena.entries[number as usize * size..][..size].fill(Entry::default());
                number
            }
            None => {
                let number = (arena.entries.len() / size) as u32;
                arena.entries.resize(arena.entries.len() + size, Entry::default());
                number
            }
        };
        Table { class, number }
    }

    pub(super) fn free(&mut self, table: Table) {
        self.by_class[usize::from(table.class)].free.push(table.number);
    }

    pub(super) fn copy(&mut self, table: Table) -> Table {
        let copy = self.allocate(table.class);
        let size = 1 << table.class;
        let from = table.number as usize * size;
        let to = copy.number as usize * size;
        self.by_class[usize::from(table.class)].entries.copy_within(from..from + size, to);
        copy
    }

    #[inline]
    pub(super) fn entries(&self, table: Table) -> &[Entry] {
        let size = 1 << table.class;
        &self.by_class[usize::from(table.class)].entries[table.number as usize * size..][..size]
    }

    #[inline]
    fn entries_mut(&mut self, table: Table) -> &mut [Entry] {
        let size = 1 << table.class;
        &mut self.by_class[usize::from(table.class)].entries[table.number as usize * size..][..size]
    }

    /// Notes an access: its position in the table, or `None` if the table is full.
    #[inline]
    pub(super) fn note(&mut self, table: Table, key: Key, time: u64) -> Option<usize> {
        let entries = self.entries_mut(table);
        let (size, home) = (entries.len(), key.home(entries.len()));
        for probe in 0..size {
            let at = (home + probe) & (size - 1);
            let entry = &mut entries[at];
            if entry.key == key || entry.time == 0 {
                *entry = Entry { key, time };
                return Some(at);
            }
        }
        None
    }

    /// A table of twice the size with the same entries, in place of this one.
    #[cold]
    pub(super) fn grown(&mut self, table: Table) -> Table {
        let larger = self.allocate(table.class + 1);
        for at in 0..1_usize << table.class {
            let Entry { key, time } = self.entries(table)[at];
            self.note(larger, key, time);
        }
        self.free(table);
        larger
    }
}
