//! A smaller history that has no linearization either, and shows why.
//!
//! Not every part of a history that has no linearization is an explanation: of `enq(1)`, `deq() → 1`, `deq() → 1` the last operation alone has
//! none, but only as the one that put its value was left out. What is left out must not be the reason. Three steps, each of which keeps to that:
//!
//! 1. What the specification allows to leave out goes ([`Specification::removal`]): it says that the rest is no worse without it. In groups, by
//!    halves, so that most of a long history goes at little cost.
//! 2. What came before the object was as at the beginning for the last time goes (`settled`).
//! 3. Of what is left, the outcome of one operation after the other is *forgotten*: as if it had never returned, it may have happened at any time since its
//!    call, with any result, or not. What has no linearization even so has none whatever the forgotten operations did. Those whose outcome cannot be
//!    forgotten are the *core*. Then each of the core could be explained but for the others, by what was forgotten: what such an
//!    explanation needs is shown as well (the one `enq(1)` above), and nothing else.
//!
//! More that is forgotten leaves more freedom, so what could not be forgotten once cannot be later: one pass is enough, also by halves. Cost:
//! as many checks as operations are left, each with its own cost; bounded by steps, by operations checked, and by the deadline. Where a limit is met, the part
//! that is shown is not the smallest, but still has no linearization.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::budget::Budget;
use super::input::Input;
use super::settled::settled;
use super::{Method, Verdict, decide};
use crate::disjoint::Groups;
use crate::history::History;
use crate::spec::{Removal, Specification, WrongCall};
use crate::value::Value;

/// Histories of so many operations, all together, are checked to find a smaller one that fails.
const MOST_CHECKED: usize = 20_000_000;

/// Of the operations that are called before `end`, some that have no linearization either. `budget` gives what each step may cost.
pub(super) fn minimise<S: Specification>(
    spec: &S,
    history: &History,
    ops: Vec<usize>,
    end: u32,
    budget: impl Fn() -> Budget,
) -> Result<Vec<usize>, WrongCall> {
    let mut part = Part { spec, history, end, left: MOST_CHECKED, budget: budget() };
    let ops = part.without_groups(ops)?;
    let ops = part.without_settled(ops)?;
    part.budget = budget();
    part.core(ops)
}

/// A history of which parts are checked.
struct Part<'a, S> {
    spec: &'a S,
    history: &'a History,
    /// What returns here or later has not returned.
    end: u32,
    /// So many operations more may be checked.
    left: usize,
    budget: Budget,
}

impl<S: Specification> Part<'_, S> {
    /// The history of some operations, of which those in `forgotten` have no outcome.
    fn of(&self, ops: &[usize], forgotten: &FxHashSet<usize>) -> History {
        let returns = |op: usize| self.history.returned(op) < self.end && !forgotten.contains(&op);
        self.history.part(ops.iter().copied(), returns)
    }

    fn decide(
        &mut self,
        ops: &[usize],
        forgotten: &FxHashSet<usize>,
        how: Method,
    ) -> Result<Verdict, WrongCall> {
        let history = self.of(ops, forgotten);
        Ok(decide(&Input::new(self.spec, &history)?, &mut self.budget, how))
    }

    fn fails(&mut self, ops: &[usize], forgotten: &FxHashSet<usize>) -> Result<bool, WrongCall> {
        Ok(self.decide(ops, forgotten, Method::Fastest)?.is_linearizable() == Some(false))
    }

    /// Gives each of so many things up, as long as `give_up` says that what is left still fails: all at once, if that is possible; otherwise the
    /// halves, and so on. A check costs as much as there are operations left, which `give_up` says if it made one.
    fn by_halves(
        &mut self,
        things: usize,
        mut give_up: impl FnMut(&mut Self, std::ops::Range<usize>) -> Result<(bool, usize), WrongCall>,
    ) -> Result<(), WrongCall> {
        let mut ranges = vec![(0, things)];
        while let Some((from, to)) = ranges.pop() {
            let (could, cost) = give_up(self, from..to)?;
            let Some(left) = self.left.checked_sub(cost) else { break };
            self.left = left;
            if !could && to - from > 1 {
                let middle = from.midpoint(to);
                ranges.extend([(middle, to), (from, middle)]);
            }
        }
        Ok(())
    }

    /// Leaves out what the specification allows to leave out.
    fn without_groups(&mut self, mut ops: Vec<usize>) -> Result<Vec<usize>, WrongCall> {
        let units = units(self.spec, self.history, &ops, self.end)?;
        let nothing = FxHashSet::default();
        self.by_halves(units.len(), |part, range| {
            let gone: FxHashSet<usize> = units[range].iter().flatten().copied().collect();
            let rest: Vec<usize> = ops.iter().copied().filter(|op| !gone.contains(op)).collect();
            if rest.len() == ops.len() {
                return Ok((true, 0));
            }
            let (could, cost) = (part.fails(&rest, &nothing)?, ops.len());
            if could {
                ops = rest;
            }
            Ok((could, cost))
        })?;
        Ok(ops)
    }

    /// Only what came after the object was as at the beginning for the last time.
    fn without_settled(&mut self, ops: Vec<usize>) -> Result<Vec<usize>, WrongCall> {
        let nothing = FxHashSet::default();
        let left = self.of(&ops, &nothing);
        let mut by_call: Vec<usize> = (0..ops.len()).collect();
        by_call.sort_unstable_by_key(|place| left.call(*place));
        let gone = settled(&Input::new(self.spec, &left)?, &by_call);
        let mut rest: Vec<usize> = by_call[gone..].iter().map(|place| ops[*place]).collect();
        rest.sort_unstable();
        Ok(if self.fails(&rest, &nothing)? { rest } else { ops })
    }

    /// The operations whose outcome matters, and what would explain each of them but for the others.
    fn core(&mut self, ops: Vec<usize>) -> Result<Vec<usize>, WrongCall> {
        let mut forgotten: FxHashSet<usize> = FxHashSet::default();
        self.by_halves(ops.len(), |part, range| {
            let mut more = forgotten.clone();
            more.extend(&ops[range]);
            let could = part.fails(&ops, &more)?;
            if could {
                forgotten = more;
            }
            Ok((could, ops.len()))
        })?;
        let matters = |op: &usize| self.history.returned(*op) < self.end && !forgotten.contains(op);
        let core: Vec<usize> = ops.iter().copied().filter(matters).collect();
        let mut shown = core.clone();
        for &own in &core {
            let mut more = forgotten.clone();
            more.insert(own);
            // What is shown for another may do for this one, too.
            if self.is_explained(&shown, &more)? {
                continue;
            }
            let Some(left) = self.left.checked_sub(ops.len()) else { return Ok(ops) };
            self.left = left;
            match self.decide(&ops, &more, Method::Search)? {
                Verdict::Linearizable { order: Some(order) } => {
                    shown.extend(order.iter().map(|place| ops[*place]));
                    shown.sort_unstable();
                    shown.dedup();
                }
                // The limits were met: all is shown that may be needed.
                _ => return Ok(ops),
            }
        }
        let others: Vec<usize> = shown.iter().copied().filter(|op| !core.contains(op)).collect();
        for other in others {
            let fewer: Vec<usize> = shown.iter().copied().filter(|op| *op != other).collect();
            let mut is_needed = false;
            for &own in &core {
                let mut more = forgotten.clone();
                more.insert(own);
                is_needed = is_needed || !self.is_explained(&fewer, &more)?;
            }
            if !is_needed {
                shown = fewer;
            }
        }
        Ok(shown)
    }

    /// Whether these operations have a linearization, as far as that can be found out.
    fn is_explained(&mut self, ops: &[usize], forgotten: &FxHashSet<usize>) -> Result<bool, WrongCall> {
        let Some(left) = self.left.checked_sub(ops.len()) else { return Ok(false) };
        self.left = left;
        Ok(self.decide(ops, forgotten, Method::Fastest)?.is_linearizable() == Some(true))
    }
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
