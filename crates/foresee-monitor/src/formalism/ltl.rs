//! `ltl`: linear temporal logic over the events so far, with three verdicts.
//!
//! After a prefix a formula is *violated* if no infinite continuation satisfies it, *validated* if all do, and open
//! otherwise (Bauer, Leucker, Schallhart, *Runtime verification for LTL and TLTL*, 2011). For the formula and for its
//! negation a nondeterministic automaton is built whose states are sets of obligations (`tableau.rs`); states
//! from which no accepting run exists are cut away; then both are made deterministic together. The formula is violated
//! where no state of its own automaton is left, validated where none of the negation's is.
//!
//! Past operators are followed by a [`Past`] machine that runs along: to the automata they are atoms. Their operands
//! must not speak of the future.
//!
//! Cost: exponential in the formula at worst; past [`STATE_LIMIT`] states it is refused. A step is one lookup.

use std::rc::Rc;

use super::automaton::Automaton;
use super::ptltl::Past;
use super::tableau::{Sets, Tableau};
use super::temporal::{Alphabet, Temporal};
use super::{Categories, CompileError, Handled};

/// How many states any of the automata may have.
pub const STATE_LIMIT: usize = 4096;

/// More predicates than this make too many letters.
pub const ATOM_LIMIT: u32 = 8;

/// The automaton of a formula, with verdicts `violation`, `validation` and `?`.
pub fn compile(
    formula: &Temporal,
    alphabet: Alphabet,
    handled: Handled<'_>,
) -> Result<Automaton, CompileError> {
    if let Alphabet::Masks(atoms) = alphabet
        && atoms > ATOM_LIMIT
    {
        return Err(CompileError::TooManyAtoms { found: atoms as usize, limit: ATOM_LIMIT as usize });
    }
    let mut pasts = Vec::new();
    let future = extract_past(formula, &mut pasts);
    let past = Past::new(&pasts, alphabet)?;
    let holds = Tableau::new(&future, alphabet, &past)?;
    let fails = Tableau::new(&Temporal::not(future), alphabet, &past)?;
    let step = |(memory, holding, failing): &(u64, Sets, Sets), letter| {
        let (now, _) = past.read_roots(*memory, letter);
        (now, holds.after(*memory, holding, letter), fails.after(*memory, failing, letter))
    };
    let start = (0, holds.start(), fails.start());
    let (violation, validation, open) =
        (handled.bit("violation"), handled.bit("validation"), handled.bit("?"));
    let told = |(_, holding, failing): &(u64, Sets, Sets)| -> Categories {
        match (holding.is_empty(), failing.is_empty()) {
            (true, _) => violation,
            (_, true) => validation,
            _ => open,
        }
    };
    let automaton = Automaton::explore(alphabet.letters(), STATE_LIMIT, start, step, told);
    automaton.map(|automaton| automaton.minimised()).ok_or(too_big())
}

pub(super) fn too_big() -> CompileError {
    CompileError::TooBig { what: "this formula", limit: STATE_LIMIT, culprit: "temporal operators" }
}

/// Atoms from this number on stand for past subformulas.
pub(super) const FIRST_PAST: u32 = 1 << 16;

/// The formula with its past subformulas replaced by atoms.
fn extract_past(formula: &Temporal, pasts: &mut Vec<Rc<Temporal>>) -> Temporal {
    let mut go = |inner: &Temporal| Rc::new(extract_past(inner, pasts));
    match formula {
        Temporal::Const(_) | Temporal::Atom(_) => formula.clone(),
        Temporal::Not(inner) => Temporal::Not(go(inner)),
        Temporal::And(left, right) => Temporal::And(go(left), go(right)),
        Temporal::Or(left, right) => Temporal::Or(go(left), go(right)),
        Temporal::Next(inner) => Temporal::Next(go(inner)),
        Temporal::Until(left, right) => Temporal::Until(go(left), go(right)),
        Temporal::Release(left, right) => Temporal::Release(go(left), go(right)),
        Temporal::Previous(_) | Temporal::Since(..) => {
            let known = pasts.iter().position(|past| **past == *formula);
            let index = known.unwrap_or_else(|| {
                pasts.push(Rc::new(formula.clone()));
                pasts.len() - 1
            });
            Temporal::Atom(FIRST_PAST + index as u32)
        }
    }
}
