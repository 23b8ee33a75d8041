//! What a thread of a test does next: random, and the same for the same seed.

/// Random choices of one thread, among keys of a pool that all threads share and that shrinks over time.
#[derive(Clone, Debug)]
pub struct Choice {
    state: u64,
    pool: std::sync::Arc<[i64]>,
    /// How many keys of the pool are still used.
    keys: usize,
}

impl Choice {
    pub(super) fn new(seed: u64, pool: std::sync::Arc<[i64]>) -> Choice {
        Choice { state: seed, keys: pool.len(), pool }
    }

    /// So many of a hundred parts of the run are done: the pool is smaller the more that are.
    pub(super) fn shrink(&mut self, done: usize) {
        let left = self.pool.len() * (100 - done.min(90)) / 100;
        self.keys = left.max(2).min(self.pool.len());
    }

    /// 64 random bits (splitmix64).
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// A key of the pool.
    pub fn key(&mut self) -> i64 {
        let place = self.below(self.keys);
        self.pool[place]
    }
}
