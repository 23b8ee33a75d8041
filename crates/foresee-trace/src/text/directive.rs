//! Lines that begin with `#` and have no `|`: `#meta`, `#gap`, `#var` and `#time`; all others are comments.

use super::escape::unescape;
use super::fault::{Fault, fault};
use super::number::number;
use crate::names::Names;
use crate::source::Facts;
use crate::trust::{Gap, Trust};

/// Takes in a directive; other lines are comments.
pub(super) fn read<'a>(
    line: &'a str,
    names: &mut Names,
    facts: &mut Facts,
    trust: &mut Trust,
    time: &mut Option<u64>,
) -> Result<(), Fault<'a>> {
    let (word, rest) = split_word(line);
    match word {
        "#meta" => {
            let (key, value) = split_word(rest);
            if key.is_empty() {
                return Err(fault(key, "a key, as in `#meta command a.out`"));
            }
            facts.push((unescape(key).into_owned(), unescape(value).into_owned()));
            Ok(())
        }
        "#gap" => {
            let gap = Gap::of_code(&unescape(rest));
            trust.add(gap.ok_or_else(|| fault(rest, "what the trace lacks, as in `#gap no-beginning`"))?);
            Ok(())
        }
        "#var" => declare(rest, names),
        "#time" => {
            let now = nanoseconds(rest);
            let now = now.ok_or_else(|| fault(rest, "seconds since any moment, as in `#time 12.345`"))?;
            if time.is_some_and(|before| now < before) {
                return Err(fault(rest, "a time that is not before the last one"));
            }
            *time = Some(now);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `NAME ADDRESS SIZE`
fn declare<'a>(text: &'a str, names: &mut Names) -> Result<(), Fault<'a>> {
    let (name, rest) = split_word(text);
    let (addr, rest) = split_word(rest);
    let (size, rest) = split_word(rest);
    if name.is_empty() {
        return Err(fault(name, "a variable, as in `#var buf 0x5000 16` or `#var buf - 16`"));
    }
    let known_addr = match addr {
        "-" => None,
        _ => {
            let value = number(addr).filter(|_| addr.starts_with("0x")).and_then(|n| u64::try_from(n).ok());
            Some(value.ok_or_else(|| fault(addr, "an address (`0x…`), or `-` where it is not known"))?)
        }
    };
    let bytes = number(size).and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    let in_memory = |n: &u32| known_addr.is_none_or(|addr| addr.checked_add(u64::from(*n) - 1).is_some());
    let Some(bytes) = bytes.filter(in_memory) else {
        return Err(fault(size, "a size in bytes, at least 1, within memory"));
    };
    if !rest.is_empty() {
        return Err(fault(rest, "the end of the line"));
    }
    let id = names.intern(&unescape(name));
    if names.has_symbol(id) {
        return Err(fault(name, "a variable that was neither declared nor used before this line"));
    }
    names.declare_symbol(id, known_addr, bytes);
    Ok(())
}

/// Seconds with up to nine decimals.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 9 {
        return None;
    }
    let part: u64 = format!("{part:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

/// The text before and after the first blank.
fn split_word(text: &str) -> (&str, &str) {
    text.split_once([' ', '\t']).unwrap_or((text, &text[text.len()..]))
}
