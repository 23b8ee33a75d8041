//! A value for each byte of memory.
//!
//! Programs mostly access whole aligned words of 8 bytes: such a word has one value for all its bytes, until a part of it is accessed.
//! Words are kept in blocks, so that a neighbour costs no lookup of its own.

use foresee_trace::Mem;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Words in a block.
const BLOCK: u64 = 64;

/// Bytes in a word.
const WORD: u64 = 8;

/// Values by byte; those that were never set are the default.
pub(super) struct ByteMap<V> {
    blocks: FxHashMap<u64, Box<[Word<V>]>>,
}

#[derive(Clone)]
enum Word<V> {
    /// All its bytes have this value.
    Whole(V),
    Bytes(Box<[V; WORD as usize]>),
}

impl<V: Clone + Default> Word<V> {
    /// The values of these bytes.
    fn values(&self, bytes: std::ops::Range<usize>) -> &[V] {
        match self {
            Word::Whole(value) => std::slice::from_ref(value),
            Word::Bytes(values) => &values[bytes],
        }
    }

    /// The same, to change them and no others.
    fn values_mut(&mut self, bytes: std::ops::Range<usize>) -> &mut [V] {
        if let Word::Whole(value) = self
            && bytes.len() < WORD as usize
        {
            let value = value.clone();
            *self = Word::Bytes(Box::new(std::array::from_fn(|_| value.clone())));
        }
        match self {
            Word::Whole(value) => std::slice::from_mut(value),
            Word::Bytes(values) => &mut values[bytes],
        }
    }
}

impl<V> Default for ByteMap<V> {
    fn default() -> Self {
        ByteMap { blocks: FxHashMap::default() }
    }
}

impl<V: Clone + Default> ByteMap<V> {
    /// Visits the values of memory, as far as some were set nearby; equal neighbours perhaps only once.
    pub(super) fn visit(&self, mem: Mem, mut see: impl FnMut(&V)) {
        for block in self.known(mem) {
            let Some(words) = self.blocks.get(&block) else { continue };
            for (word, bytes) in within(block, mem) {
                words[word].values(bytes).iter().for_each(&mut see);
            }
        }
    }

    /// Changes the values of memory; equal neighbours perhaps at once.
    pub(super) fn change(&mut self, mem: Mem, mut change: impl FnMut(&mut V)) {
        self.words(mem, |word, bytes| word.values_mut(bytes).iter_mut().for_each(&mut change));
    }

    /// Gives memory a value.
    pub(super) fn set(&mut self, mem: Mem, value: &V) {
        self.words(mem, |word, bytes| {
            if bytes.len() == WORD as usize {
                *word = Word::Whole(value.clone());
            } else {
                word.values_mut(bytes).fill(value.clone());
            }
        });
    }

    /// Gives memory the default back; a block that `is_default` of all its values goes.
    pub(super) fn clear(&mut self, mem: Mem, is_default: impl Fn(&V) -> bool) {
        for block in self.known(mem) {
            let Some(words) = self.blocks.get_mut(&block) else { continue };
            for (word, bytes) in within(block, mem) {
                words[word].values_mut(bytes).fill(V::default());
            }
            if words.iter().all(|word| word.values(0..WORD as usize).iter().all(&is_default)) {
                self.blocks.remove(&block);
            }
        }
    }

    fn words(&mut self, mem: Mem, mut change: impl FnMut(&mut Word<V>, std::ops::Range<usize>)) {
        let (first, last) = ends(mem);
        for block in first / BLOCK / WORD..=last / BLOCK / WORD {
            let empty = || vec![Word::Whole(V::default()); BLOCK as usize].into_boxed_slice();
            let words = self.blocks.entry(block).or_insert_with(empty);
            within(block, mem).for_each(|(word, bytes)| change(&mut words[word], bytes));
        }
    }

    /// The blocks of some memory; of very many, those that are there.
    fn known(&self, mem: Mem) -> SmallVec<[u64; 2]> {
        let (first, last) = ends(mem);
        let (first, last) = (first / BLOCK / WORD, last / BLOCK / WORD);
        if first == last || (last - first) as usize <= self.blocks.len() {
            return (first..=last).collect();
        }
        self.blocks.keys().copied().filter(|block| (first..=last).contains(block)).collect()
    }
}

/// The first and the last byte.
fn ends(mem: Mem) -> (u64, u64) {
    (mem.addr, mem.addr.saturating_add(u64::from(mem.size).saturating_sub(1)))
}

/// The words of a block that memory touches, and which of their bytes.
fn within(block: u64, mem: Mem) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let start = block * BLOCK * WORD;
    let (first, last) = ends(mem);
    let (first, last) = (first.saturating_sub(start), (last - start).min(BLOCK * WORD - 1));
    (first / WORD..=last / WORD).map(move |word| {
        let from = first.saturating_sub(word * WORD);
        let to = (last - word * WORD).min(WORD - 1);
        (word as usize, from as usize..to as usize + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_value() {
        let mut map: ByteMap<u32> = ByteMap::default();
        let mut plain = vec![0u32; 2000];
        let mut random = 7u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        for step in 1..3000 {
            let size = if next(10) == 0 { 1 + next(900) } else { 1 + next(16) };
            let mem = Mem { addr: u64::from(next(1000)), size };
            let bytes = &mut plain[mem.addr as usize..mem.addr as usize + size as usize];
            match next(4) {
                0 => {
                    map.clear(mem, |value| *value == 0);
                    bytes.fill(0);
                }
                1 => {
                    map.change(mem, |value| *value += 1);
                    bytes.iter_mut().for_each(|value| *value += 1);
                }
                _ => {
                    map.set(mem, &step);
                    bytes.fill(step);
                }
            }
            let at = u64::from(next(1900));
            let mut found = 0;
            map.visit(Mem { addr: at, size: 1 }, |value| found = *value);
            assert_eq!(found, plain[at as usize], "byte {at} after step {step}");
        }
        map.clear(Mem { addr: 0, size: 2000 }, |value| *value == 0);
        assert!(map.blocks.is_empty());
    }
}
