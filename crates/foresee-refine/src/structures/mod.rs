//! Known structures: what their variables are called, and what view they make.

mod cache;
mod cells;
mod disk;
mod search_tree;
mod slots;
mod tree;
mod vector;

pub use cache::CacheReplica;
pub use cells::CellsReplica;
pub use disk::DiskReplica;
pub use search_tree::SearchTreeReplica;
pub use slots::SlotsReplica;
pub use tree::LeavesReplica;
pub use vector::VectorReplica;

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::value::Value;

/// A variable's name, taken apart: `entry[h][1]`, `A[3].elt`.
struct Target<'a> {
    name: &'a str,
    indices: SmallVec<[&'a str; 2]>,
    field: &'a str,
}

impl<'a> Target<'a> {
    fn of(target: &'a str) -> Target<'a> {
        let end = target.bytes().position(|byte| matches!(byte, b'[' | b'.')).unwrap_or(target.len());
        let (name, mut rest) = target.split_at(end);
        let mut indices = SmallVec::new();
        while let Some(inside) = rest.strip_prefix('[')
            && let Some(end) = inside.bytes().position(|byte| byte == b']')
        {
            indices.push(&inside[..end]);
            rest = &inside[end + 1..];
        }
        Target { name, indices, field: rest.strip_prefix('.').unwrap_or(rest) }
    }
}

/// Notes that a part may have changed; of several writes to the same part one after the other, once.
fn note(changed: &mut Vec<Value>, part: &SmolStr) {
    if !changed.last().is_some_and(|last| last.is_text(part)) {
        changed.push(Value::Text(part.clone()));
    }
}
