//! The words for operations and their modifiers, for reader and writer.

use std::borrow::Cow;

use super::fault::Fault;
use crate::event::Order;
use crate::flat::{Modifier, OpKind};
use crate::name_matching::edit_distance;

/// The kind of operation that a word stands for.
pub(super) fn kind(word: &str) -> Result<OpKind, Fault<'_>> {
    OpKind::ALL.iter().copied().find(|kind| kind.word() == word).ok_or_else(|| {
        let words: Vec<&'static str> = OpKind::ALL.iter().map(|kind| kind.word()).collect();
        Fault {
            at: word,
            expected: Cow::Owned(format!("an operation ({})", words.join(", "))),
            suggestion: closest(word, &words),
        }
    })
}

/// The name of a kind's modifier, by its number; an empty name is never written.
pub(super) fn modifier_name(kind: OpKind, number: u8) -> Option<&'static str> {
    let number = usize::from(number);
    match kind.modifier() {
        Modifier::Nothing => None,
        Modifier::Order => Order::ALL.get(number).map(|order| order.name()),
        Modifier::Mode => ["", "shared"].get(number).copied(),
        Modifier::ModeAndTried => ["", "shared", "try", "try_shared"].get(number).copied(),
        Modifier::All => ["", "all"].get(number).copied(),
        Modifier::Timed => ["", "timed"].get(number).copied(),
        Modifier::Orders => ["", "orders"].get(number).copied(),
    }
}

/// The number of a modifier: `text` is what comes after the dot, `None` without one.
pub(super) fn modifier(kind: OpKind, text: Option<&str>) -> Result<u8, Fault<'_>> {
    let Some(text) = text else {
        let has_order = modifier_name(kind, Order::default() as u8) == Some(Order::default().name());
        return Ok(if has_order { Order::default() as u8 } else { 0 });
    };
    let named = || {
        let all = (0..=u8::MAX).map_while(|number| Some((number, modifier_name(kind, number)?)));
        all.filter(|(_, name)| !name.is_empty())
    };
    named().find(|(_, name)| *name == text).map(|(number, _)| number).ok_or_else(|| {
        let named: Vec<&'static str> = named().map(|(_, name)| name).collect();
        let expected = match named.as_slice() {
            [] => format!("`(` or the end of the operation: `{}` has no modifiers", kind.word()),
            named => format!("a modifier of `{}` ({})", kind.word(), named.join(", ")),
        };
        Fault { at: text, expected: Cow::Owned(expected), suggestion: closest(text, &named) }
    })
}

/// The candidate that `word` is most likely a misspelling of.
fn closest(word: &str, candidates: &[&'static str]) -> Option<&'static str> {
    const LONGEST: usize = 20;
    if word.len() > LONGEST {
        return None;
    }
    let tolerance = (word.len() / 2).min(2);
    let lower = word.to_lowercase();
    let distances = candidates.iter().map(|candidate| (edit_distance(&lower, candidate), *candidate));
    distances.filter(|(distance, _)| *distance <= tolerance).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        for &known in OpKind::ALL {
            assert_eq!(kind(known.word()).unwrap(), known);
        }
    }

    #[test]
    fn distances() {
        for (a, b, distance) in
            [("", "", 0), ("acq", "acq", 0), ("aqc", "acq", 2), ("lock", "", 4), ("raed", "read", 2)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
        assert_eq!(closest("accq", &["rel", "acq"]), Some("acq"));
        assert_eq!(closest("lock", &["rel", "acq"]), None);
    }
}
