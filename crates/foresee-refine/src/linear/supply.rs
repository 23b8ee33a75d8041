//! Values from nowhere: reasons why there is no linearization that need no order to be tried.
//!
//! Whoever takes or sees a value needs somebody who has put it, and each value that was put is taken once. So of the operations that take a value, the
//! one that returns as the n-th needs n operations that put it and were called before that; and one that sees it needs one of them, or
//! an object that has it at the beginning. Where values are put several times, the procedures of `distinct/` do not apply, and a
//! search would try all orders of everything else before it says that a value is missing.
//!
//! Cost: sorting.

use rustc_hash::FxHashMap;

use super::input::Input;
use crate::spec::{Access, Outcome, Specification};
use crate::value::Value;

/// Who puts a value, and who takes it: by their call and by their return.
#[derive(Default)]
struct Flow {
    puts: Vec<u32>,
    takes: Vec<(u32, usize)>,
    /// The first who saw it.
    seen: Option<(u32, usize)>,
}

/// Of these operations, one that met a value which cannot have been there, and why.
pub(super) fn unsupplied<S: Specification>(
    input: &Input<'_, S>,
    ops: &[usize],
) -> Option<(Vec<usize>, &'static str)> {
    let mut flows: FxHashMap<Value, Flow> = FxHashMap::default();
    for &op in ops {
        let (sees, puts, takes) = match input.spec.access(&input.ops[op], input.ret(op)) {
            Access::Put(value) | Access::MayPut(value) => (None, Some(value), None),
            Access::Replace { old, new } => (Some(old), Some(new), None),
            Access::See(value) => (Some(value), None, None),
            Access::Take(value) => (None, None, Some(value)),
            Access::TakeUnknown | Access::SeeNothing | Access::Nothing | Access::Other => continue,
        };
        let end = (input.returned(op), op);
        if let Some(value) = sees.filter(|_| !is_right_at_first(input, op)) {
            let seen = &mut flows.entry(value).or_default().seen;
            *seen = Some(seen.map_or(end, |first| first.min(end)));
        }
        if let Some(value) = puts {
            flows.entry(value).or_default().puts.push(input.call(op));
        }
        if let Some(value) = takes {
            flows.entry(value).or_default().takes.push(end);
        }
    }
    // The first of all, so that the answer does not depend on how values are hashed.
    let first = flows.into_values().filter_map(missing).min_by_key(|((end, _), _)| *end)?;
    let ((_, op), why) = first;
    Some((vec![op], why))
}

/// Whether the operation may have been the very first.
fn is_right_at_first<S: Specification>(input: &Input<'_, S>, op: usize) -> bool {
    let ret = input.ret(op);
    ret.is_none_or(|ret| input.spec.apply(&mut input.spec.initial(), &input.ops[op], ret) != Outcome::Refused)
}

/// The first who met the value when it had not been put, or not often enough.
fn missing(mut flow: Flow) -> Option<((u32, usize), &'static str)> {
    flow.puts.sort_unstable();
    flow.takes.sort_unstable();
    let why = |nth: usize| match flow.puts.len() {
        0 => "nobody put this value",
        puts if puts <= nth => "the value was taken more often than it was put",
        _ => "the value was met before it was put",
    };
    let lacks = |nth: usize, end: u32| flow.puts.get(nth).is_none_or(|call| *call > end);
    let taken = flow.takes.iter().enumerate().find(|(nth, (end, _))| lacks(*nth, *end));
    let taken = taken.map(|(nth, &end)| (end, why(nth)));
    let seen = flow.seen.filter(|(end, _)| lacks(0, *end)).map(|end| (end, why(0)));
    taken.into_iter().chain(seen).min_by_key(|(end, _)| *end)
}
