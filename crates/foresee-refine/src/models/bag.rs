//! A collection that knows how often it has each value.

use std::collections::BTreeMap;

use crate::value::Value;

/// Values with how often each is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bag(BTreeMap<Value, u64>);

impl Bag {
    /// One more of this value.
    pub fn insert(&mut self, value: Value) {
        *self.0.entry(value).or_default() += 1;
    }

    /// All that another has.
    pub(super) fn add_all(&mut self, other: &Bag) {
        other.0.iter().for_each(|(value, count)| *self.0.entry(value.clone()).or_default() += count);
    }

    /// One less of this value; whether there was one.
    pub fn remove(&mut self, value: &Value) -> bool {
        let Some(count) = self.0.get_mut(value) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(value);
        }
        true
    }

    /// How often the value is there.
    pub fn count(&self, value: &Value) -> u64 {
        self.0.get(value).copied().unwrap_or(0)
    }

    /// The smallest value.
    pub fn first(&self) -> Option<&Value> {
        self.0.keys().next()
    }

    /// The values, each once, in order.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.keys()
    }

    pub(super) fn weight(&self) -> usize {
        self.0.keys().map(|value| 56 + value.weight()).sum()
    }
}
