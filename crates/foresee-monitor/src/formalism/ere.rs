//! `ere`: extended regular expressions over events.
//!
//! Compiled by derivatives (Brzozowski 1964): the derivative of an expression by an event is what must follow it, and
//! an expression's derivatives, taken up to simple laws (associativity, commutativity and idempotence of `|` and `&`, the
//! units of each operator), are the states of an automaton. Complement and intersection need nothing special. The
//! automaton is then minimised; `fail` is the verdict where no continuation matches. Complements of concatenations can need
//! exponentially many states: past [`STATE_LIMIT`] the expression is refused.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::automaton::Automaton;
use super::{CompileError, Handled};

/// How many derivatives an expression may have before it is refused.
pub const STATE_LIMIT: usize = 4096;

/// How many nodes of expressions are looked at for that. Derivatives of long expressions are long, too.
const WORK_LIMIT: usize = 10_000_000;

/// An extended regular expression; build it with its functions, which keep it simplified.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ere {
    /// Matches nothing.
    Empty,
    /// Matches the empty sequence.
    Epsilon,
    /// One event.
    Event(u32),
    /// One after the other; nested to the right.
    Concat(Rc<Ere>, Rc<Ere>),
    /// Any number of times.
    Star(Rc<Ere>),
    /// Once or more; not written out, as nested ones would double with each level.
    Plus(Rc<Ere>),
    /// Any of these.
    Or(BTreeSet<Rc<Ere>>),
    /// All of these.
    And(BTreeSet<Rc<Ere>>),
    /// Everything but this.
    Not(Rc<Ere>),
}

impl Ere {
    /// `first` and then `then`.
    pub fn concat(first: Ere, then: Ere) -> Ere {
        match (first, then) {
            (Ere::Empty, _) | (_, Ere::Empty) => Ere::Empty,
            (Ere::Epsilon, other) | (other, Ere::Epsilon) => other,
            (Ere::Concat(head, tail), then) => {
                Ere::Concat(head, Rc::new(Ere::concat(Rc::unwrap_or_clone(tail), then)))
            }
            (first, then) => Ere::Concat(Rc::new(first), Rc::new(then)),
        }
    }

    /// `inner` any number of times.
    pub fn star(inner: Ere) -> Ere {
        match inner {
            Ere::Empty | Ere::Epsilon => Ere::Epsilon,
            Ere::Star(_) => inner,
            Ere::Plus(inner) => Ere::Star(inner),
            inner => Ere::Star(Rc::new(inner)),
        }
    }

    /// `inner` at least once.
    pub fn plus(inner: Ere) -> Ere {
        match inner {
            Ere::Empty | Ere::Plus(_) => inner,
            inner if inner.nullable() => Ere::star(inner),
            inner => Ere::Plus(Rc::new(inner)),
        }
    }

    /// `inner` or nothing.
    pub fn optional(inner: Ere) -> Ere {
        Ere::or(inner, Ere::Epsilon)
    }

    /// Either.
    pub fn or(left: Ere, right: Ere) -> Ere {
        Ere::any([left, right])
    }

    /// Any of these.
    fn any(sides: impl IntoIterator<Item = Ere>) -> Ere {
        let mut parts = BTreeSet::new();
        for side in sides {
            match side {
                Ere::Or(more) => parts.extend(more),
                Ere::Empty => {}
                other => _ = parts.insert(Rc::new(other)),
            }
        }
        if parts.iter().any(|part| part.is_everything()) {
            return Ere::everything();
        }
        single(parts, Ere::Empty, Ere::Or)
    }

    /// Both.
    pub fn and(left: Ere, right: Ere) -> Ere {
        Ere::all([left, right])
    }

    /// All of these.
    fn all(sides: impl IntoIterator<Item = Ere>) -> Ere {
        let mut parts = BTreeSet::new();
        for side in sides {
            match side {
                Ere::And(more) => parts.extend(more),
                other if other.is_everything() => {}
                other => _ = parts.insert(Rc::new(other)),
            }
        }
        if parts.contains(&Ere::Empty) {
            return Ere::Empty;
        }
        single(parts, Ere::everything(), Ere::And)
    }

    /// Everything but `inner`.
    pub fn complement(inner: Ere) -> Ere {
        match inner {
            Ere::Not(inner) => Rc::unwrap_or_clone(inner),
            inner => Ere::Not(Rc::new(inner)),
        }
    }

    fn everything() -> Ere {
        Ere::Not(Rc::new(Ere::Empty))
    }

    fn is_everything(&self) -> bool {
        matches!(self, Ere::Not(inner) if **inner == Ere::Empty)
    }

    fn nullable(&self) -> bool {
        match self {
            Ere::Empty | Ere::Event(_) => false,
            Ere::Epsilon | Ere::Star(_) => true,
            Ere::Plus(inner) => inner.nullable(),
            Ere::Concat(head, tail) => head.nullable() && tail.nullable(),
            Ere::Or(parts) => parts.iter().any(|part| part.nullable()),
            Ere::And(parts) => parts.iter().all(|part| part.nullable()),
            Ere::Not(inner) => !inner.nullable(),
        }
    }

    fn derivative(&self, event: u32) -> Ere {
        match self {
            Ere::Empty | Ere::Epsilon => Ere::Empty,
            Ere::Event(this) => {
                if *this == event {
                    Ere::Epsilon
                } else {
                    Ere::Empty
                }
            }
            Ere::Concat(head, tail) => {
                let through = Ere::concat(head.derivative(event), (**tail).clone());
                if head.nullable() { Ere::or(through, tail.derivative(event)) } else { through }
            }
            Ere::Star(inner) => Ere::concat(inner.derivative(event), self.clone()),
            Ere::Plus(inner) => {
                Ere::concat(inner.derivative(event), Ere::star(Rc::unwrap_or_clone(Rc::clone(inner))))
            }
            Ere::Or(parts) => Ere::any(parts.iter().map(|part| part.derivative(event))),
            Ere::And(parts) => Ere::all(parts.iter().map(|part| part.derivative(event))),
            Ere::Not(inner) => Ere::complement(inner.derivative(event)),
        }
    }

    /// Takes its size, in nodes, from what is left; stops where nothing is.
    fn spend(&self, left: &mut usize) {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return;
        }
        match self {
            Ere::Empty | Ere::Epsilon | Ere::Event(_) => {}
            Ere::Star(inner) | Ere::Plus(inner) | Ere::Not(inner) => inner.spend(left),
            Ere::Concat(head, tail) => {
                head.spend(left);
                tail.spend(left);
            }
            Ere::Or(parts) | Ere::And(parts) => parts.iter().for_each(|part| part.spend(left)),
        }
    }

    /// The minimal automaton, with verdicts `match`, `fail` and `?`.
    pub fn compile(&self, events: u32, handled: Handled<'_>) -> Result<Automaton, CompileError> {
        let (matched, failed, open) = (handled.bit("match"), handled.bit("fail"), handled.bit("?"));
        // The verdict bits play the part of acceptance while exploring.
        let accepting = super::Categories(1);
        let verdicts = |state: &Ere| if state.nullable() { accepting } else { super::Categories::NONE };
        let mut left = WORK_LIMIT;
        let step = |state: &Ere, event| {
            state.spend(&mut left);
            if left == 0 { Ere::Empty } else { state.derivative(event) }
        };
        let automaton = Automaton::explore(events, STATE_LIMIT, self.clone(), step, verdicts);
        let automaton = automaton.filter(|_| left > 0).ok_or(CompileError::TooBig {
            what: "this regular expression",
            limit: STATE_LIMIT,
            culprit: "complements, intersections and repetitions",
        })?;
        let minimal = automaton.minimised();
        let accepts: Vec<bool> =
            (0..minimal.states() as u32).map(|state| minimal.verdicts_of(state) == accepting).collect();
        let can = minimal.can_reach(|state| accepts[state as usize]);
        Ok(minimal.with_verdicts(|state| match (accepts[state as usize], can[state as usize]) {
            (true, _) => matched,
            (false, true) => open,
            (false, false) => failed,
        }))
    }
}

fn single(mut parts: BTreeSet<Rc<Ere>>, none: Ere, many: impl Fn(BTreeSet<Rc<Ere>>) -> Ere) -> Ere {
    match parts.len() {
        0 => none,
        1 => parts.pop_first().map_or(none, Rc::unwrap_or_clone),
        _ => many(parts),
    }
}
