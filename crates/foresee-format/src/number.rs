//! What bits of memory are as a number.

/// The bits of a value of `size` bytes as a number: one that is never negative, or the way people write it. What is beyond all numbers of properties is the largest of them.
#[inline]
pub fn number(bits: u64, size: u64, is_unsigned: bool) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8);
    let bits = bits << unused;
    if is_unsigned { i64::try_from(bits >> unused).unwrap_or(i64::MAX) } else { (bits as i64) >> unused }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_the_size_and_the_sign_of_their_variables() {
        assert_eq!((number(0xffff_ffff, 4, false), number(0xffff_ffff, 8, false)), (-1, 0xffff_ffff));
        assert_eq!((number(u64::MAX, 1, true), number(u64::MAX, 4, true)), (0xff, 0xffff_ffff));
        assert_eq!(number(u64::MAX, 8, true), i64::MAX);
    }
}
