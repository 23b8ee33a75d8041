//! Operations on independent parts of an object are independent histories.

use rustc_hash::FxHashMap;

use super::input::Input;
use crate::disjoint::Groups;
use crate::spec::Specification;
use crate::value::Value;

/// The operations in groups that have no key in common, each in the order of calls. All of them are one group if one has no keys.
pub(crate) fn partition<S: Specification>(input: &Input<'_, S>) -> Vec<Vec<usize>> {
    let count = input.ops.len();
    let mut in_order: Vec<usize> = (0..count).collect();
    in_order.sort_unstable_by_key(|op| input.call(*op));
    let mut groups = Groups::of(count);
    let mut first_with: FxHashMap<Value, usize> = FxHashMap::default();
    for op in 0..count {
        let Some(keys) = input.spec.keys(&input.ops[op]) else { return vec![in_order] };
        for key in keys {
            let other = *first_with.entry(key).or_insert(op);
            groups.join(op, other);
        }
    }
    let mut place: FxHashMap<usize, usize> = FxHashMap::default();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for op in in_order {
        let part = *place.entry(groups.leader(op)).or_insert(parts.len());
        if part == parts.len() {
            parts.push(Vec::new());
        }
        parts[part].push(op);
    }
    parts
}
