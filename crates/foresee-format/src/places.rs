//! Compact records: what a thread does where it has been before, mostly in one byte.
//!
//! A program goes the same ways again and again. So a thread keeps a table of *places*: what is done there (an access of so many bytes at this
//! program counter, a call of this function), to which address it was done last, and two places that came next: most code that decides where to go on goes on in one of two ways. An access
//! at a place that came next before, near to where it accessed then, is one byte. If it is a place that is known but not
//! expected, or further away, four or six. Otherwise it is a record in full ([`Tag::ReadAt`] and its like), after which the place is known.
//!
//! ```text
//! compact = a byte from FILLER on, and what follows it
//! FILLER                         nothing
//! EXIT, BRANCH                   an `Exit`, a `Branch`
//! KNOWN, place: 11, distance: 12, 1
//! FAR, place: 11, distance: 28, 1
//! ATOMIC, place: 11, values: 5 + 5, steps: 12, distance: 22, 1
//! LOAD, place: 11, value: 5, distance: 23, 1
//! NOW, steps: 15, 1              nothing, but the key of what follows
//! NEAREST + distance + HALF      of the two places that came next, the one that was new last
//! SECOND + distance + HALF       the other one
//! ```
//!
//! (Lengths in bits, the first lowest. Distances have a sign. Those of expected places are counted in [units](unit): elements of arrays are whole ones apart, and sorting or
//! looking up goes to any of the nearest sixty instead of the nearest few.) All have the key of near records (`near_key`), but for atomics, whose key
//! is larger by one and twice the steps, and `NOW`, after which it is larger by twice the steps.
//!
//! **Atomics** have places, too. Each record in full of one, or near one, tells its place, which is always the first of the two that it may have. A load that has the key of near records, and
//! finds the value that its place told last (in full, near, or as `LOAD`), is recorded as an access is: flags that nobody sets are loaded in one byte.
//!
//! **The table begins empty with each chunk**, so each can be read alone; whoever reads has the same table, as it changes by what is
//! recorded and by nothing else. A thread may forget all it knows at any moment: then it tells all places anew, which the reader
//! takes as news. Therefore what a full record tells replaces *all* that was known of its place, and nothing but a full record comes after a
//! thread has forgotten. A full record also says which number the place has, above its address: who writes chooses one of two.
//!
//! **Whoever reads along** must not take a half of a store for a record. Processors show a store at once, or in two parts if it crosses the bound of two cache lines. So the last
//! bit of a compact record of several bytes is set: whoever sees that and the first byte sees all of it. Full records begin with an aligned word, which is
//! stored last; fillers are before it. What a store has behind its record are zeroes, where zeroes were.

use core::cell::Cell;
use core::hint::select_unpredictable;

use crate::record::Tag;

/// How many places a thread can know.
pub const PLACES: usize = 1 << INDEX_BITS;
const INDEX_BITS: u32 = 11;
const KNOWN_BITS: u32 = 12;
const FAR_BITS: u32 = 28;
const ATOMIC_BITS: u32 = 22;
const VALUE_BITS: u32 = 5;
const STEP_BITS: u32 = 12;
const LOAD_BITS: u32 = 23;
const NOW_BITS: u32 = 15;

/// A byte that says nothing.
pub const FILLER: u8 = 0x80;
/// A function is left.
pub const EXIT: u8 = 0x81;
/// A basic block begins.
pub const BRANCH: u8 = 0x82;
const KNOWN: u8 = 0x83;
const FAR: u8 = 0x84;
/// An atomic operation.
pub const ATOMIC: u8 = 0x85;
/// What follows has a larger key.
pub const NOW: u8 = 0x86;
const LOAD: u8 = 0x87;
const NEAREST: u8 = 0x88;
/// One byte is enough for so many units, from `-HALF` on, and below `HALF`.
const HALF: u64 = 30;
const SECOND: u8 = NEAREST + 2 * HALF as u8;
/// The same where one place is expected, in bytes.
const HALF_OF_ONE: u64 = 60;

/// What is done somewhere in the code, as the first word of a full record says it: its detail is how many bytes.
#[inline(always)]
pub const fn what(tag: Tag, detail: u8, pc: u64) -> u64 {
    tag as u64 | (detail as u64) << 8 | pc << 16
}

/// In what distances of the expected place are counted, as a power of two: of accesses, how many bytes they have.
#[inline(always)]
const fn unit(what: u64) -> u32 {
    let (tag, size) = (what as u8, (what >> 8) as u8);
    let is_access = tag == Tag::ReadAt as u8 || tag == Tag::WriteAt as u8;
    if is_access && size.is_power_of_two() { size.trailing_zeros() } else { 0 }
}

/// Whether this is an access or a call: no atomic, and something at all.
#[inline(always)]
const fn is_usual(what: u64) -> bool {
    (what as u8).wrapping_sub(Tag::ReadAt as u8) <= Tag::EnterAt as u8 - Tag::ReadAt as u8
}

/// A place that a thread knows; of one that it does not know `what` is 0.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub struct Place {
    what: Cell<u64>,
    addr: Cell<u64>,
    next: Cell<Next>,
    /// Of an atomic: what its last record that tells it says.
    value: Cell<u64>,
}

impl Place {
    /// One that is not known.
    pub const fn unknown() -> Place {
        Place { what: Cell::new(0), addr: Cell::new(0), next: Cell::new(Next::NOTHING), value: Cell::new(0) }
    }
}

/// Two places that came after one: the one that was new last in the lower half, the other in the upper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
struct Next(u64);

impl Next {
    const NOTHING: Next = Next(0);

    #[inline(always)]
    const fn last(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    const fn other(self) -> usize {
        (self.0 >> 32) as usize
    }

    /// This place came next.
    #[inline(always)]
    const fn and(self, index: usize) -> Next {
        if self.last() == index || self.other() == index { self } else { Next(self.0 << 32 | index as u64) }
    }
}

/// Room for [`PLACES`] places.
pub trait Table {
    /// The place with this number.
    fn place(&self, index: usize) -> &Place;
}

impl Table for [Place; PLACES] {
    #[inline(always)]
    fn place(&self, index: usize) -> &Place {
        &self[index % PLACES]
    }
}

/// The places that a thread knows. All zeroes is a valid array of them, which knows none.
#[derive(Clone, Debug, Default)]
pub struct Places<T> {
    all: T,
    /// The last one: what came after it is expected.
    current: Cell<usize>,
    /// Whether any is known.
    is_used: Cell<bool>,
    /// Which of two places was given up last: 0 or 1.
    victim: Cell<usize>,
    /// Whoever reads what was written before version 13: one place is expected, and distances are counted in bytes.
    expects_one: bool,
}

/// The places that a thread knows that records.
pub type WrittenPlaces = Places<[Place; PLACES]>;

/// A compact record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compact {
    /// Its bytes, from the lowest on.
    pub word: u64,
    /// How many there are.
    pub len: usize,
    place: usize,
}

/// What a compact record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Nothing.
    Nothing,
    /// A function is left.
    Exit,
    /// A basic block begins.
    Branch,
    /// What is done where ([`what`]), and the address.
    At(u64, u64),
    /// The same of an atomic, its values, and the steps to its key.
    Atomic(u64, u64, [u64; 2], u64),
    /// An atomic is loaded: what is done where, the address, the value.
    Load(u64, u64, u64),
    /// What follows has a key that is larger by twice these steps.
    Now(u64),
}

/// The last bits of compact records.
const KNOWN_LAST: u64 = 1 << 31;
const FAR_LAST: u64 = 1 << 47;
const ATOMIC_LAST: u64 = 1 << 63;
const LOAD_LAST: u64 = 1 << 47;
const NOW_LAST: u64 = 1 << 23;

/// The record that what follows has a key that is larger by this, if there is one; how many bytes it has.
#[inline(always)]
pub const fn now(by: u64) -> Option<(u64, usize)> {
    let steps = by / 2;
    if by.is_multiple_of(2) && steps >> NOW_BITS == 0 {
        Some((NOW as u64 | steps << 8 | NOW_LAST, 3))
    } else {
        None
    }
}

/// Whether all of a compact record is there, whose first byte is.
#[inline]
pub const fn is_whole(word: u64) -> bool {
    let last = match word as u8 {
        KNOWN => KNOWN_LAST,
        FAR => FAR_LAST,
        ATOMIC => ATOMIC_LAST,
        LOAD => LOAD_LAST,
        NOW => NOW_LAST,
        _ => return true,
    };
    word & last != 0
}

/// The lowest bits of a number, with a sign.
const fn signed<const BITS: u32>(bits: u64) -> u64 {
    (((bits << (64 - BITS)) as i64) >> (64 - BITS)) as u64
}

#[inline(always)]
const fn fits<const BITS: u32>(distance: u64) -> bool {
    signed::<BITS>(distance) == distance
}

/// One of the two places that what is done there may have; the other one is [`other`].
#[inline(always)]
const fn index(what: u64) -> usize {
    let pc = (what >> 16) as u32;
    (pc.wrapping_mul(0x9e37_79b1) >> (32 - INDEX_BITS)) as usize
}

#[inline(always)]
const fn other(index: usize) -> usize {
    index ^ 1
}

/// Where the place of a full record is in its second word: above all addresses of programs.
const PLACE_SHIFT: u32 = 48;

impl WrittenPlaces {
    /// No places.
    pub const fn none() -> WrittenPlaces {
        Places {
            all: [const { Place::unknown() }; PLACES],
            current: Cell::new(0),
            is_used: Cell::new(false),
            victim: Cell::new(0),
            expects_one: false,
        }
    }

    /// Forgets all places.
    pub fn forget(&self) {
        if !self.is_used.replace(false) {
            return;
        }
        for place in &self.all {
            place.what.set(0);
            place.next.set(Next::NOTHING);
        }
        self.current.set(0);
    }
}

impl<T: Table + Default> Places<T> {
    /// No places, of what was written in this [version](crate::VERSION).
    pub fn of_version(version: u64) -> Places<T> {
        Places { expects_one: version < 13, ..Places::default() }
    }

    /// Those of a new chunk of the same file: none.
    #[must_use]
    pub fn anew(&self) -> Places<T> {
        Places { expects_one: self.expects_one, ..Places::default() }
    }
}

impl<T: Table> Places<T> {
    #[inline(always)]
    fn place(&self, index: usize) -> &Place {
        self.all.place(index)
    }

    /// The record of what is done, if that is one byte and the first of its places is known to be that. [`note`](Places::note) it once it is written.
    ///
    /// The place is found by what is done, not by what is expected, which is only compared: then nobody waits for a load whose address is
    /// loaded from where the last record has just stored it.
    #[inline(always)]
    pub fn usual(&self, what: u64, addr: u64) -> Option<Compact> {
        let index = index(what);
        if self.place(index).what.get() == what { self.nearest(index, what, addr) } else { None }
    }

    /// As [`usual`](Places::usual), of more than one byte.
    #[inline(always)]
    pub fn further(&self, what: u64, addr: u64) -> Option<Compact> {
        let index = index(what);
        if self.place(index).what.get() == what { self.named(index, addr) } else { None }
    }

    /// The record of one byte of what is done at a place that is known, if it is expected and near.
    #[inline(always)]
    fn nearest(&self, index: usize, what: u64, addr: u64) -> Option<Compact> {
        let distance = addr.wrapping_sub(self.place(index).addr.get());
        let unit = unit(what);
        // What is no whole number of units has its highest bits set then, and is no small number.
        let from_half = distance.wrapping_add(HALF << unit).rotate_right(unit);
        if from_half >= 2 * HALF {
            return None;
        }
        // Told that nobody can predict which of the two it is, compilers need fewer registers for this: a tenth less time for each access.
        let expected = self.expected();
        let is_other = expected.last() != index;
        let nearest = select_unpredictable(is_other, expected.other(), index);
        let word = NEAREST as u64 + from_half + u64::from(is_other) * 2 * HALF;
        (nearest == index).then_some(Compact { word, len: 1, place: index })
    }

    /// The record of what is done, if the place is known. [`note`](Places::note) it once it is written.
    #[inline]
    pub fn known(&self, what: u64, addr: u64) -> Option<Compact> {
        self.at(self.index_of(what)?, what, addr)
    }

    #[inline(always)]
    fn at(&self, index: usize, what: u64, addr: u64) -> Option<Compact> {
        self.nearest(index, what, addr).or_else(|| self.named(index, addr))
    }

    /// The record of what is done at a place that is known, with the number of the place.
    #[inline(always)]
    fn named(&self, index: usize, addr: u64) -> Option<Compact> {
        let distance = addr.wrapping_sub(self.place(index).addr.get());
        let parts = (index as u64) << 8 | distance << (8 + INDEX_BITS);
        if fits::<KNOWN_BITS>(distance) {
            let word = KNOWN as u64 | parts & (KNOWN_LAST - 1) | KNOWN_LAST;
            return Some(Compact { word, len: 4, place: index });
        }
        let word = FAR as u64 | parts & (FAR_LAST - 1) | FAR_LAST;
        if fits::<FAR_BITS>(distance) { Some(Compact { word, len: 6, place: index }) } else { None }
    }

    /// Where a place is known.
    #[inline]
    fn index_of(&self, what: u64) -> Option<usize> {
        let index = index(what);
        [index, other(index)].into_iter().find(|&index| self.place(index).what.get() == what)
    }

    /// The second word of a full record, if it can be one. [`note_full`](Places::note_full) it once it is written.
    pub fn full(&self, what: u64, addr: u64) -> Option<u64> {
        let first = index(what);
        let is_free = |&index: &usize| self.place(index).what.get() == 0;
        let chosen = [first, other(first)].into_iter().find(is_free).unwrap_or_else(|| {
            // In turn: if both are in use, neither is lost for good.
            self.victim.set(self.victim.get() ^ 1);
            first ^ self.victim.get()
        });
        (addr >> PLACE_SHIFT == 0).then_some(addr | (chosen as u64) << PLACE_SHIFT)
    }

    /// The record of an atomic with these values whose key is so many steps from the last one, if its place is known. [`note`](Places::note) it
    /// once it is written.
    #[inline]
    pub fn atomic(&self, what: u64, addr: u64, values: [u64; 2], steps: u64) -> Option<Compact> {
        let index = index(what);
        let place = self.place(index);
        let distance = addr.wrapping_sub(place.addr.get());
        let is_it = place.what.get() == what
            && fits::<ATOMIC_BITS>(distance)
            && (values[0] | values[1]) >> VALUE_BITS == 0
            && steps >> STEP_BITS == 0;
        let parts = [
            (index as u64, INDEX_BITS),
            (values[0], VALUE_BITS),
            (values[1], VALUE_BITS),
            (steps, STEP_BITS),
        ];
        let (word, shift) = parts
            .iter()
            .fold((ATOMIC as u64, 8), |(word, shift), (part, bits)| (word | part << shift, shift + bits));
        is_it.then_some(Compact { word: word | distance << shift | ATOMIC_LAST, len: 8, place: index })
    }

    /// The record of a load of this value that has the key of near records, if its place is known. [`note`](Places::note) it once it is written.
    #[inline(always)]
    pub fn load(&self, what: u64, addr: u64, value: u64) -> Option<Compact> {
        let index = index(what);
        let place = self.place(index);
        if place.what.get() != what {
            return None;
        }
        if place.value.get() == value {
            return self.at(index, what, addr);
        }
        let distance = addr.wrapping_sub(place.addr.get());
        if value >> VALUE_BITS != 0 || !fits::<LOAD_BITS>(distance) {
            return None;
        }
        let parts =
            (index as u64) << 8 | value << (8 + INDEX_BITS) | distance << (8 + INDEX_BITS + VALUE_BITS);
        place.value.set(value);
        Some(Compact { word: LOAD as u64 | parts & (LOAD_LAST - 1) | LOAD_LAST, len: 6, place: index })
    }

    /// An atomic was written or read in another record, in full or near, whose first value is this.
    #[inline]
    pub fn note_atomic(&self, what: u64, addr: u64, value: u64) {
        let index = index(what);
        self.tell(index, what, addr);
        self.place(index).value.set(value);
    }

    /// A compact record was written, of this address.
    #[inline(always)]
    pub fn note(&self, record: Compact, addr: u64) {
        let place = self.place(record.place);
        place.addr.set(addr);
        // If it was expected, it is known to come next.
        if record.len > 1 {
            self.came(record.place);
        }
        self.current.set(record.place);
    }

    /// A full record of these words was written or read; its address.
    #[inline]
    pub fn note_full(&self, what: u64, second: u64) -> u64 {
        let (index, addr) = ((second >> PLACE_SHIFT) as usize % PLACES, second & ((1 << PLACE_SHIFT) - 1));
        self.tell(index, what, addr);
        addr
    }

    /// A place is known from now on.
    #[inline]
    fn tell(&self, index: usize, what: u64, addr: u64) {
        let place = self.place(index);
        place.what.set(what);
        place.addr.set(addr);
        place.next.set(Next::NOTHING);
        self.is_used.set(true);
        self.go_to(index);
    }

    /// What came after the current place.
    #[inline(always)]
    fn expected(&self) -> Next {
        self.place(self.current.get()).next.get()
    }

    /// A place comes after the current one.
    #[inline(always)]
    fn came(&self, index: usize) {
        let current = self.place(self.current.get());
        current.next.set(if self.expects_one { Next(index as u64) } else { current.next.get().and(index) });
    }

    /// A place comes after the current one, and is that now.
    #[inline(always)]
    fn go_to(&self, index: usize) {
        self.came(index);
        self.current.set(index);
    }

    /// What is done where, as the record at the beginning of these bytes says, and how long it is, if it is one of an access or a call. Otherwise nothing changes.
    #[inline(always)]
    pub fn read_usual(&self, word: u64) -> Option<(u64, u64, usize)> {
        let (index, distance, len) = self.read_place(word)?;
        let place = self.place(index);
        let what = place.what.get();
        if !is_usual(what) || !is_whole(word) {
            return None;
        }
        let addr = place.addr.get().wrapping_add(distance);
        place.addr.set(addr);
        // What was expected is what comes next already.
        if len > 1 {
            self.came(index);
        }
        self.current.set(index);
        Some((what, addr, len))
    }

    /// The place of a record that says no more than how far from it something is done, how far, and its length.
    #[inline(always)]
    fn read_place(&self, word: u64) -> Option<(usize, u64, usize)> {
        let named = (word >> 8) as usize % PLACES;
        match word as u8 {
            KNOWN => Some((named, signed::<KNOWN_BITS>(word >> (8 + INDEX_BITS)), 4)),
            FAR => Some((named, signed::<FAR_BITS>(word >> (8 + INDEX_BITS)), 6)),
            code @ NEAREST.. if self.expects_one => {
                Some((self.expected().last(), u64::from(code - NEAREST).wrapping_sub(HALF_OF_ONE), 1))
            }
            code @ NEAREST.. => {
                let (expected, is_other) = (self.expected(), code >= SECOND);
                let index = if is_other { expected.other() } else { expected.last() };
                let from_half = u64::from(code - if is_other { SECOND } else { NEAREST });
                Some((index, from_half.wrapping_sub(HALF) << unit(self.place(index).what.get()), 1))
            }
            _ => None,
        }
    }

    /// What the compact record at the beginning of these bytes says, and how long it is; `None` if there is none.
    #[inline]
    pub fn read(&self, word: u64) -> Option<(Said, usize)> {
        if let Some((what, addr, len)) = self.read_usual(word) {
            return Some((Said::At(what, addr), len));
        }
        let named = (word >> 8) as usize % PLACES;
        let (index, distance, len) = match word as u8 {
            FILLER => return Some((Said::Nothing, 1)),
            EXIT => return Some((Said::Exit, 1)),
            BRANCH => return Some((Said::Branch, 1)),
            ATOMIC => (named, signed::<ATOMIC_BITS>(word >> (63 - ATOMIC_BITS)), 8),
            LOAD => (named, signed::<LOAD_BITS>(word >> (8 + INDEX_BITS + VALUE_BITS)), 6),
            NOW => {
                let steps = word >> 8 & ((1 << NOW_BITS) - 1);
                return if is_whole(word) { Some((Said::Now(steps), 3)) } else { None };
            }
            _ => self.read_place(word)?,
        };
        let place = self.place(index);
        let what = place.what.get();
        let is_load = what as u8 == Tag::NearLoad as u8;
        if what == 0 || !is_whole(word) || word as u8 == LOAD && !is_load {
            return None;
        }
        let addr = place.addr.get().wrapping_add(distance);
        place.addr.set(addr);
        self.go_to(index);
        let part = |from: u32, bits: u32| word >> from & ((1 << bits) - 1);
        if word as u8 == LOAD {
            place.value.set(part(8 + INDEX_BITS, VALUE_BITS));
        }
        let said = if word as u8 == ATOMIC {
            let values = [8 + INDEX_BITS, 8 + INDEX_BITS + VALUE_BITS].map(|from| part(from, VALUE_BITS));
            Said::Atomic(what, addr, values, part(8 + INDEX_BITS + 2 * VALUE_BITS, STEP_BITS))
        } else if is_load {
            Said::Load(what, addr, place.value.get())
        } else {
            Said::At(what, addr)
        };
        Some((said, len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records it as shortly as can be; in how many bytes.
    fn record(writer: &WrittenPlaces, reader: &WrittenPlaces, what: u64, addr: u64) -> usize {
        match writer.usual(what, addr).or_else(|| writer.known(what, addr)) {
            Some(record) => {
                writer.note(record, addr);
                // Without its last byte it is not there.
                assert!(
                    record.len == 1 || reader.read(record.word & ((1 << (8 * record.len - 8)) - 1)).is_none()
                );
                assert_eq!(reader.read(record.word), Some((Said::At(what, addr), record.len)));
                // Nothing is set behind its end.
                assert!(record.len == 8 || record.word >> (8 * record.len) == 0);
                record.len
            }
            None => {
                let second = writer.full(what, addr).unwrap();
                assert_eq!([writer, reader].map(|one| one.note_full(what, second)), [addr; 2]);
                16
            }
        }
    }

    #[test]
    fn the_second_round_of_a_loop_is_known_and_the_third_is_expected() {
        let (writer, reader) = (WrittenPlaces::none(), WrittenPlaces::none());
        let mut lens = [[0; 3]; 4];
        for (round, lens) in lens.iter_mut().enumerate() {
            for (at, len) in lens.iter_mut().enumerate() {
                let what = what(Tag::ReadAt, 8, 0x5555_5555_0000 + 20 * at as u64);
                *len = record(&writer, &reader, what, 0x7fff_0000_0000 + 8 * round as u64);
            }
        }
        assert_eq!(lens, [[16, 16, 16], [4, 1, 1], [1, 1, 1], [1, 1, 1]]);
    }

    #[test]
    fn distances_of_all_lengths_are_read_as_they_were_written() {
        let (writer, reader) = (WrittenPlaces::none(), WrittenPlaces::none());
        let place = what(Tag::WriteAt, 4, 0x40_1000);
        let other = what(Tag::EnterAt, 0, 0x40_2000);
        let mut addr = 1_u64 << 46;
        for shift in 0..40 {
            for step in [(1_u64 << shift) - 1, 1 << shift, (1_u64 << shift).wrapping_neg()] {
                addr = addr.wrapping_add(step);
                record(&writer, &reader, place, addr);
                if shift % 3 == 0 {
                    record(&writer, &reader, other, addr);
                }
            }
        }
    }

    #[test]
    fn one_byte_is_enough_for_the_nearest_elements() {
        let array = 0x7fff_0000_0000_u64;
        for size in [1, 2, 4, 8, 16] {
            let (writer, reader) = (WrittenPlaces::none(), WrittenPlaces::none());
            let place = what(Tag::ReadAt, size as u8, 0x40_1000);
            // The place comes after itself from the second record on.
            let mut addr = array + 200 * size;
            for _ in 0..3 {
                record(&writer, &reader, place, addr);
            }
            for (by, len) in [(29, 1), (-30, 1), (30, 4), (-31, 4), (0, 1)] {
                addr = addr.wrapping_add_signed(by * size as i64);
                assert_eq!(record(&writer, &reader, place, addr), len, "{by} elements of {size} bytes");
            }
            // Between elements.
            let len = record(&writer, &reader, place, addr + 1);
            assert_eq!(len, if size == 1 { 1 } else { 4 });
        }
    }

    #[test]
    fn earlier_versions_count_bytes_and_expect_one_place() {
        let reader: WrittenPlaces = Places { expects_one: true, ..WrittenPlaces::none() };
        let place = what(Tag::ReadAt, 8, 0x40_1000);
        let at = |addr| Some((Said::At(place, addr), 1));
        for _ in 0..2 {
            reader.note_full(place, 1000);
        }
        assert_eq!(reader.read(NEAREST as u64 + HALF_OF_ONE + 8), at(1008));
        assert_eq!(reader.read(NEAREST as u64 + HALF_OF_ONE - 1), at(1007));
    }

    #[test]
    fn atomics_have_their_values_and_the_steps_to_their_keys() {
        let (writer, reader) = (WrittenPlaces::none(), WrittenPlaces::none());
        let (place, addr) = (what(Tag::NearRmw, 0x24, 0x5555_0000_1000), 0x7fff_0000_0000);
        assert_eq!(writer.atomic(place, addr, [0, 1], 0), None);
        for table in [&writer, &reader] {
            table.note_atomic(place, addr, 7);
        }
        let edge = 1_u64 << 21;
        for (addr, values, steps) in
            [(addr, [31, 0], 0), (addr + edge - 1, [0, 31], 4095), (addr - 1, [7, 8], 9)]
        {
            let record = writer.atomic(place, addr, values, steps).unwrap();
            writer.note(record, addr);
            assert_eq!(reader.read(record.word), Some((Said::Atomic(place, addr, values, steps), 8)));
        }
        for (addr, values, steps) in [(addr + edge, [0, 0], 0), (addr, [32, 0], 0), (addr, [0, 0], 4096)] {
            assert_eq!(writer.atomic(place, addr, values, steps), None);
        }
    }

    #[test]
    fn a_load_that_finds_what_it_found_before_is_an_access() {
        let (writer, reader) = (WrittenPlaces::none(), WrittenPlaces::none());
        let (place, addr) = (what(Tag::NearLoad, 0x30, 0x5555_0000_1000), 0x7fff_0000_0000_u64);
        assert_eq!(writer.load(place, addr, 1 << 40), None);
        for table in [&writer, &reader] {
            table.note_atomic(place, addr, 1 << 40);
        }
        let far = 1 << 22;
        for (addr, value, len) in [
            (addr, 1 << 40, 4),
            (addr + 8, 1 << 40, 1),
            (addr + 8, 31, 6),
            (addr + 8, 31, 1),
            (addr + far, 0, 6),
            (addr, 0, 6),
        ] {
            let record = writer.load(place, addr, value).unwrap();
            writer.note(record, addr);
            assert_eq!(record.len, len);
            assert!(record.word >> (8 * len) == 0);
            assert!(len == 1 || reader.read(record.word & ((1 << (8 * len - 8)) - 1)).is_none());
            assert_eq!(reader.read(record.word), Some((Said::Load(place, addr, value), len)));
        }
        for (addr, value) in [(addr + far, 1), (addr, 32)] {
            assert_eq!(writer.load(place, addr, value), None);
        }
    }

    #[test]
    fn keys_that_are_larger_by_little_are_said_in_three_bytes() {
        let reader = WrittenPlaces::none();
        for steps in [0, 1, (1 << 15) - 1] {
            let (word, len) = now(2 * steps).unwrap();
            assert_eq!((reader.read(word), word >> (8 * len)), (Some((Said::Now(steps), len)), 0));
            assert_eq!(reader.read(word & 0xffff), None);
        }
        assert_eq!([1, 1 << 16, u64::MAX].map(now), [None; 3]);
    }

    /// Also of places that have the same index, and with a writer that forgets now and then.
    #[test]
    fn what_was_recorded_is_read() {
        let (writer, reader) = (WrittenPlaces::none(), WrittenPlaces::none());
        let mut random = 1_u64;
        for round in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pc = 0x40_0000 + (random >> 33) % 3000;
            let tag = [Tag::ReadAt, Tag::WriteAt, Tag::EnterAt][(random >> 20) as usize % 3];
            record(&writer, &reader, what(tag, 8, pc), random >> (16 + random % 40));
            if round % 5000 == 4999 {
                writer.forget();
            }
        }
    }

    #[test]
    fn bytes_that_nobody_wrote_say_nothing() {
        let reader = WrittenPlaces::none();
        for code in KNOWN..=u8::MAX {
            assert_eq!(reader.read(u64::from(code)), None);
        }
        assert_eq!(reader.read(u64::from(FILLER)), Some((Said::Nothing, 1)));
    }
}
