//! Numbers as people type and read them: `10M`, `100k`; `1,204`, `3.5 MB`.

use std::time::Duration;

/// A count: digits, with `_` between them if wanted, and k, M or G for thousands, millions, milliards.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("expected a number such as 500, 100k or 10M".to_owned());
    }
    let number: Option<u64> = digits.parse().ok();
    number.and_then(|n| n.checked_mul(unit)).ok_or_else(|| "the number is too large".to_owned())
}

/// A size of something on disk: a count of bytes, not too small to be of use.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match count(text)? {
        bytes if bytes < 1_000_000 => Err("expected at least 1M".to_owned()),
        bytes => Ok(bytes),
    }
}

/// A count of at most `MOST`.
pub(crate) fn up_to<const MOST: u32>(text: &str) -> Result<u32, String> {
    let number = u32::try_from(count(text)?).ok().filter(|&n| n <= MOST);
    number.ok_or_else(|| format!("expected at most {}", grouped(u64::from(MOST))))
}

/// A count from 1 to `MOST`.
pub(crate) fn positive<const MOST: u32>(text: &str) -> Result<u32, String> {
    match up_to::<MOST>(text)? {
        0 => Err("expected at least 1".to_owned()),
        number => Ok(number),
    }
}

/// A time: seconds, or a number with ms, s, m or h.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 500ms, 90s, 5m or 1h".to_owned()),
    };
    let number: Option<f64> = digits.parse().ok().filter(|n: &f64| (0.0..1e9).contains(n));
    number
        .map(|n| Duration::from_secs_f64(n * seconds))
        .ok_or_else(|| "expected a time such as 90s or 5m".to_owned())
}

/// A share from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|n| (0.0..=1.0).contains(n)).ok_or_else(|| "expected a share from 0 to 1".to_owned())
}

/// A small number that is not negative.
pub(crate) fn exponent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|n| (0.0..=20.0).contains(n)).ok_or_else(|| "expected a number from 0 to 20".to_owned())
}

/// `1,204`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `3.5 MB`.
pub(crate) fn bytes(number: u64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match units.iter().find(|unit| number as f64 >= unit.1) {
        Some((unit, size)) => format!("{:.1} {unit}", number as f64 / size),
        None => format!("{number} bytes"),
    }
}

/// How much of a lattice is explored: a number from 1 on, or `all`, which is `usize::MAX`.
pub(crate) fn breadth(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => (text.parse().ok().filter(|&most| most > 0))
            .ok_or_else(|| "expected a number from 1 on, or `all`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_have_units() {
        assert_eq!(count("500"), Ok(500));
        assert_eq!(count("100k"), Ok(100_000));
        assert_eq!(count("10M"), Ok(10_000_000));
        assert_eq!(count("1_000G"), Ok(1_000_000_000_000));
        for wrong in ["", "M", "-1", "1.5M", "10 M", "10Mi", "_", "é", "99999999999999999999", "99999999999G"]
        {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_hold() {
        assert_eq!(up_to::<10>("10"), Ok(10));
        assert_eq!(up_to::<10>("11"), Err("expected at most 10".to_owned()));
        assert!(positive::<10>("0").is_err());
        assert!(share("1.01").is_err() && share("NaN").is_err() && share("1") == Ok(1.0));
        assert!(exponent("-1").is_err() && exponent("inf").is_err());
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1204), grouped(1_234_567)],
            ["0", "999", "1,204", "1,234,567"]
        );
        assert_eq!([bytes(999), bytes(1500), bytes(3_500_000)], ["999 bytes", "1.5 kB", "3.5 MB"]);
    }
}
