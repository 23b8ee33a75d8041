//! The semantics of MTTL, straight from the definition (Table 1 of the paper): every state is worked out from the causality of the whole computation.
//! It shares nothing with the algorithm but the syntax of formulas.

use std::collections::HashMap;

use foresee_monitor::mttl::{Expr, Formula, Function, Term, Who};
use foresee_monitor::operator::Binary;
use foresee_monitor::property::{MttlBody, Property};

use super::{Computation, Op};

/// A thread that the computation does not have.
const NOBODY: usize = usize::MAX;

/// A state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// No event of it is known.
    Unknown,
    /// Before its first event.
    First,
    /// After this event.
    After(usize),
}

pub(crate) type State = (usize, When);
type Bound = HashMap<u32, usize>;

pub(crate) struct Semantics<'a> {
    property: &'a Property,
    computation: &'a Computation,
    /// For each event, all that come before it or are it.
    cuts: Vec<Vec<bool>>,
}

impl<'a> Semantics<'a> {
    pub(crate) fn new(property: &'a Property, computation: &'a Computation) -> Semantics<'a> {
        let events = &computation.events;
        let mut cuts: Vec<Vec<bool>> = Vec::new();
        for (at, &(thread, op)) in events.iter().enumerate() {
            let mut cut = vec![false; events.len()];
            cut[at] = true;
            for (earlier, &(other, done)) in events[..at].iter().enumerate() {
                let touches = match (done, op) {
                    (
                        Op::Write(x, _) | Op::Update(x, _),
                        Op::Write(y, _) | Op::Update(y, _) | Op::Read(y),
                    )
                    | (Op::Read(x), Op::Write(y, _) | Op::Update(y, _)) => x == y,
                    (Op::Lock(x), Op::Lock(y)) => x == y,
                    _ => false,
                };
                if other == thread || touches || done == Op::Fork(thread) || op == Op::Join(other) {
                    (0..=earlier)
                        .filter(|&before| cuts[earlier][before])
                        .for_each(|before| cut[before] = true);
                }
            }
            cuts.push(cut);
        }
        Semantics { property, computation, cuts }
    }

    /// Whether the formula holds at this event; nothing if it is not of this event's thread.
    pub(crate) fn verdict(&self, body: &MttlBody, event: usize) -> Option<bool> {
        let thread = self.computation.events[event].0;
        let owner = &self.property.threads[body.mttl.owner as usize].who;
        let bound = HashMap::from([(0, thread)]);
        self.is_meant(owner, thread)
            .then(|| self.formula(&body.mttl.formula, (thread, When::After(event)), &bound))
    }

    /// Events before others, for reorderings.
    pub(crate) fn comes_before(&self, first: usize, second: usize) -> bool {
        first != second && self.cuts[second][first]
    }

    fn is_meant(&self, who: &Who, thread: usize) -> bool {
        thread != NOBODY && who.includes(&format!("t{}", thread + 1))
    }

    fn cut(&self, (thread, when): State) -> Vec<usize> {
        let of = |event: usize| (0..=event).filter(|&before| self.cuts[event][before]).collect();
        match when {
            When::Unknown => Vec::new(),
            When::After(event) => of(event),
            When::First => {
                let fork = self.computation.events.iter().position(|(_, op)| *op == Op::Fork(thread));
                fork.map_or(Vec::new(), of)
            }
        }
    }

    /// The latest state of a thread that is known in a state.
    pub(crate) fn at(&self, state: State, thread: usize) -> State {
        if state.0 == thread {
            return state;
        }
        let own = |event: &&usize| self.computation.events[**event].0 == thread;
        match self.cut(state).iter().rfind(own) {
            Some(event) => (thread, When::After(*event)),
            None => (thread, When::Unknown),
        }
    }

    /// All states up to this one, this one last.
    fn history(&self, state: State) -> Vec<State> {
        let (thread, When::After(last)) = state else { return vec![state] };
        let own = (0..=last).filter(|&event| self.computation.events[event].0 == thread);
        std::iter::once((thread, When::First)).chain(own.map(|event| (thread, When::After(event)))).collect()
    }

    fn domain(&self, state: State) -> Vec<usize> {
        let cut = self.cut(state);
        let is_known = |thread: &usize| {
            let forked_in_cut =
                cut.iter().any(|&event| self.computation.events[event].1 == Op::Fork(*thread));
            *thread == state.0 || !self.computation.is_forked(*thread) || forked_in_cut
        };
        (0..self.computation.threads).filter(is_known).collect()
    }

    fn thread(&self, term: Term, bound: &Bound) -> usize {
        match term {
            Term::Bound(number) => bound[&number],
            Term::Named(name) => {
                let who = &self.property.threads[name as usize].who;
                (0..self.computation.threads).find(|&thread| self.is_meant(who, thread)).unwrap_or(NOBODY)
            }
        }
    }

    pub(crate) fn variable(&self, variable: usize, state: State) -> i64 {
        let written = |&event: &usize| match self.computation.events[event].1 {
            Op::Write(x, value) | Op::Update(x, value) if x == variable => Some(value),
            _ => None,
        };
        let initial = self.property.vars[variable].initial.unwrap_or(0);
        self.cut(state).iter().rev().find_map(written).unwrap_or(initial)
    }

    fn local(&self, local: usize, state: State) -> i64 {
        let assigned = |&(_, when): &State| match when {
            When::After(event) => match self.computation.events[event].1 {
                Op::Local(l, value) if l == local => Some(value),
                _ => None,
            },
            _ => None,
        };
        self.history(state).iter().rev().find_map(assigned).unwrap_or(self.property.locals[local].initial)
    }

    pub(crate) fn formula(&self, formula: &Formula, state: State, bound: &Bound) -> bool {
        let holds = |inner: &Formula, state: State| self.formula(inner, state, bound);
        match formula {
            Formula::Const(value) => *value,
            Formula::Holds(value) => self.expr(value, state, bound).unwrap() != 0,
            Formula::Compare(operator, left, right) => {
                let (left, right) = (self.expr(left, state, bound), self.expr(right, state, bound));
                let (Some(left), Some(right)) = (left, right) else { return false };
                match operator {
                    Binary::Eq => left == right,
                    Binary::Ne => left != right,
                    Binary::Lt => left < right,
                    Binary::Le => left <= right,
                    Binary::Gt => left > right,
                    Binary::Ge => left >= right,
                    _ => panic!("not a comparison"),
                }
            }
            Formula::Read(x) => {
                let op = |event: usize| self.computation.events[event].1;
                matches!(state.1, When::After(event) if matches!(op(event), Op::Read(y) | Op::Update(y, _) if y == *x as usize))
            }
            Formula::Write(x) => {
                let op = |event: usize| self.computation.events[event].1;
                matches!(state.1, When::After(event) if matches!(op(event), Op::Write(y, _) | Op::Update(y, _) if y == *x as usize))
            }
            Formula::Not(inner) => !holds(inner, state),
            Formula::Join(operator, left, right) => {
                let (left, right) = (holds(left, state), holds(right, state));
                match operator {
                    Binary::And => left && right,
                    Binary::Or => left || right,
                    Binary::Implies => !left || right,
                    Binary::Iff => left == right,
                    _ => panic!("not a connective"),
                }
            }
            Formula::Previously(inner) => {
                let history = self.history(state);
                let before = history.len().checked_sub(2).map_or(state, |before| history[before]);
                holds(inner, before)
            }
            Formula::Once(inner) => self.history(state).iter().any(|state| holds(inner, *state)),
            Formula::Historically(inner) => self.history(state).iter().all(|state| holds(inner, *state)),
            Formula::Since(left, right) => {
                let history = self.history(state);
                (0..history.len()).any(|at| {
                    holds(right, history[at]) && history[at + 1..].iter().all(|later| holds(left, *later))
                })
            }
            Formula::Interval(from, to) => {
                let history = self.history(state);
                (0..history.len()).any(|at| {
                    holds(from, history[at]) && !history[at..].iter().any(|later| holds(to, *later))
                })
            }
            Formula::At(term, inner) => holds(inner, self.at(state, self.thread(*term, bound))),
            Formula::Quantified(quantifier, inner) => {
                let except = quantifier.except.map(|term| self.thread(term, bound));
                let who = &self.property.threads[quantifier.among as usize].who;
                let with = |thread: usize| {
                    let mut bound = bound.clone();
                    bound.insert(quantifier.binds, thread);
                    self.formula(inner, state, &bound)
                };
                let mut domain = self.domain(state).into_iter();
                let mut meant =
                    domain.by_ref().filter(|thread| Some(*thread) != except && self.is_meant(who, *thread));
                if quantifier.all { meant.all(with) } else { meant.any(with) }
            }
        }
    }

    pub(crate) fn expr(&self, expr: &Expr, state: State, bound: &Bound) -> Option<i64> {
        let value = |inner: &Expr| self.expr(inner, state, bound);
        match expr {
            Expr::Number(number) => Some(*number),
            Expr::Local(local) => Some(self.local(*local as usize, state)),
            Expr::Var(variable) => Some(self.variable(*variable as usize, state)),
            Expr::Minus(inner) => Some(-value(inner)?),
            Expr::Arithmetic(operator, left, right) => {
                let (left, right) = (value(left)?, value(right)?);
                match operator {
                    Binary::Add => Some(left + right),
                    Binary::Sub => Some(left - right),
                    Binary::Mul => Some(left * right),
                    Binary::Div => left.checked_div(right),
                    Binary::Rem => left.checked_rem(right),
                    _ => panic!("not arithmetic"),
                }
            }
            Expr::Function(function, inside) => {
                let values: Option<Vec<i64>> = inside.iter().map(value).collect();
                Some(match (function, &values?[..]) {
                    (Function::Abs, [one]) => one.abs(),
                    (Function::Min, [one, other]) => *one.min(other),
                    (Function::Max, [one, other]) => *one.max(other),
                    _ => panic!("wrong arguments"),
                })
            }
            Expr::At(term, inner) => self.expr(inner, self.at(state, self.thread(*term, bound)), bound),
        }
    }
}
