//! Why a history has no linearization: where it fails, what can be explained until there, and a smaller history that fails as well.

use super::budget::{Budget, Limits};
use super::input::Input;
use super::minimal::minimise;
use super::{Method, Verdict, Violation, decide};
use crate::history::{History, NEVER};
use crate::spec::{Specification, WrongCall};
use crate::value::Value;

/// What can be said of a history without a linearization.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The return that no order explains together with all events before it.
    pub first: Option<u32>,
    /// The operation whose return that is.
    pub unplaced: Option<usize>,
    /// A linearization of all events before it: the longest prefix that has one. Operations by their place in the history.
    pub longest: Option<Vec<usize>>,
    /// What the operation of that return could have given back at the end of that order.
    pub expected: Vec<Value>,
    /// Operations that overlap the one that cannot be placed.
    pub overlapping: Vec<usize>,
    /// Operations that are to blame, if a procedure found them, and why.
    pub cause: Option<(Vec<usize>, &'static str)>,
    /// Operations that have no linearization among themselves, whatever all others did, and none of which can be left out as well, as far as
    /// that could be found out within the limits.
    pub minimal: Vec<usize>,
}

/// Explains a violation of [`check`](super::check).
pub fn explain<S: Specification>(
    spec: &S,
    history: &History,
    violation: &Violation,
    limits: Limits,
) -> Result<Explanation, WrongCall> {
    // The verdict is known; to explain it is worth less.
    let limits = Limits { memory: limits.memory.min(1 << 26), ..limits };
    let budget = || Budget::new(limits).with_steps(MOST_STEPS);
    let first = first_violation(spec, history, violation, &mut budget())?;
    let timeline = history.timeline();
    let unplaced = first.map(|first| timeline[first as usize].0);
    let end = first.map_or(NEVER, |first| first + 1);
    let until = |op: usize| history.call(op) < end;
    let mut longest = None;
    let mut expected = Vec::new();
    if let (Some(first), Some(unplaced)) = (first, unplaced) {
        let before = history.prefix(first);
        let places: Vec<usize> = (0..history.ops().len()).filter(|op| history.call(*op) < first).collect();
        let input = Input::new(spec, &before)?;
        if let Verdict::Linearizable { order: Some(order) } = decide(&input, &mut budget(), Method::Search) {
            let own = places.iter().position(|op| *op == unplaced);
            expected = own.map(|own| results(&input, &order, own)).unwrap_or_default();
            longest = Some(order.iter().map(|op| places[*op]).collect());
        }
    }
    let overlapping = unplaced.map_or(Vec::new(), |own| {
        let overlaps = |op: &usize| *op != own && !history.precedes(own, *op) && !history.precedes(*op, own);
        (0..history.ops().len()).filter(|op| until(*op) && overlaps(op)).collect()
    });
    let ops = (0..history.ops().len()).filter(|op| until(*op)).collect();
    let minimal = minimise(spec, history, ops, end, budget)?;
    Ok(Explanation {
        first,
        unplaced,
        longest,
        expected,
        overlapping,
        cause: violation.cause.clone(),
        minimal,
    })
}

/// What the operation `own` could give back after this order, in which it may be itself.
fn results<S: Specification>(input: &Input<'_, S>, order: &[usize], own: usize) -> Vec<Value> {
    let mut state = input.spec.initial();
    for &op in order.iter().filter(|op| **op != own) {
        match input.ret(op) {
            Some(ret) => {
                input.spec.apply(&mut state, &input.ops[op], ret);
            }
            None => {
                // Of several results, one with an effect: the operation is in the order because it has one.
                for ret in input.spec.returns(&state, &input.ops[op]) {
                    let mut next = state.clone();
                    if input.spec.apply(&mut next, &input.ops[op], &ret) == crate::spec::Outcome::Changed {
                        state = next;
                        break;
                    }
                }
            }
        }
    }
    input.spec.returns(&state, &input.ops[own])
}

/// The first event with which no order explains what happened, whatever comes later. Prefixes of what is linearizable are linearizable, so
/// it can be searched by halves: from where the search was stuck, in growing steps.
fn first_violation<S: Specification>(
    spec: &S,
    history: &History,
    violation: &Violation,
    budget: &mut Budget,
) -> Result<Option<u32>, WrongCall> {
    let mut fails = |end: u32| -> Result<Option<bool>, WrongCall> {
        let prefix = history.prefix(end);
        Ok(decide(&Input::new(spec, &prefix)?, budget, Method::Fastest).is_linearizable().map(|fine| !fine))
    };
    let mut low = violation.stuck.unwrap_or(0);
    let mut step = if violation.stuck.is_some() { 1 } else { history.events() };
    let mut high = history.events();
    while low + 1 < high {
        let middle = if step < (high - low) / 2 { low + step } else { low + (high - low) / 2 };
        step = step.saturating_mul(2);
        match fails(middle)? {
            Some(true) => {
                high = middle;
                step = history.events();
            }
            Some(false) => low = middle,
            None => return Ok(violation.stuck),
        }
    }
    Ok(Some(high - 1))
}

/// All searches for one part of an explanation together take no more steps: some seconds.
const MOST_STEPS: u64 = 4_000_000;
