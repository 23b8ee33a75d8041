//! `ptltl`: past time linear temporal logic.
//!
//! Whether a past formula holds now follows from the letter and from which of its subformulas held at the previous
//! event (Havelund and Roşu, *Synthesizing monitors for safety properties*, TACAS 2002). The state is one machine word
//! with a bit for each remembered subformula; a step runs over the subformulas once, smallest first, so it costs a few
//! instructions per operator whatever the length of the trace. [`Past::compile`] turns the reachable words into an
//! automaton where there are few of them, and then a step is one lookup.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::automaton::Automaton;
use super::temporal::{Alphabet, FIRST_GUESS, Temporal};
use super::{Categories, CompileError, Handled, Letter, Monitor, Outlook};

/// Automata up to this size are used instead of words.
const AUTOMATON_LIMIT: usize = 1024;

#[derive(Clone, Copy, Debug)]
enum Step {
    Const(bool),
    Atom(u32),
    /// An atom that is guessed.
    Guess(u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Previous(u32),
    Since(u32, u32),
}

/// A monitor of past formulas; see the [module](self). Atoms read letters of an [`Alphabet`].
#[derive(Clone, Debug)]
pub struct Past {
    alphabet: Alphabet,
    steps: Vec<Step>,
    remembered: u64,
    roots: Vec<u32>,
    violation: Categories,
    validation: Categories,
    start: u64,
}

impl Past {
    /// The machine that follows all of these past formulas at once.
    pub fn new(formulas: &[Rc<Temporal>], alphabet: Alphabet) -> Result<Past, CompileError> {
        let mut builder = Builder { steps: Vec::new(), known: FxHashMap::default(), remembered: 0 };
        let roots = formulas.iter().map(|formula| builder.add(formula)).collect::<Result<_, _>>()?;
        let Builder { steps, remembered, .. } = builder;
        let (violation, validation) = (Categories::NONE, Categories::NONE);
        Ok(Past { alphabet, steps, remembered, roots, violation, validation, start: 0 })
    }

    /// The monitor of one formula: an automaton if it is small, else words.
    pub fn compile(
        formula: Rc<Temporal>,
        alphabet: Alphabet,
        handled: Handled<'_>,
    ) -> Result<(Past, Option<Automaton>), CompileError> {
        let mut past = Past::new(&[formula], alphabet)?;
        (past.violation, past.validation) = (handled.bit("violation"), handled.bit("validation"));
        // Remember the verdict too, for `verdicts`.
        past.remembered |= 1 << past.roots[0] | BEGUN;
        let automaton = past.automaton();
        Ok((past, automaton))
    }

    /// The automaton of the reachable words from the start, if there are few.
    pub fn automaton(&self) -> Option<Automaton> {
        let small = self.alphabet.letters() <= 256;
        let step = |&word: &u64, letter| self.after(word, letter);
        let automaton = small.then(|| {
            Automaton::explore(self.alphabet.letters(), AUTOMATON_LIMIT, self.start, step, |s| {
                self.verdicts(s)
            })
        });
        automaton.flatten().map(|automaton| automaton.minimised())
    }

    /// The same monitor after it has read a first letter: the initial state of the program's variables.
    #[must_use]
    pub fn primed(&self, letter: Letter) -> Past {
        Past { start: self.after(self.start, letter), ..self.clone() }
    }

    /// What is remembered after this letter.
    #[inline]
    pub fn after(&self, before: u64, letter: Letter) -> u64 {
        self.read(before, letter, 0) & self.remembered
    }

    /// What is remembered of the subformulas' truth.
    pub(super) fn remembered(&self, truth: u64) -> u64 {
        truth & self.remembered
    }

    /// Whether the formula at this position holds, by the subformulas' truth.
    pub(super) fn root(&self, truth: u64, position: usize) -> bool {
        self.roots.get(position).is_some_and(|root| truth >> root & 1 == 1)
    }

    /// All subformulas' truth at this letter; `guess` are the atoms that are decided elsewhere.
    #[inline]
    pub(super) fn read(&self, before: u64, letter: Letter, guess: u32) -> u64 {
        let mut now = BEGUN;
        for (index, step) in self.steps.iter().enumerate() {
            let value = match *step {
                Step::Const(value) => u64::from(value),
                Step::Atom(atom) => u64::from(self.alphabet.holds(letter, atom)),
                Step::Guess(bit) => u64::from(guess >> bit & 1),
                Step::Not(inner) => !(now >> inner) & 1,
                Step::And(left, right) => (now >> left) & (now >> right) & 1,
                Step::Or(left, right) => ((now >> left) | (now >> right)) & 1,
                Step::Previous(inner) => (before >> inner) & 1,
                Step::Since(left, right) => ((now >> right) | ((now >> left) & (before >> index))) & 1,
            };
            now |= value << index;
        }
        now
    }

    /// What is remembered after this letter, and whether each formula, by its position, holds at it; `guess` are the guessed atoms
    /// of [`ltl`](super::ltl).
    pub fn read_roots(&self, before: u64, letter: Letter, guess: u32) -> (u64, Vec<bool>) {
        let now = self.read(before, letter, guess);
        (now & self.remembered, self.roots.iter().map(|root| now >> root & 1 == 1).collect())
    }
}

/// Set in every word after the first letter.
const BEGUN: u64 = 1 << 63;

struct Builder {
    steps: Vec<Step>,
    known: FxHashMap<Temporal, u32>,
    remembered: u64,
}

impl Builder {
    fn add(&mut self, formula: &Temporal) -> Result<u32, CompileError> {
        if let Some(known) = self.known.get(formula) {
            return Ok(*known);
        }
        let step = match formula {
            Temporal::Const(value) => Step::Const(*value),
            Temporal::Atom(atom) => match atom.checked_sub(FIRST_GUESS) {
                Some(bit) => Step::Guess(bit),
                None => Step::Atom(*atom),
            },
            Temporal::Not(inner) => Step::Not(self.add(inner)?),
            Temporal::And(left, right) => Step::And(self.add(left)?, self.add(right)?),
            Temporal::Or(left, right) => Step::Or(self.add(left)?, self.add(right)?),
            Temporal::Previous(inner) => {
                let inner = self.add(inner)?;
                self.remembered |= 1 << inner;
                Step::Previous(inner)
            }
            Temporal::Since(left, right) => Step::Since(self.add(left)?, self.add(right)?),
            Temporal::Next(_) | Temporal::Until(..) | Temporal::Release(..) => {
                let message = "an operator about later events cannot be used here: `ptltl` speaks of the past; `ltl` mixes \
                               both";
                return Err(CompileError::Meaning(message.to_owned()));
            }
        };
        let index = self.steps.len() as u32;
        if index >= 63 {
            let culprit = "past operators";
            return Err(CompileError::TooBig { what: "this past formula", limit: 63, culprit });
        }
        if matches!(step, Step::Since(..)) {
            self.remembered |= 1 << index;
        }
        self.steps.push(step);
        self.known.insert(formula.clone(), index);
        Ok(index)
    }
}

impl Monitor for Past {
    type State = u64;

    fn start(&self) -> u64 {
        self.start
    }

    fn step(&self, state: &mut u64, letter: Letter) {
        *state = self.after(*state, letter);
    }

    fn verdicts(&self, state: &u64) -> Categories {
        match (state & BEGUN != 0, self.roots.first().is_some_and(|root| state >> root & 1 == 1)) {
            (false, _) => Categories::NONE,
            (true, true) => self.validation,
            (true, false) => self.violation,
        }
    }

    fn outlook(&self) -> Outlook {
        Outlook::coarse(self.alphabet.letters().min(64), |_| true)
    }

    fn place(&self, _: &u64) -> u32 {
        1
    }
}
