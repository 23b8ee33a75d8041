//! Runs a test for many seeds, and names the seed that failed.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `test` with the seeds 0, 1, 2, …: `default_count` of them, or as many as the environment variable
/// `FORESEE_TEST_EXECUTIONS` says. With `FORESEE_TEST_SEED` set, only with that seed.
///
/// # Panics
/// If `test` does, naming the seed.
pub fn for_each_seed(default_count: u64, mut test: impl FnMut(u64)) {
    let seeds = match number("FORESEE_TEST_SEED") {
        Some(seed) => seed..=seed,
        None => match number("FORESEE_TEST_EXECUTIONS").unwrap_or(default_count).checked_sub(1) {
            Some(last) => 0..=last,
            None => return,
        },
    };
    for seed in seeds {
        if catch_unwind(AssertUnwindSafe(|| test(seed))).is_err() {
            panic!("failed with seed {seed}; to repeat: FORESEE_TEST_SEED={seed}");
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{variable} must be a number, not {text:?}"),
    }
}

/// A small generator of random numbers (splitmix64): the same for the same seed, everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % (bound as u64).max(1)) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// One of them, if there are any.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.below(from.len())).copied()
    }
}
