//! The labels of arrows: the events, or the shortest condition over a formula's atoms that is true of exactly its letters.
//!
//! A condition is made by merging letters that differ in one atom (Quine and McCluskey), and then taking terms until all letters are
//! covered, those first that cover most. Two events never come at once, so letters that say so may be covered or not.

use crate::predicate::{Expr, Source};
use crate::property::{Atom, Body, Letters, Property};

/// Whether this letter can come: no two events happen at once.
pub(super) fn can_come(body: &Body, letter: u32) -> bool {
    let Letters::Atoms(atoms) = &body.letters else { return true };
    let events = atoms
        .iter()
        .enumerate()
        .filter(|(bit, atom)| matches!(atom, Atom::Event(_)) && letter >> bit & 1 == 1);
    events.count() <= 1
}

/// The text for an arrow with these letters.
pub(super) fn label(property: &Property, body: &Body, all: u32, letters: &[u32]) -> String {
    let possible = (0..all).filter(|letter| can_come(body, *letter)).count();
    if letters.len() == possible && possible > 1 {
        return "any".to_owned();
    }
    match &body.letters {
        Letters::Events => {
            let event = |letter: &u32| property.events.get(*letter as usize).map(|event| event.name.as_str());
            letters.iter().filter_map(event).collect::<Vec<_>>().join(", ")
        }
        Letters::Atoms(atoms) => {
            let impossible = (0..all).filter(|letter| !can_come(body, *letter)).collect();
            let terms = terms(atoms.len() as u32, letters, impossible);
            let text = |term: &Term| term_text(property, atoms, *term);
            terms.iter().map(text).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// The letters that have these bits where `cares` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    bits: u32,
    cares: u32,
}

impl Term {
    fn covers(self, letter: u32) -> bool {
        letter & self.cares == self.bits
    }
}

/// Few terms that cover all of `letters`, and besides them only some of `free`.
fn terms(atoms: u32, letters: &[u32], free: Vec<u32>) -> Vec<Term> {
    let all = (1u32 << atoms) - 1;
    let mut wide: Vec<Term> = letters.iter().chain(&free).map(|&bits| Term { bits, cares: all }).collect();
    let mut largest: Vec<Term> = Vec::new();
    while !wide.is_empty() {
        let mut wider: Vec<Term> = Vec::new();
        let mut merged = vec![false; wide.len()];
        for (nth, a) in wide.iter().enumerate() {
            for (other, b) in wide.iter().enumerate().skip(nth + 1) {
                let differ = a.bits ^ b.bits;
                if a.cares == b.cares && differ.count_ones() == 1 {
                    (merged[nth], merged[other]) = (true, true);
                    let term = Term { bits: a.bits & !differ, cares: a.cares & !differ };
                    if !wider.contains(&term) {
                        wider.push(term);
                    }
                }
            }
        }
        largest.extend(wide.iter().zip(&merged).filter(|(_, merged)| !**merged).map(|(term, _)| *term));
        wide = wider;
    }
    let mut left = letters.to_vec();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let covered = |term: &Term| left.iter().filter(|letter| term.covers(**letter)).count();
        let Some(best) = largest.iter().copied().max_by_key(|term| (covered(term), term.cares.count_zeros()))
        else {
            break;
        };
        left.retain(|letter| !best.covers(*letter));
        chosen.push(best);
    }
    chosen
}

fn term_text(property: &Property, atoms: &[Atom], term: Term) -> String {
    let wanted = atoms.iter().enumerate().filter(|(bit, _)| term.cares >> bit & 1 == 1);
    let parts: Vec<String> = wanted
        .map(|(bit, atom)| {
            let text = match atom {
                Atom::Event(event) => property.events[*event as usize].name.clone(),
                Atom::Predicate(condition) => expr_text(property, condition, false),
            };
            let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            match (term.bits >> bit & 1 == 1, plain) {
                (true, _) => text,
                (false, true) => format!("!{text}"),
                (false, false) => format!("!({text})"),
            }
        })
        .collect();
    parts.join(" && ")
}

fn expr_text(property: &Property, expr: &Expr, inside: bool) -> String {
    match expr {
        Expr::Number(number) => number.to_string(),
        Expr::Source(Source::Var(var)) => {
            property.vars.get(*var as usize).map_or_else(String::new, |var| var.name.clone())
        }
        Expr::Source(Source::State(state)) => {
            property.state.get(*state as usize).map_or_else(String::new, |state| state.name.clone())
        }
        Expr::Source(Source::Param(param)) => {
            property.params.get(usize::from(*param)).cloned().unwrap_or_default()
        }
        Expr::Source(Source::Arg(arg)) => format!("#{arg}"),
        Expr::Source(Source::Thread) => "thread".to_owned(),
        Expr::Unary(operator, inner) => format!("{}{}", operator.text(), expr_text(property, inner, true)),
        Expr::Binary(operator, left, right) => {
            let (left, right) = (expr_text(property, left, true), expr_text(property, right, true));
            let text = format!("{left} {} {right}", operator.text());
            if inside { format!("({text})") } else { text }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_cover_exactly_the_letters() {
        for set in 1u32..256 {
            let letters: Vec<u32> = (0..8).filter(|letter| set >> letter & 1 == 1).collect();
            let terms = terms(3, &letters, Vec::new());
            for letter in 0..8 {
                let covered = terms.iter().any(|term| term.covers(letter));
                assert_eq!(covered, letters.contains(&letter), "{letters:?}: {terms:?}");
            }
        }
        assert_eq!(terms(2, &[1, 3], Vec::new()), [Term { bits: 1, cares: 1 }]);
        assert_eq!(terms(2, &[1], vec![3]), [Term { bits: 1, cares: 1 }]);
    }
}
