//! `ptltl` with bounds of time: `response -> <*>[<= 5s] request`.
//!
//! `p S[<= n] q` holds if q held at some event that is not longer ago than n, and p at all events since then. Of all such events the
//! latest decides, so its time is all that is remembered; for `p S[>= n] q` it is the earliest since which p holds (metric temporal
//! logic of the past, as in Havelund and Peled, *First-order timed runtime verification*, 2021). What holds is asked at events only: that time passes
//! is no event.
//!
//! Everything else is a [past formula](super::ptltl) in which each bounded operator is an atom that is decided from the inside out.
//!
//! Cost: a run over the subformulas for each bounded operator, and one number for each of them per instance.

use std::rc::Rc;

use smallvec::SmallVec;

use super::ptltl::Past;
use super::temporal::{Alphabet, Temporal};
use super::{Categories, CompileError, Handled, Letter, Moment, Monitor, Outlook};
use crate::predicate::Binding;

/// More bounded operators than this are refused.
pub const TIMED_LIMIT: usize = 16;

/// `left S[bound] right`; its atom is [`Temporal::decided`] of its position.
#[derive(Clone, Debug)]
pub struct TimedSince {
    /// How long ago.
    pub bound: Bound,
    /// What holds since then.
    pub left: Temporal,
    /// What held then.
    pub right: Temporal,
}

/// How long ago something may or must be, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Bound {
    AtMost(u64),
    LessThan(u64),
    AtLeast(u64),
    MoreThan(u64),
}

impl Bound {
    fn holds(self, ago: u64) -> bool {
        match self {
            Bound::AtMost(time) => ago <= time,
            Bound::LessThan(time) => ago < time,
            Bound::AtLeast(time) => ago >= time,
            Bound::MoreThan(time) => ago > time,
        }
    }

    /// Whether the latest event decides; otherwise the earliest.
    fn wants_latest(self) -> bool {
        matches!(self, Bound::AtMost(_) | Bound::LessThan(_))
    }
}

/// The monitor of a formula with bounds; see the [module](self).
#[derive(Clone, Debug)]
pub struct Timed {
    /// Of each bounded operator its two sides, and at last the formula.
    past: Past,
    bounds: Vec<Bound>,
    violation: Categories,
    validation: Categories,
    events: u32,
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimedState {
    word: u64,
    /// For each bounded operator, since when it could hold.
    since: SmallVec<[Option<u64>; 2]>,
    /// Whether the formula holds; nothing before the first event.
    holds: Option<bool>,
}

impl Timed {
    /// The monitor of `formula`, in which the operators `since` are atoms, each after those within it.
    pub fn compile(
        formula: Temporal,
        since: Vec<TimedSince>,
        events: u32,
        handled: Handled<'_>,
    ) -> Result<Timed, CompileError> {
        let found = since.len();
        if found > TIMED_LIMIT {
            return Err(CompileError::Meaning(format!(
                "the formula has {found} bounds of time; at most {TIMED_LIMIT} can be used together"
            )));
        }
        let bounds = since.iter().map(|since| since.bound).collect();
        let sides = since.into_iter().flat_map(|since| [since.left, since.right]);
        let formulas: Vec<Rc<Temporal>> = sides.chain([formula]).map(Rc::new).collect();
        let past = Past::new(&formulas, Alphabet::Events(events))?;
        let (violation, validation) = (handled.bit("violation"), handled.bit("validation"));
        Ok(Timed { past, bounds, violation, validation, events })
    }

    fn read(&self, state: &mut TimedState, letter: Letter, now: u64) {
        let mut decided = 0;
        for (nth, (bound, since)) in self.bounds.iter().zip(&mut state.since).enumerate() {
            let truth = self.past.read(state.word, letter, decided);
            let (left, right) = (self.past.root(truth, 2 * nth), self.past.root(truth, 2 * nth + 1));
            let before = since.filter(|_| left);
            let here = right.then_some(now);
            *since = if bound.wants_latest() { here.or(before) } else { before.or(here) };
            let holds = since.is_some_and(|since| bound.holds(now.saturating_sub(since)));
            decided |= u32::from(holds) << nth;
        }
        let truth = self.past.read(state.word, letter, decided);
        state.holds = Some(self.past.root(truth, 2 * self.bounds.len()));
        state.word = self.past.remembered(truth);
    }
}

impl Monitor for Timed {
    type State = TimedState;

    fn start(&self) -> TimedState {
        TimedState { word: 0, since: SmallVec::from_elem(None, self.bounds.len()), holds: None }
    }

    /// As if no time passed.
    fn step(&self, state: &mut TimedState, letter: Letter) {
        self.read(state, letter, 0);
    }

    fn react_at(
        &self,
        state: &mut TimedState,
        moment: Moment<'_>,
        _: Binding<'_>,
        resets: Categories,
        report: &mut impl FnMut(Categories),
    ) {
        self.read(state, moment.letter, moment.values.map_or(0, |values| values.time));
        let verdicts = self.verdicts(state);
        if !verdicts.is_empty() {
            report(verdicts);
            if verdicts.meets(resets) {
                *state = self.start();
            }
        }
    }

    fn verdicts(&self, state: &TimedState) -> Categories {
        match state.holds {
            None => Categories::NONE,
            Some(true) => self.validation,
            Some(false) => self.violation,
        }
    }

    fn outlook(&self) -> Outlook {
        Outlook::coarse(self.events, |_| true)
    }

    fn place(&self, _: &TimedState) -> u32 {
        1
    }
}
