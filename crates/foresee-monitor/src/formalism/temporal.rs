//! Temporal formulas over atoms, shared by `ltl` and `ptltl`, and the letters they read.

use std::rc::Rc;

use super::Letter;

/// How letters make atoms true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// A letter is an event, and the atom with its number is the one that is true.
    Events(u32),
    /// A letter is the set of true atoms, as bits.
    Masks(u32),
}

impl Alphabet {
    /// How many letters there are.
    pub fn letters(self) -> u32 {
        match self {
            Alphabet::Events(events) => events,
            Alphabet::Masks(atoms) => 1 << atoms,
        }
    }

    /// Whether the atom is true at this letter.
    #[inline]
    pub fn holds(self, letter: Letter, atom: u32) -> bool {
        match self {
            Alphabet::Events(_) => letter == atom,
            Alphabet::Masks(_) => letter >> atom & 1 == 1,
        }
    }
}

/// A temporal formula; derived operators are built by functions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Temporal {
    Const(bool),
    Atom(u32),
    Not(Rc<Temporal>),
    And(Rc<Temporal>, Rc<Temporal>),
    Or(Rc<Temporal>, Rc<Temporal>),
    /// At the next event.
    Next(Rc<Temporal>),
    /// The second comes, and until then the first holds.
    Until(Rc<Temporal>, Rc<Temporal>),
    /// The second holds up to and including when the first does, or for ever.
    Release(Rc<Temporal>, Rc<Temporal>),
    /// At the previous event; false at the first.
    Previous(Rc<Temporal>),
    /// The second held, and since then the first does.
    Since(Rc<Temporal>, Rc<Temporal>),
}

/// Atoms from this number on stand for past subformulas, in formulas that `ltl` has taken apart.
pub(super) const FIRST_PAST: u32 = 1 << 16;

/// Atoms from this number on are guessed.
pub(super) const FIRST_GUESS: u32 = 1 << 17;

type Two = fn(Rc<Temporal>, Rc<Temporal>) -> Temporal;

impl Temporal {
    fn two(make: Two, left: Temporal, right: Temporal) -> Temporal {
        make(Rc::new(left), Rc::new(right))
    }

    /// What is decided elsewhere, by its number; see [`timed`](super::timed).
    pub fn decided(number: u32) -> Temporal {
        Temporal::Atom(FIRST_GUESS + number)
    }

    /// Not `inner`.
    #[allow(clippy::should_implement_trait)]
    pub fn not(inner: Temporal) -> Temporal {
        Temporal::Not(Rc::new(inner))
    }

    /// Both.
    pub fn and(left: Temporal, right: Temporal) -> Temporal {
        Temporal::two(Temporal::And, left, right)
    }

    /// Either.
    pub fn or(left: Temporal, right: Temporal) -> Temporal {
        Temporal::two(Temporal::Or, left, right)
    }

    /// If the first, then the second.
    pub fn implies(left: Temporal, right: Temporal) -> Temporal {
        Temporal::or(Temporal::not(left), right)
    }

    /// Both or neither.
    pub fn iff(left: Temporal, right: Temporal) -> Temporal {
        let back = Temporal::implies(right.clone(), left.clone());
        Temporal::and(Temporal::implies(left, right), back)
    }

    /// At the next event.
    pub fn next(inner: Temporal) -> Temporal {
        Temporal::Next(Rc::new(inner))
    }

    /// `left U right`.
    pub fn until(left: Temporal, right: Temporal) -> Temporal {
        Temporal::two(Temporal::Until, left, right)
    }

    /// `left R right`.
    pub fn release(left: Temporal, right: Temporal) -> Temporal {
        Temporal::two(Temporal::Release, left, right)
    }

    /// `left W right`: until, or for ever.
    pub fn weak_until(left: Temporal, right: Temporal) -> Temporal {
        Temporal::release(right.clone(), Temporal::or(left, right))
    }

    /// From now on.
    pub fn always(inner: Temporal) -> Temporal {
        Temporal::release(Temporal::Const(false), inner)
    }

    /// Now or later.
    pub fn eventually(inner: Temporal) -> Temporal {
        Temporal::until(Temporal::Const(true), inner)
    }

    /// At the previous event.
    pub fn previous(inner: Temporal) -> Temporal {
        Temporal::Previous(Rc::new(inner))
    }

    /// `left S right`.
    pub fn since(left: Temporal, right: Temporal) -> Temporal {
        Temporal::two(Temporal::Since, left, right)
    }

    /// Now or before.
    pub fn once(inner: Temporal) -> Temporal {
        Temporal::since(Temporal::Const(true), inner)
    }

    /// At all events so far.
    pub fn historically(inner: Temporal) -> Temporal {
        Temporal::not(Temporal::once(Temporal::not(inner)))
    }

    /// True now, and there was a previous event at which it was false.
    pub fn start(inner: Temporal) -> Temporal {
        Temporal::and(inner.clone(), Temporal::previous(Temporal::not(inner)))
    }

    /// False now, and true at the previous event.
    pub fn stop(inner: Temporal) -> Temporal {
        Temporal::and(Temporal::not(inner.clone()), Temporal::previous(inner))
    }

    /// `[from, to)`: `from` held at some point, and `to` has not held since, that point included.
    pub fn interval(from: Temporal, to: Temporal) -> Temporal {
        let outside = Temporal::not(to);
        Temporal::since(outside.clone(), Temporal::and(from, outside))
    }
}
