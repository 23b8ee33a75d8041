//! How many different things there are, in bounded memory.
//!
//! Exact up to [`EXACT`] things; beyond that an estimate by HyperLogLog (Flajolet and others), whose standard error
//! with 2¹⁴ registers is 0.8 %.

use rustc_hash::FxHashSet;

/// Counted exactly up to here: some 10 MB.
const EXACT: usize = 900_000;
const REGISTER_BITS: u32 = 14;

/// A set that knows its size, but not what is in it.
pub(super) enum Distinct {
    Exact(FxHashSet<u64>),
    Estimate(Vec<u8>),
}

impl Default for Distinct {
    fn default() -> Self {
        Distinct::Exact(FxHashSet::default())
    }
}

impl Distinct {
    /// Adds a thing, known by its hash: well mixed, and different for different things but for rare accidents.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) {
        match self {
            Distinct::Exact(seen) => {
                seen.insert(hash);
                if seen.len() > EXACT {
                    let mut registers = vec![0; 1 << REGISTER_BITS];
                    seen.iter().for_each(|&hash| register(&mut registers, hash));
                    *self = Distinct::Estimate(registers);
                }
            }
            Distinct::Estimate(registers) => register(registers, hash),
        }
    }

    /// How many different things were added, and whether that is exact.
    pub(super) fn count(&self) -> (u64, bool) {
        match self {
            Distinct::Exact(seen) => (seen.len() as u64, true),
            Distinct::Estimate(registers) => {
                let m = registers.len() as f64;
                let sum: f64 = registers.iter().map(|&r| 0.5f64.powi(i32::from(r))).sum();
                let bias = 0.7213 / (1.0 + 1.079 / m);
                ((bias * m * m / sum) as u64, false)
            }
        }
    }
}

fn register(registers: &mut [u8], hash: u64) {
    let at = (hash >> (64 - REGISTER_BITS)) as usize;
    let rank = ((hash << REGISTER_BITS) | 1 << (REGISTER_BITS - 1)).leading_zeros() as u8 + 1;
    registers[at] = registers[at].max(rank);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::summary::mix;

    #[test]
    fn counts_exactly_then_about() {
        let mut distinct = Distinct::default();
        for i in 0..10_000 {
            distinct.insert(mix(i / 2));
        }
        assert_eq!(distinct.count(), (5_000, true));
        for i in 0..4_000_000 {
            distinct.insert(mix(i));
        }
        let (count, exact) = distinct.count();
        assert!(!exact && (3_840_000..4_160_000).contains(&count), "{count}");
    }
}
