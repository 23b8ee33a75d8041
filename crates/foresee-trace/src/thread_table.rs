//! Tables of threads that come and go.
//!
//! A program may start threads for as long as it runs, and a trace numbers all of them. What is kept for each must not depend on how many there were, only on how
//! many there are: so these tables do not go by a thread's number but by a *slot*, a small index that another thread gets when its thread has gone. [`ThreadSlots`] says which
//! slot a thread has; [`ThreadTable`] has a value in each.
//!
//! Nobody is told which threads have gone: whoever has a table takes them out, when nothing that comes can speak of them any more. One that is asked for
//! all the same is a new one, of which nothing is known; nothing goes wrong by that.
//!
//! **Cost.** Mostly the same thread is asked for again and again, and that is one comparison. Otherwise it is a lookup in a hash table.

use std::cell::Cell;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Which thread has which slot.
#[derive(Debug)]
pub struct ThreadSlots<K: Copy> {
    slots: FxHashMap<K, u32>,
    free: Vec<u32>,
    /// The thread that was asked for last.
    last: Cell<Option<(K, u32)>>,
}

impl<K: Copy> Default for ThreadSlots<K> {
    fn default() -> Self {
        ThreadSlots { slots: FxHashMap::default(), free: Vec::new(), last: Cell::new(None) }
    }
}

impl<K: Copy + Eq + Hash> ThreadSlots<K> {
    /// The slot of a thread, if it has one.
    #[inline]
    pub fn get(&self, thread: K) -> Option<usize> {
        if let Some((last, slot)) = self.last.get()
            && last == thread
        {
            return Some(slot as usize);
        }
        let slot = *self.slots.get(&thread)?;
        self.last.set(Some((thread, slot)));
        Some(slot as usize)
    }

    /// The slot of a thread, which gets one if it has none: no other has it.
    #[inline]
    pub fn slot(&mut self, thread: K) -> usize {
        match self.get(thread) {
            Some(slot) => slot,
            None => self.add(thread),
        }
    }

    #[cold]
    fn add(&mut self, thread: K) -> usize {
        // Those that are taken and those that are free are all there ever were.
        let next = self.slots.len() as u32;
        let slot = self.free.pop().unwrap_or(next);
        self.slots.insert(thread, slot);
        slot as usize
    }

    /// A thread has gone; the slot that it had, which is free from now on.
    pub fn remove(&mut self, thread: K) -> Option<usize> {
        let slot = self.slots.remove(&thread)?;
        self.last.set(None);
        self.free.push(slot);
        Some(slot as usize)
    }

    /// All threads that have a slot, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (K, usize)> + '_ {
        self.slots.iter().map(|(&thread, &slot)| (thread, slot as usize))
    }
}

/// What is known of each thread that is there.
#[derive(Debug)]
pub struct ThreadTable<K: Copy, T> {
    slots: ThreadSlots<K>,
    /// By slot; the default where a slot is free.
    values: Vec<T>,
}

impl<K: Copy, T> Default for ThreadTable<K, T> {
    fn default() -> Self {
        ThreadTable { slots: ThreadSlots::default(), values: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash, T: Default> ThreadTable<K, T> {
    /// What is known of a thread, if anything is.
    #[inline]
    pub fn get(&self, thread: K) -> Option<&T> {
        self.values.get(self.slots.get(thread)?)
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, thread: K) -> Option<&mut T> {
        self.values.get_mut(self.slots.get(thread)?)
    }

    /// The same; of a thread that is not in the table it is the default, and from now on it is.
    #[inline]
    pub fn entry(&mut self, thread: K) -> &mut T {
        let slot = self.slots.slot(thread);
        if self.values.len() <= slot {
            self.values.resize_with(slot + 1, T::default);
        }
        &mut self.values[slot]
    }

    /// Takes out a thread that has gone.
    pub fn remove(&mut self, thread: K) -> Option<T> {
        let slot = self.slots.remove(thread)?;
        self.values.get_mut(slot).map(std::mem::take)
    }

    /// All threads of the table, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.slots.iter().filter_map(|(thread, slot)| Some((thread, self.values.get(slot)?)))
    }

    /// What is known of all threads, to change it.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_large_as_there_are_threads_at_a_time() {
        let mut table: ThreadTable<u64, Vec<u64>> = ThreadTable::default();
        table.entry(0).push(0);
        for thread in 1..10_000 {
            table.entry(thread).push(thread);
            let others: Vec<u64> = table.iter().map(|(thread, _)| thread).filter(|&one| one != 0).collect();
            assert_eq!(others, [thread]);
            assert_eq!(table.remove(thread), Some(vec![thread]));
            assert_eq!(table.get(thread), None);
        }
        assert_eq!(table.get(0), Some(&vec![0]));
        assert_eq!(table.values.len(), 2);
    }

    #[test]
    fn a_slot_that_another_had_is_as_new() {
        let mut table: ThreadTable<u64, u32> = ThreadTable::default();
        *table.entry(1) = 5;
        *table.entry(2) = 6;
        table.remove(1);
        assert_eq!(table.remove(1), None);
        assert_eq!(*table.entry(3), 0);
        assert_eq!((table.get(1), table.get(2), table.get(3)), (None, Some(&6), Some(&0)));
        assert_eq!(table.values.len(), 2);
    }
}
