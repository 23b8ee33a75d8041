//! Lines that begin with `#` and have no `|`: `#meta`, `#gap` and `#var`; all others are comments.

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

/// The text before and after the first blank.
fn split_word(text: &str) -> (&str, &str) {
    text.split_once([' ', '\t']).unwrap_or((text, &text[text.len()..]))
}
