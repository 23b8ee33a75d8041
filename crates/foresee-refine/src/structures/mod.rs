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

/// A variable's name, taken apart: `entry[h][1]`, `A[3].elt`.
struct Target<'a> {
    name: &'a str,
    indices: SmallVec<[&'a str; 2]>,
    field: &'a str,
}

impl<'a> Target<'a> {
    fn of(target: &'a str) -> Target<'a> {
        let end = target.find(['[', '.']).unwrap_or(target.len());
        let (name, mut rest) = target.split_at(end);
        let mut indices = SmallVec::new();
        while let Some((index, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            indices.push(index);
            rest = after;
        }
        Target { name, indices, field: rest.strip_prefix('.').unwrap_or(rest) }
    }
}
