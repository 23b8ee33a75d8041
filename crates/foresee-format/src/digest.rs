//! Digests of what reads saw: one byte of each value.
//!
//! A digest is a hash of the whole value, not its lowest byte: that of a `double` is mostly zero, that of a pointer has few values,
//! and of a counter in thousands it does not change at all. A single byte is its own digest. Of two different values one pair in
//! 256 has the same digest, which hides a change and never makes one up. Numbers that are near to each other always differ.

/// The digest of a value of two, four or eight bytes.
#[inline(always)]
pub const fn of_word(value: u64) -> u8 {
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// The digest of a value of sixteen bytes.
#[inline(always)]
pub const fn of_words(low: u64, high: u64) -> u8 {
    of_word(low ^ high.rotate_left(29))
}

/// The digest of these bytes, if it is a value of a size that reads have.
pub fn of_bytes(bytes: &[u8]) -> Option<u8> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    match bytes.len() {
        1 => bytes.first().copied(),
        2 | 4 | 8 => Some(of_word(word(bytes))),
        16 => Some(of_words(word(&bytes[..8]), word(&bytes[8..]))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_numbers_have_different_digests() {
        for from in (0..1_u64 << 40).step_by(0x1_0003_0001) {
            for (i, one) in (from..from + 100).enumerate() {
                assert!((from..one).all(|other| of_word(other) != of_word(one)), "{from} {i}");
            }
        }
    }
}
