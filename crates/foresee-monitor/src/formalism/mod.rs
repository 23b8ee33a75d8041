//! Formalisms: the languages a property's body is written in, and what they compile to.
//!
//! Every formalism is one file that turns its syntax tree into a [`Monitor`]: a start state, a step, and the verdicts of
//! a state. Monitors know nothing of parameters (the [`slice`](crate::slice) module runs one copy per binding), of
//! threads or of files. Their states are plain values that can be cloned, compared and hashed, so that the explorer of
//! the computation lattice can keep sets of them.
//!
//! A *letter* is what a monitor reads at one event: the index of the event for bodies over events alone, or the set of
//! true atoms as a bit mask for bodies that also speak of variables. *Categories* are what a body can say about the
//! events so far (`match`, `fail`, `violation`, the name of a state); only those that have a handler get a bit in
//! [`Categories`].
//!
//! To add a formalism: one file here that builds a monitor, one variant of [`Machine`](crate::property::Machine), and
//! its body's grammar in [`spec`](crate::spec).

pub mod automaton;
pub mod cfg;
pub mod ere;
pub mod fsm;
pub mod ltl;
pub mod ptltl;
pub mod raw;
pub mod srs;
pub mod suffix;
mod tableau;
pub mod temporal;
pub mod timed;

use std::fmt::Debug;
use std::hash::Hash;

use thiserror::Error;

use crate::predicate::{Binding, Values};

/// What a monitor reads at one event; see the [module](self).
pub type Letter = u32;

/// An event as monitors read it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The event's position among those of the property; the assignment to a variable is behind them.
    pub event: u32,
    /// What monitors read.
    pub letter: Letter,
    /// What monitors that remember values read besides.
    pub values: Option<&'a Values<'a>>,
}

impl Moment<'_> {
    /// An event and its letter, without values.
    #[inline]
    pub fn plain(event: u32, letter: Letter) -> Moment<'static> {
        Moment { event, letter, values: None }
    }
}

/// A set of handled categories of a body, as bits: bit `i` is the `i`-th category the body has a handler for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Categories(pub u64);

impl Categories {
    /// No category.
    pub const NONE: Categories = Categories(0);

    /// The category with this index alone.
    pub fn only(index: usize) -> Categories {
        Categories(1u64.checked_shl(index as u32).unwrap_or(0))
    }

    /// Whether the two have a category in common.
    #[inline]
    pub fn meets(self, other: Categories) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no category in it.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The categories of both.
    pub fn union(self, other: Categories) -> Categories {
        Categories(self.0 | other.0)
    }

    /// The indices of the categories, smallest first.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |index| self.0 >> index & 1 == 1)
    }
}

/// The categories that have a handler, by name; the position of a name is its bit in [`Categories`].
#[derive(Clone, Copy, Debug)]
pub struct Handled<'a>(pub &'a [String]);

impl Handled<'_> {
    /// The bit of this category, or nothing if no handler wants it.
    pub fn bit(self, category: &str) -> Categories {
        self.0.iter().position(|name| name == category).map_or(Categories::NONE, Categories::only)
    }
}

/// What a body compiles to.
pub trait Monitor: Debug {
    /// What the monitor remembers of the events so far.
    type State: Clone + Eq + Hash + Debug;

    /// The state before any event.
    fn start(&self) -> Self::State;

    /// Reads one letter.
    fn step(&self, state: &mut Self::State, letter: Letter);

    /// The verdicts after the events so far.
    fn verdicts(&self, state: &Self::State) -> Categories;

    /// What can still come of monitors like this one; see [`Outlook`].
    fn outlook(&self) -> Outlook;

    /// The node of the [`Outlook`] that this state belongs to.
    fn place(&self, state: &Self::State) -> u32;

    /// Whether `reaches` holds at a place of this state. A monitor that is in several places at once overrides it.
    #[inline]
    fn any_place(&self, state: &Self::State, reaches: impl Fn(u32) -> bool) -> bool {
        reaches(self.place(state))
    }

    /// Reads one letter, reports the verdicts, and starts again after one that resets. A monitor that holds several
    /// copies overrides it, since each copy reports and resets for itself.
    #[inline]
    fn react(
        &self,
        state: &mut Self::State,
        letter: Letter,
        resets: Categories,
        report: &mut impl FnMut(Categories),
    ) {
        self.step(state, letter);
        let verdicts = self.verdicts(state);
        if !verdicts.is_empty() {
            report(verdicts);
            if verdicts.meets(resets) {
                *state = self.start();
            }
        }
    }

    /// The same, with what the event carries and what the instance is bound to, for monitors that remember values.
    #[inline]
    fn react_at(
        &self,
        state: &mut Self::State,
        moment: Moment<'_>,
        _binding: Binding<'_>,
        resets: Categories,
        report: &mut impl FnMut(Categories),
    ) {
        self.react(state, moment.letter, resets, report);
    }

    /// Whether equal copies of a `suffix` monitor count as one. Copies of automata do not: each suffix that matches is
    /// reported (what RV-Monitor's users see); parsers merge, because their copies are expensive.
    fn merges_suffixes(&self) -> bool {
        false
    }
}

/// The graph of what a monitor can still do, as far as it is known in advance: for an automaton its own transitions, for
/// a machine with unbounded states a coarse picture that errs on the side of "everything may still happen".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Where a monitor starts.
    pub start: u32,
    /// Per place, what an event can lead to: `(event, place, verdicts there)`.
    pub edges: Vec<Vec<(u32, u32, Categories)>>,
}

impl Outlook {
    /// The coarse picture of a machine that can go on with any of `events` events after beginning with one of
    /// `beginnings`: place 0 is the start, 1 anything, 2 a dead end.
    pub fn coarse(events: u32, beginnings: impl Fn(u32) -> bool) -> Outlook {
        let all = Categories(u64::MAX);
        let anything = |event| (event, 1, all);
        let begin = |event| if beginnings(event) { anything(event) } else { (event, 2, Categories::NONE) };
        let edges = vec![(0..events).map(begin).collect(), (0..events).map(anything).collect(), Vec::new()];
        Outlook { start: 0, edges }
    }
}

/// Why a body could not be turned into a monitor.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CompileError {
    /// The automaton would be too big.
    #[error("{what} needs more than {limit} states; write it with fewer nested {culprit}")]
    TooBig {
        /// What was being built.
        what: &'static str,
        /// How many states are allowed.
        limit: usize,
        /// What makes it so big.
        culprit: &'static str,
    },
    /// Too many variables' predicates in one formula.
    #[error(
        "the formula has {found} atoms; at most {limit} can be used together with predicates over variables"
    )]
    TooManyAtoms {
        /// How many there are.
        found: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// Something the formalism does not allow.
    #[error("{0}")]
    Meaning(String),
}
