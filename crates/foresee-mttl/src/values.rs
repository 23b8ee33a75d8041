//! The values of an entry. Most have a few, which are in place: copying them is a few instructions, and they lie beside the number that is compared before.

use std::cell::Cell;

use crate::Value;

/// So many are in place: enough for two threads of which each is asked what it knows of the other, and the one that started them.
const FEW: usize = 6;

/// Values by number; those that were never set are nothing.
#[derive(Debug, Default)]
pub(crate) struct Values {
    few: [i64; FEW],
    /// Which of the few are something, as bits.
    known: u32,
    more: Vec<Value>,
}

impl Values {
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Value {
        match self.few.get(at) {
            Some(value) => (self.known >> at & 1 == 1).then_some(*value),
            None => self.more.get(at - FEW).copied().flatten(),
        }
    }

    /// One of those that there are is this.
    #[inline]
    pub(crate) fn put(&mut self, at: usize, value: Value) {
        match self.few.get_mut(at) {
            Some(place) => {
                *place = value.unwrap_or(0);
                self.known = self.known & !(1 << at) | u32::from(value.is_some()) << at;
            }
            None => self.more.get_mut(at - FEW).into_iter().for_each(|place| *place = value),
        }
    }

    /// These are all.
    #[inline]
    pub(crate) fn set(&mut self, values: &[Cell<Value>]) {
        for (at, value) in values.iter().take(FEW).enumerate() {
            self.put(at, value.get());
        }
        if values.len() > FEW {
            self.more.clear();
            self.more.extend(values[FEW..].iter().map(Cell::get));
        }
    }
}

// `clone_from` keeps the memory of what it replaces, which `derive` does not.
impl Clone for Values {
    fn clone(&self) -> Self {
        Values { few: self.few, known: self.known, more: self.more.clone() }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        (self.few, self.known) = (other.few, other.known);
        if self.more.len() != other.more.len() || !other.more.is_empty() {
            self.more.clone_from(&other.more);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{FEW, Values};

    #[test]
    fn values_are_those_that_were_set_last() {
        let mut copy = Values::default();
        for count in [0, 2, FEW, FEW + 1, 40, 3, FEW + 2] {
            let all: Vec<_> = (0..count).map(|at| Cell::new(Some((at * count) as i64))).collect();
            let mut values = Values::default();
            values.set(&all);
            all.iter().enumerate().for_each(|(at, value)| {
                values.put(at, None);
                assert_eq!(values.get(at), None);
                values.put(at, value.get());
            });
            copy.clone_from(&values);
            for values in [&values, &copy, &copy.clone()] {
                assert!((0..count).all(|at| values.get(at) == Some((at * count) as i64)));
                assert_eq!(values.get(count), None);
            }
        }
    }
}
