//! Linearizability: is there an order of the operations, each between its call and its return, that the specification allows?
//!
//! [`check`] splits a history into independent parts ([`Specification::keys`]), decides each by a near-linear procedure where there is one
//! (`distinct/`), and searches otherwise (`search`), unless some value cannot have been there (`supply`). [`explain`] tells of a history that
//! has no linearization where it fails and which operations are to blame. [`check_sequential`] asks for sequential consistency instead, which
//! only keeps each client's order.
//!
//! An operation without a return may have taken effect, at any time after its call and with any result, or not.

mod budget;
mod distinct;
mod explain;
mod input;
mod minimal;
mod partition;
mod search;
mod sequential;
mod settled;
mod states;
mod supply;

pub use budget::{Exhausted, Limits};
pub use explain::{Explanation, explain};
pub use sequential::check_sequential;

use budget::Budget;
use distinct::Answer;
use input::Input;
use search::Found;

use crate::history::History;
use crate::spec::{Specification, WrongCall};

/// What a check says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a linearization.
    Linearizable {
        /// It: the operations that take effect, by their place in the history. `None` if it was not needed to know that there is one.
        order: Option<Vec<usize>>,
    },
    /// There is none.
    Violation(Violation),
    /// It could not be decided with what was given.
    Undecided(Exhausted),
}

impl Verdict {
    /// Whether there is a linearization; `None` if that is not known.
    pub fn is_linearizable(&self) -> Option<bool> {
        match self {
            Verdict::Linearizable { .. } => Some(true),
            Verdict::Violation(_) => Some(false),
            Verdict::Undecided(_) => None,
        }
    }
}

/// That there is no linearization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A return until which all can be explained, if one is known: not with it, given the results that operations under way have
    /// later. [`explain`] finds the first that cannot be explained whatever comes later.
    pub stuck: Option<u32>,
    /// Operations that have no order, if they are known, and why.
    pub cause: Option<(Vec<usize>, &'static str)>,
}

/// Decides whether a history is linearizable.
pub fn check<S: Specification>(spec: &S, history: &History, limits: Limits) -> Result<Verdict, WrongCall> {
    Ok(decide(&Input::new(spec, history)?, &mut Budget::new(limits), Method::Fastest))
}

/// The same by searching only, which also gives the order.
pub fn check_by_search<S: Specification>(
    spec: &S,
    history: &History,
    limits: Limits,
) -> Result<Verdict, WrongCall> {
    Ok(decide(&Input::new(spec, history)?, &mut Budget::new(limits), Method::Search))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Fastest,
    Search,
}

fn decide<S: Specification>(input: &Input<'_, S>, budget: &mut Budget, method: Method) -> Verdict {
    let mut violation: Option<Violation> = None;
    let mut undecided = None;
    let mut orders: Option<Vec<Vec<usize>>> = Some(Vec::new());
    for part in partition::partition(input) {
        let answer = match method {
            Method::Fastest => without_search(input, &part),
            Method::Search => Answer::Unknown,
        };
        let found = match answer {
            Answer::Linearizable => {
                orders = None;
                continue;
            }
            Answer::Not { ops, why } => Violation { stuck: None, cause: Some((ops, why)) },
            Answer::Unknown => match search::search(input, &part, budget) {
                Ok(Found::Order(order)) => {
                    if let Some(orders) = &mut orders {
                        orders.push(order);
                    }
                    continue;
                }
                Ok(Found::Stuck { at }) => Violation { stuck: Some(at), cause: None },
                Err(exhausted) => {
                    undecided = Some(exhausted);
                    continue;
                }
            },
        };
        // Of several parts the one that fails first counts, if that is known.
        if violation.as_ref().is_none_or(|known| found.stuck < known.stuck) {
            violation = Some(found);
        }
    }
    match (violation, undecided) {
        (Some(violation), _) => Verdict::Violation(violation),
        (None, Some(exhausted)) => Verdict::Undecided(exhausted),
        (None, None) => Verdict::Linearizable { order: orders.map(|orders| merged(input, orders)) },
    }
}

/// What can be said of these operations without trying orders.
fn without_search<S: Specification>(input: &Input<'_, S>, ops: &[usize]) -> Answer {
    match distinct::decide(input, ops) {
        Answer::Unknown => match supply::unsupplied(input, ops) {
            Some((ops, why)) => Answer::Not { ops, why },
            None => Answer::Unknown,
        },
        answer => answer,
    }
}

/// One order of all operations from those of independent parts. Each operation takes effect as early as its call and the order of its part
/// allow, which is before its return: so what returned before another was called comes before it, across parts as well.
fn merged<S: Specification>(input: &Input<'_, S>, orders: Vec<Vec<usize>>) -> Vec<usize> {
    let mut moments: Vec<(u32, usize)> = Vec::new();
    for order in orders {
        let mut now = 0;
        for op in order {
            now = input.call(op).max(now);
            moments.push((now, op));
        }
    }
    // Stable: operations of one part at the same moment keep their order.
    moments.sort_by_key(|(moment, _)| *moment);
    moments.into_iter().map(|(_, op)| op).collect()
}
