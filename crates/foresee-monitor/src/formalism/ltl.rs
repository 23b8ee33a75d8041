//! `ltl`: linear temporal logic over the events so far, with three verdicts.
//!
//! After a prefix a formula is *violated* if no infinite continuation satisfies it, *validated* if all do, and open
//! otherwise (Bauer, Leucker, Schallhart, *Runtime verification for LTL and TLTL*, 2011). For the formula and for its
//! negation a nondeterministic automaton is built whose states are sets of obligations (`tableau.rs`); states
//! from which no accepting run exists are cut away; then both are made deterministic together. The formula is violated
//! where no state of its own automaton is left, validated where none of the negation's is. Both are for ever, and are told once.
//!
//! Past operators are followed by a [`Past`] machine that runs along: to the automata they are atoms. Where the operand of a past
//! operator itself speaks of the future (`<*>(a and <> b)`), that part `f` is replaced by an atom `p` that nobody can see and the
//! automata *guess* at every event, together with the obligation `[](p <-> f)`: only the guess that is right can be met for ever, so
//! the formula, and its negation too, holds if some guess meets all.
//!
//! Cost: exponential in the formula at worst; past [`STATE_LIMIT`] states it is refused. A step is one lookup.

use std::rc::Rc;

use super::automaton::Automaton;
use super::ptltl::Past;
use super::tableau::{Nodes, Tableau, too_big};
use super::temporal::{Alphabet, FIRST_GUESS, FIRST_PAST, Temporal};
use super::{Categories, CompileError, Handled};

pub use super::tableau::STATE_LIMIT;

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
    let mut extracted = Extracted::default();
    let future = extracted.future(formula);
    if extracted.guesses.len() > GUESS_LIMIT {
        return Err(CompileError::TooBig { what: "this formula", limit: GUESS_LIMIT, culprit: CULPRIT });
    }
    let past = Past::new(&extracted.pasts, alphabet)?;
    let guesses = extracted.guesses.len() as u32;
    let with_guesses = |formula: Temporal| extracted.guesses.iter().cloned().fold(formula, Temporal::and);
    let holds = Tableau::new(&with_guesses(future.clone()), alphabet, &past, guesses)?;
    let fails = Tableau::new(&with_guesses(Temporal::not(future)), alphabet, &past, guesses)?;
    let step = |(holding, failing, telling): &(Nodes, Nodes, Telling), letter| {
        let is_decided = holding.is_empty() || failing.is_empty();
        (holds.after(holding, letter), fails.after(failing, letter), telling.next(is_decided))
    };
    let start = (holds.start(), fails.start(), Telling::of(alphabet));
    let (violation, validation, open) =
        (handled.bit("violation"), handled.bit("validation"), handled.bit("?"));
    let verdicts = |(holding, failing, telling): &(Nodes, Nodes, Telling)| -> Categories {
        match (holding.is_empty(), failing.is_empty()) {
            _ if *telling == Telling::Told => Categories::NONE,
            (true, _) => violation,
            (_, true) => validation,
            _ => open,
        }
    };
    let automaton = Automaton::explore(alphabet.letters(), STATE_LIMIT, start, step, verdicts);
    automaton.map(|automaton| automaton.minimised()).ok_or(too_big())
}

/// What was told of a verdict that is for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Telling {
    /// The first letter is what variables are before the first event.
    BeforeVariables,
    /// The first event is to come.
    BeforeEvents,
    /// Whoever listens has heard the verdict of this state.
    Heard,
    /// It has become for ever before.
    Told,
}

impl Telling {
    fn of(alphabet: Alphabet) -> Telling {
        match alphabet {
            Alphabet::Masks(_) => Telling::BeforeVariables,
            Alphabet::Events(_) => Telling::BeforeEvents,
        }
    }

    fn next(self, is_decided: bool) -> Telling {
        match self {
            Telling::BeforeVariables => Telling::BeforeEvents,
            Telling::Heard if is_decided => Telling::Told,
            Telling::BeforeEvents | Telling::Heard => Telling::Heard,
            Telling::Told => Telling::Told,
        }
    }
}

/// More guesses than this make too many letters.
const GUESS_LIMIT: usize = 6;

const CULPRIT: &str = "future operators inside past ones";

/// A formula taken apart.
#[derive(Default)]
struct Extracted {
    /// What past atoms stand for.
    pasts: Vec<Rc<Temporal>>,
    /// What guessed atoms stand for.
    guessed: Vec<Temporal>,
    /// That the guesses are right.
    guesses: Vec<Temporal>,
}

impl Extracted {
    /// The formula with its past subformulas replaced by atoms.
    fn future(&mut self, formula: &Temporal) -> Temporal {
        let mut go = |inner: &Temporal| Rc::new(self.future(inner));
        match formula {
            Temporal::Const(_) | Temporal::Atom(_) => formula.clone(),
            Temporal::Not(inner) => Temporal::Not(go(inner)),
            Temporal::And(left, right) => Temporal::And(go(left), go(right)),
            Temporal::Or(left, right) => Temporal::Or(go(left), go(right)),
            Temporal::Next(inner) => Temporal::Next(go(inner)),
            Temporal::Until(left, right) => Temporal::Until(go(left), go(right)),
            Temporal::Release(left, right) => Temporal::Release(go(left), go(right)),
            Temporal::Previous(_) | Temporal::Since(..) => {
                let past = self.past(formula);
                let known = self.pasts.iter().position(|known| **known == past);
                let index = known.unwrap_or_else(|| {
                    self.pasts.push(Rc::new(past));
                    self.pasts.len() - 1
                });
                Temporal::Atom(FIRST_PAST + index as u32)
            }
        }
    }

    /// The formula with its future subformulas replaced by guessed atoms.
    fn past(&mut self, formula: &Temporal) -> Temporal {
        let mut go = |inner: &Temporal| Rc::new(self.past(inner));
        match formula {
            Temporal::Const(_) | Temporal::Atom(_) => formula.clone(),
            Temporal::Not(inner) => Temporal::Not(go(inner)),
            Temporal::And(left, right) => Temporal::And(go(left), go(right)),
            Temporal::Or(left, right) => Temporal::Or(go(left), go(right)),
            Temporal::Previous(inner) => Temporal::Previous(go(inner)),
            Temporal::Since(left, right) => Temporal::Since(go(left), go(right)),
            Temporal::Next(_) | Temporal::Until(..) | Temporal::Release(..) => {
                let known = self.guessed.iter().position(|known| known == formula);
                let index = known.unwrap_or_else(|| {
                    // Smaller ones first: what is inside has a number before this one gets its own.
                    let future = self.future(formula);
                    let atom = Temporal::Atom(FIRST_GUESS + self.guessed.len() as u32);
                    self.guessed.push(formula.clone());
                    self.guesses.push(Temporal::always(Temporal::iff(atom, future)));
                    self.guessed.len() - 1
                });
                Temporal::Atom(FIRST_GUESS + index as u32)
            }
        }
    }
}
