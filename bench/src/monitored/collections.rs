//! Collections that report what happens to them, or nothing: the program is the same code for both.

use std::collections::HashMap;
use std::hash::Hash;

/// What is reported. Each property of the benchmark reports the events it has; nothing else is compiled in.
pub(crate) trait Probe: 'static {
    /// The identity of a collection or an iterator.
    type Life: Default;

    fn create(_collection: &Self::Life, _iterator: &Self::Life) {}
    fn view(_map: &Self::Life, _view: &Self::Life) {}
    fn update(_collection: &Self::Life) {}
    fn next(_iterator: &Self::Life) {}
    fn finished(_iterator: &Self::Life) {}
}

/// The program unmonitored.
pub(crate) struct Unmonitored;

impl Probe for Unmonitored {
    type Life = ();
}

/// A growing list.
pub(crate) struct List<T, P: Probe> {
    items: Vec<T>,
    life: P::Life,
}

impl<T, P: Probe> Default for List<T, P> {
    fn default() -> List<T, P> {
        List { items: Vec::new(), life: P::Life::default() }
    }
}

impl<T, P: Probe> List<T, P> {
    pub(crate) fn push(&mut self, item: T) {
        P::update(&self.life);
        self.items.push(item);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        P::update(&self.life);
        self.items.pop()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.items.get(at)
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.items.get_mut(at)
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn iter(&self) -> Iter<std::slice::Iter<'_, T>, P> {
        Iter::over(&self.life, self.items.iter())
    }
}

/// A hash table.
pub(crate) struct Table<K, V, P: Probe> {
    items: HashMap<K, V>,
    life: P::Life,
}

impl<K, V, P: Probe> Default for Table<K, V, P> {
    fn default() -> Table<K, V, P> {
        Table { items: HashMap::new(), life: P::Life::default() }
    }
}

impl<K: Eq + Hash, V, P: Probe> Table<K, V, P> {
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        P::update(&self.life);
        self.items.insert(key, value)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        P::update(&self.life);
        self.items.remove(key)
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.items.get(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The keys, as a view of their own.
    pub(crate) fn keys(&self) -> Keys<'_, K, V, P> {
        let keys = Keys { items: &self.items, life: P::Life::default() };
        P::view(&self.life, &keys.life);
        keys
    }
}

/// The keys of a [`Table`].
pub(crate) struct Keys<'a, K, V, P: Probe> {
    items: &'a HashMap<K, V>,
    life: P::Life,
}

impl<'a, K, V, P: Probe> Keys<'a, K, V, P> {
    pub(crate) fn iter(&self) -> Iter<std::collections::hash_map::Keys<'a, K, V>, P> {
        Iter::over(&self.life, self.items.keys())
    }
}

/// An iterator over a collection.
pub(crate) struct Iter<I, P: Probe> {
    inner: I,
    life: P::Life,
}

impl<I, P: Probe> Iter<I, P> {
    fn over(collection: &P::Life, inner: I) -> Iter<I, P> {
        let life = P::Life::default();
        P::create(collection, &life);
        Iter { inner, life }
    }
}

impl<I: Iterator, P: Probe> Iterator for Iter<I, P> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        P::next(&self.life);
        let item = self.inner.next();
        if item.is_none() {
            P::finished(&self.life);
        }
        item
    }
}
