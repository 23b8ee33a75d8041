//! Why a history has no linearization: where it fails, what can be explained until there, and a smaller history that fails as well.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::budget::{Budget, Limits};
use super::input::Input;
use super::settled::settled;
use super::{Method, Verdict, Violation, decide};
use crate::disjoint::Groups;
use crate::history::{History, NEVER};
use crate::spec::{Removal, Specification, WrongCall};
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
    /// Operations that have no linearization among themselves, and none of which can be left out without
    /// the rest having one, as far as is known. What was left out cannot be the reason.
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
    let minimal = minimise(
        spec,
        history,
        (0..history.ops().len()).filter(|op| until(*op)).collect(),
        end,
        &mut budget(),
    )?;
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

/// Histories of so many operations, all together, are checked to find a smaller one that fails.
const MOST_CHECKED: usize = 20_000_000;

/// Leaves out what the specification allows to leave out, as long as the rest has no linearization.
fn minimise<S: Specification>(
    spec: &S,
    history: &History,
    mut ops: Vec<usize>,
    end: u32,
    budget: &mut Budget,
) -> Result<Vec<usize>, WrongCall> {
    let prefix = |ops: &[usize]| history.part(ops.iter().copied(), end);
    let mut fails = |ops: &[usize]| -> Result<bool, WrongCall> {
        let history = prefix(ops);
        let input = Input::new(spec, &history)?;
        Ok(decide(&input, budget, Method::Fastest).is_linearizable() == Some(false))
    };
    // All at once, if that is possible; otherwise the halves, and so on.
    let units = units(spec, history, &ops, end)?;
    let mut left = MOST_CHECKED;
    let mut ranges = vec![(0, units.len())];
    while let Some((from, to)) = ranges.pop() {
        let gone: FxHashSet<usize> = units[from..to].iter().flatten().copied().collect();
        let rest: Vec<usize> = ops.iter().copied().filter(|op| !gone.contains(op)).collect();
        if rest.len() == ops.len() {
            continue;
        }
        let Some(still) = left.checked_sub(ops.len()) else { break };
        left = still;
        if fails(&rest)? {
            ops = rest;
        } else if to - from > 1 {
            let middle = from.midpoint(to);
            ranges.extend([(middle, to), (from, middle)]);
        }
    }
    // Of what is left, only what came after the object was as at the beginning for the last time.
    let left = prefix(&ops);
    let mut by_call: Vec<usize> = (0..ops.len()).collect();
    by_call.sort_unstable_by_key(|place| left.call(*place));
    let gone = settled(&Input::new(spec, &left)?, &by_call);
    let rest: Vec<usize> = {
        let mut rest: Vec<usize> = by_call[gone..].iter().map(|place| ops[*place]).collect();
        rest.sort_unstable();
        rest
    };
    Ok(if fails(&rest)? { rest } else { ops })
}

/// What can be left out together, the largest first.
fn units<S: Specification>(
    spec: &S,
    history: &History,
    ops: &[usize],
    end: u32,
) -> Result<Vec<Vec<usize>>, WrongCall> {
    let mut alone: Vec<Vec<usize>> = Vec::new();
    let mut groups = Groups::of(history.ops().len());
    let mut named: FxHashMap<Value, usize> = FxHashMap::default();
    let mut members = Vec::new();
    for &op in ops {
        let operation = &history.ops()[op];
        let meaning = spec.decode(&operation.method, &operation.args)?;
        let ret = operation.returned.as_ref().filter(|_| history.returned(op) < end).map(|(_, ret)| ret);
        let values = match spec.removal(&meaning, ret) {
            Removal::Alone(values) => {
                alone.push(vec![op]);
                values
            }
            Removal::With(values) => values,
            Removal::Never => continue,
        };
        if !values.is_empty() {
            members.push(op);
        }
        for value in values {
            let other = *named.entry(value).or_insert(op);
            groups.join(op, other);
        }
    }
    let mut of_leader: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for op in members {
        of_leader.entry(groups.leader(op)).or_default().push(op);
    }
    let mut units: Vec<Vec<usize>> = of_leader.into_values().collect();
    units.sort_unstable_by_key(|unit| (Reverse(unit.len()), unit.first().copied()));
    units.extend(alone);
    Ok(units)
}
