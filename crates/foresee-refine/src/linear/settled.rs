//! Where a history begins anew: a moment at which no operation is under way and the object surely is as it was at the beginning. What came
//! before has no part in what is wrong later, and need not be shown.
//!
//! Between two moments without an operation under way there are few operations, so all their orders are tried, from all states that the object may
//! have had before. Where there are many, nothing is known from there on.

use rustc_hash::FxHashSet;

use super::input::Input;
use crate::spec::{Outcome, Specification};

/// Orders of more operations that overlap are not tried.
const MOST_AT_ONCE: usize = 10;

/// States of more are not kept.
const MOST_STATES: usize = 64;

/// Steps that need more bytes are not taken.
const MOST_BYTES: usize = 1 << 16;

/// Of these operations, which are in the order of their calls, how many come before the last such moment.
pub(super) fn settled<S: Specification>(input: &Input<'_, S>, ops: &[usize]) -> usize {
    let initial = input.spec.initial();
    let mut states = FxHashSet::from_iter([initial.clone()]);
    let (mut from, mut settled) = (0, 0);
    let mut last_end = 0;
    for (place, &op) in ops.iter().enumerate() {
        if place > from && last_end < input.call(op) {
            match after(input, &states, &ops[from..place]) {
                Some(next) => states = next,
                None => return settled,
            }
            from = place;
            if states.len() == 1 && states.contains(&initial) {
                settled = place;
            }
        }
        last_end = last_end.max(input.returned(op));
    }
    settled
}

/// All states that these operations may lead to; `None` if there are too many, or none.
fn after<S: Specification>(
    input: &Input<'_, S>,
    states: &FxHashSet<S::State>,
    ops: &[usize],
) -> Option<FxHashSet<S::State>> {
    if ops.len() > MOST_AT_ONCE {
        return None;
    }
    let all = (1_u32 << ops.len()) - 1;
    let mut seen: FxHashSet<(u32, S::State)> = states.iter().map(|state| (0, state.clone())).collect();
    let mut open: Vec<(u32, S::State)> = seen.iter().cloned().collect();
    let mut reached = FxHashSet::default();
    while let Some((done, state)) = open.pop() {
        if done == all {
            reached.insert(state);
            continue;
        }
        for (nth, &op) in ops.iter().enumerate().filter(|(nth, _)| done & (1 << nth) == 0) {
            let is_next = |(other, before): (usize, &usize)| {
                other == nth || done & (1 << other) != 0 || !input.history.precedes(*before, op)
            };
            if !ops.iter().enumerate().all(is_next) {
                continue;
            }
            if input.spec.room(&state, &input.ops[op]) > MOST_BYTES {
                return None;
            }
            let (mut next, Some(ret)) = (state.clone(), input.ret(op)) else { return None };
            if input.spec.apply(&mut next, &input.ops[op], ret) != Outcome::Refused {
                let step = (done | (1 << nth), next);
                if seen.insert(step.clone()) {
                    open.push(step);
                }
            }
        }
        if seen.len() > MOST_STATES << MOST_AT_ONCE {
            return None;
        }
    }
    (!reached.is_empty() && reached.len() <= MOST_STATES).then_some(reached)
}
