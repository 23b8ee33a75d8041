//! Numbers of the text form: `12`, `-3`, `0x7f`.

/// Whether the text has the shape of a number, however large.
#[inline]
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    match text.strip_prefix("0x") {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// The number, if the text is one that any use of numbers could take.
pub(super) fn number(text: &str) -> Option<i128> {
    if !is_number(text) {
        return None;
    }
    match text.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The bits of a value of `size` bytes, if it fits: both `255` and `-1` are values of one byte.
pub(super) fn value_bits(text: &str, size: u32) -> Option<u64> {
    let width = 8 * size.clamp(1, 8);
    let value = number(text)?;
    let fits = (-(1 << (width - 1))..1 << width).contains(&value);
    fits.then(|| crate::bits(value as i64, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_must_fit() {
        assert_eq!(value_bits("-1", 1), Some(0xff));
        assert_eq!(value_bits("255", 1), Some(0xff));
        assert_eq!(value_bits("256", 1), None);
        assert_eq!(value_bits("-129", 1), None);
        assert_eq!(value_bits("0xffffffffffffffff", 8), Some(u64::MAX));
        assert_eq!(value_bits("18446744073709551616", 16), None);
        for no_number in ["", "-", "+1", "0x", "-0x1", "1a", "1 "] {
            assert!(!is_number(no_number), "{no_number}");
        }
        assert!(is_number(&"9".repeat(60)) && number(&"9".repeat(60)).is_none());
    }
}
