//! A map from identities to small values: open addressing, linear probing, one array.
//!
//! Monitors look up an object at nearly every event, and objects come and go. A lookup is a multiplication and, nearly always, one cache
//! line; removal moves what follows back instead of leaving marks, so a table that has seen many objects is as fast as a new one.
//! It grows at three quarters and does not shrink.

/// A map from numbers to values.
#[derive(Clone, Debug)]
pub(super) struct Table<V> {
    slots: Vec<Slot<V>>,
    used: usize,
    shift: u32,
}

#[derive(Clone, Debug)]
struct Slot<V> {
    key: u64,
    value: Option<V>,
}

impl<V> Default for Table<V> {
    fn default() -> Table<V> {
        Table { slots: Vec::new(), used: 0, shift: 63 }
    }
}

impl<V> Table<V> {
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Where a key would best be (Fibonacci hashing: the upper bits of a product).
    #[inline]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Where a key is, until the next change of the table.
    #[inline]
    pub(super) fn position(&self, key: u64) -> Option<usize> {
        let mut at = self.home(key);
        loop {
            // An empty table has no slot at all.
            let slot = self.slots.get(at)?;
            slot.value.as_ref()?;
            if slot.key == key {
                return Some(at);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Whether the key is at this position.
    #[inline]
    pub(super) fn is_at(&self, position: usize, key: u64) -> bool {
        self.slots.get(position).is_some_and(|slot| slot.key == key && slot.value.is_some())
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.slots[self.position(key)?].value.as_ref()
    }

    #[inline]
    pub(super) fn at(&mut self, position: usize) -> Option<&mut V> {
        self.slots[position].value.as_mut()
    }

    /// Adds a key that is not there yet; where it is now.
    pub(super) fn insert(&mut self, key: u64, value: V) -> usize {
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.used += 1;
        self.place(key, value)
    }

    fn place(&mut self, key: u64, value: V) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key);
        while self.slots[at].value.is_some() {
            at = (at + 1) & mask;
        }
        self.slots[at] = Slot { key, value: Some(value) };
        at
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.shift = 64 - size.trailing_zeros();
        let slots = std::iter::repeat_with(|| Slot { key: 0, value: None }).take(size).collect();
        for slot in std::mem::replace(&mut self.slots, slots) {
            if let Some(value) = slot.value {
                self.place(slot.key, value);
            }
        }
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<V> {
        let mut hole = self.position(key)?;
        let removed = self.slots[hole].value.take();
        self.used -= 1;
        let mask = self.slots.len() - 1;
        let mut next = (hole + 1) & mask;
        while self.slots[next].value.is_some() {
            let home = self.home(self.slots[next].key);
            // What is further from home than from the hole would no longer be found behind it.
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                self.slots.swap(hole, next);
                hole = next;
            }
            next = (next + 1) & mask;
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::collections::hash_map::Entry;

    use super::*;

    #[test]
    fn it_holds_what_a_map_holds() {
        let (mut table, mut map) = (Table::default(), HashMap::new());
        let mut random = 1u64;
        for round in 0..200_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Keys that are close to each other, as addresses are, and far ones; more come than go for a while, then the reverse.
            let key = ((random >> 40) % 3000 * 16) << ((random >> 33 & 1) * 40);
            let grows = (round / 20_000).is_multiple_of(2);
            if (random >> 20) % 4 < 1 + 2 * u64::from(grows) {
                if let Entry::Vacant(vacant) = map.entry(key) {
                    let at = table.insert(key, round);
                    assert!(table.is_at(at, key));
                    vacant.insert(round);
                }
            } else {
                assert_eq!(table.remove(key), map.remove(&key));
            }
            assert_eq!((table.get(key), table.len()), (map.get(&key), map.len()));
        }
        for (key, value) in &map {
            assert_eq!(table.get(*key), Some(value));
        }
    }
}
