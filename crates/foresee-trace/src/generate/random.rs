//! Random numbers that are the same everywhere, and the choices made with them.

/// xoshiro256++ (Blackman and Vigna), seeded by splitmix64.
pub(super) struct Random([u64; 4]);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Random([next(), next(), next(), next()])
    }

    #[inline]
    fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform below `limit`, which is not 0; the bias, at most one in 2³², does not matter here.
    #[inline]
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }
}

/// Something that happens with a fixed probability, in steps of 2⁻³².
pub(super) struct Chance(u64);

impl Chance {
    /// A probability; what is not between 0 and 1 is moved there.
    pub(super) fn new(probability: f64) -> Self {
        Chance((probability.clamp(0.0, 1.0) * 4_294_967_296.0) as u64)
    }

    #[inline]
    pub(super) fn happens(&self, random: &mut Random) -> bool {
        random.next() >> 32 < self.0
    }
}

/// Picks a number below a limit: uniformly, or by Zipf's law with Vose's alias method, in constant time either way.
pub(super) enum Pick {
    Uniform(u32),
    /// For each number, how likely it is kept when hit (of 2³²), and what is picked otherwise.
    Alias(Vec<(u32, u32)>),
}

impl Pick {
    pub(super) fn new(limit: u32, skew: f64) -> Self {
        if skew.is_finite() && skew != 0.0 {
            Pick::Alias(alias_table(limit, skew))
        } else {
            Pick::Uniform(limit)
        }
    }

    #[inline]
    pub(super) fn pick(&self, random: &mut Random) -> u32 {
        match self {
            Pick::Uniform(limit) => random.below(*limit),
            Pick::Alias(table) => {
                let bits = random.next();
                let hit = ((bits >> 32) * table.len() as u64) >> 32;
                let (keep, other) = table[hit as usize];
                if bits as u32 <= keep { hit as u32 } else { other }
            }
        }
    }
}

fn alias_table(limit: u32, skew: f64) -> Vec<(u32, u32)> {
    let weights: Vec<f64> = (0..limit).map(|i| exp(-skew * ln(f64::from(i) + 1.0))).collect();
    let total: f64 = weights.iter().sum();
    // Each number's share, where 1 is the average.
    let mut shares: Vec<f64> = weights.iter().map(|w| w / total * f64::from(limit)).collect();
    let mut table: Vec<(u32, u32)> = (0..limit).map(|i| (u32::MAX, i)).collect();
    let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..limit).partition(|&i| shares[i as usize] < 1.0);
    while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
        let (p, r) = (poor as usize, rich as usize);
        table[p] = ((shares[p] * 4_294_967_296.0) as u32, rich);
        shares[r] -= 1.0 - shares[p];
        if shares[r] < 1.0 {
            large.pop();
            small.push(rich);
        }
    }
    table
}

/// The natural logarithm of a number that is at least 1. The standard library's differs between platforms in the last digit.
fn ln(x: f64) -> f64 {
    let mut mantissa = x;
    let mut halvings = 0.0;
    while mantissa > 1.5 {
        mantissa /= 2.0;
        halvings += 1.0;
    }
    halvings * std::f64::consts::LN_2 + ln_near_1(mantissa)
}

/// By the series of the inverse hyperbolic tangent.
fn ln_near_1(x: f64) -> f64 {
    let z = (x - 1.0) / (x + 1.0);
    let (mut power, mut sum) = (z, 0.0);
    for odd in 0..16 {
        sum += power / f64::from(2 * odd + 1);
        power *= z * z;
    }
    2.0 * sum
}

/// The exponential function: the same on all platforms, as [`ln`].
fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0) / 1024.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..16 {
        term *= x / f64::from(n);
        sum += term;
    }
    (0..10).fold(sum, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_exponential_are_right() {
        for x in [1.0, 1.4, 2.0, 3.0, 1000.0, 4e9] {
            assert!((ln(x) - x.ln()).abs() < 1e-12, "{x}");
        }
        for x in [-20.0, -1.0, 0.0, 0.5, 3.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-10, "{x}");
        }
    }

    #[test]
    fn skewed_numbers_follow_zipf() {
        let (limit, draws) = (50, 1_000_000);
        let pick = Pick::new(limit, 1.2);
        let mut random = Random::new(7);
        let mut counts = vec![0u32; limit as usize];
        for _ in 0..draws {
            counts[pick.pick(&mut random) as usize] += 1;
        }
        let weight = |i: u32| f64::from(i + 1).powf(-1.2);
        let total: f64 = (0..limit).map(weight).sum();
        for i in 0..limit {
            let expected = weight(i) / total * f64::from(draws);
            let found = f64::from(counts[i as usize]);
            assert!((found - expected).abs() < 6.0 * expected.sqrt(), "{i}: {found} instead of {expected}");
        }
    }
}
