//! Values in registers: sums of unknowns, as far as the code shows them.
//!
//! Two registers have the same value, or values a constant apart, if their sums are the same, or differ in the constant alone. What an
//! unknown is does not matter: what a function was given, what an instruction loaded or computed, or what comes together where
//! paths meet. Each has one identity, so equal computations of equal values are equal.

use rustc_hash::FxHashMap;

/// A value: a sum that is known by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(u32);

/// An unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unknown {
    /// Where its file is loaded.
    Image,
    /// What the function was given in this register.
    Given(u8),
    /// What the instruction at this address put into this register or slot.
    Made(u64, u32),
    /// What comes together at the beginning of this block; the first place that has it.
    Met(usize, Place),
    /// What this operation makes of values.
    Result(u32, Vec<Value>),
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Register(usize),
    /// By what varies of its address, and the offset.
    Slot(Value, i64),
}

/// How many unknowns a sum may have before it is an unknown itself.
const TERMS: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Sum {
    /// Unknowns by their numbers, with how often.
    terms: Vec<(u32, i64)>,
    constant: i64,
}

/// All values of a function.
#[derive(Default)]
pub(super) struct Values {
    sums: Vec<Sum>,
    /// What varies of each, once somebody has asked.
    varying: Vec<Option<Value>>,
    known: FxHashMap<Sum, Value>,
    unknowns: FxHashMap<Unknown, u32>,
    /// Which of them are addresses in the function's frame.
    frames: Vec<bool>,
}

impl Values {
    pub(super) fn constant(&mut self, constant: i64) -> Value {
        self.intern(Sum { terms: Vec::new(), constant })
    }

    pub(super) fn unknown(&mut self, unknown: Unknown) -> Value {
        self.place(unknown, false)
    }

    /// An unknown that is an address in the frame.
    pub(super) fn frame(&mut self, unknown: Unknown) -> Value {
        self.place(unknown, true)
    }

    fn place(&mut self, unknown: Unknown, is_frame: bool) -> Value {
        let next = self.unknowns.len() as u32;
        let number = *self.unknowns.entry(unknown).or_insert(next);
        if number == next {
            self.frames.push(is_frame);
        }
        // What was taken for an address in the frame may turn out to be another as well.
        self.frames[number as usize] &= is_frame;
        self.intern(Sum { terms: vec![(number, 1)], constant: 0 })
    }

    pub(super) fn plus(&mut self, value: Value, constant: i64) -> Value {
        let mut sum = self.sums[value.0 as usize].clone();
        sum.constant = sum.constant.wrapping_add(constant);
        self.intern(sum)
    }

    /// `a + b * times`.
    pub(super) fn sum(&mut self, a: Value, b: Value, times: i64) -> Value {
        let mut sum = self.sums[a.0 as usize].clone();
        let other = self.sums[b.0 as usize].clone();
        for (unknown, count) in other.terms {
            let count = count.wrapping_mul(times);
            match sum.terms.binary_search_by_key(&unknown, |&(known, _)| known) {
                Ok(at) => sum.terms[at].1 = sum.terms[at].1.wrapping_add(count),
                Err(at) => sum.terms.insert(at, (unknown, count)),
            }
        }
        sum.terms.retain(|&(_, count)| count != 0);
        sum.constant = sum.constant.wrapping_add(other.constant.wrapping_mul(times));
        if sum.terms.len() > TERMS {
            let times = self.constant(times);
            return self.unknown(Unknown::Result(u32::MAX, vec![a, b, times]));
        }
        self.intern(sum)
    }

    /// The greatest number of which all these values are multiples, with the sign of the first part of the first of them; 1 if all are 0.
    pub(super) fn divisor(&self, values: &[Value]) -> i64 {
        let parts = || {
            let sums = values.iter().map(|value| &self.sums[value.0 as usize]);
            sums.flat_map(|sum| sum.terms.iter().map(|&(_, count)| count).chain([sum.constant]))
        };
        let greatest = parts().fold(0, |greatest, part| common_divisor(greatest, part.unsigned_abs()));
        let greatest = i64::try_from(greatest).unwrap_or(1).max(1);
        let is_negative = parts().find(|&part| part != 0).is_some_and(i64::is_negative);
        if is_negative { -greatest } else { greatest }
    }

    /// The value by a number of which it is a multiple.
    pub(super) fn divided(&mut self, value: Value, by: i64) -> Value {
        let sum = &self.sums[value.0 as usize];
        let terms = sum.terms.iter().map(|&(unknown, count)| (unknown, count.wrapping_div(by))).collect();
        let constant = sum.constant.wrapping_div(by);
        self.intern(Sum { terms, constant })
    }

    fn intern(&mut self, sum: Sum) -> Value {
        if let Some(&value) = self.known.get(&sum) {
            return value;
        }
        let value = Value(self.sums.len() as u32);
        self.sums.push(sum.clone());
        self.varying.push(None);
        self.known.insert(sum, value);
        value
    }

    /// The value as what varies and a constant.
    pub(super) fn split(&mut self, value: Value) -> (Value, i64) {
        let at = value.0 as usize;
        let constant = self.sums[at].constant;
        let varying = match self.varying[at] {
            Some(varying) => varying,
            None if constant == 0 => value,
            None => self.intern(Sum { terms: self.sums[at].terms.clone(), constant: 0 }),
        };
        self.varying[at] = Some(varying);
        (varying, constant)
    }

    /// The value, if it is a constant.
    pub(super) fn as_constant(&self, value: Value) -> Option<i64> {
        let sum = &self.sums[value.0 as usize];
        sum.terms.is_empty().then_some(sum.constant)
    }

    /// Whether a value is another plus something: all unknowns of that are in it.
    pub(super) fn has(&self, value: Value, part: Value) -> bool {
        let terms = &self.sums[value.0 as usize].terms;
        self.sums[part.0 as usize].terms.iter().all(|term| terms.contains(term))
    }

    /// Whether this is an address in the function's frame.
    pub(super) fn is_in_frame(&self, value: Value) -> bool {
        let terms = &self.sums[value.0 as usize].terms;
        terms.iter().any(|&(unknown, count)| count == 1 && self.frames[unknown as usize])
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sums_are_one_value() {
        let mut values = Values::default();
        let (a, b) = (values.unknown(Unknown::Given(0)), values.unknown(Unknown::Given(1)));
        let left = values.sum(a, b, 8);
        let left = values.plus(left, 24);
        let more = values.plus(b, 3);
        assert_eq!(values.sum(a, more, 8), left);
        assert_eq!(values.sum(left, left, -1), values.constant(0));
        assert_eq!(values.split(left).1, 24);
        let frame = values.frame(Unknown::Given(4));
        let inside = values.sum(frame, b, 4);
        assert!(values.is_in_frame(inside) && !values.is_in_frame(left));
    }
}
