//! Splits memory at every boundary of every variable.
//!
//! All boundaries of one life of memory, sorted: a cell reaches from one to the next, and is numbered by its place, so that the
//! cells of a variable are contiguous. Programs touch memory in runs, which the sort makes use of; the rest is one
//! walk along starts and ends.

use super::variables::Variable;

/// A first or last byte of a variable.
#[derive(Clone, Copy)]
struct Edge {
    byte: u64,
    life: u32,
    variable: u32,
}

impl Edge {
    fn key(&self) -> (u32, u64) {
        (self.life, self.byte)
    }

    /// Where a variable that ends with this byte stops: the boundary after it.
    fn boundary_after(&self) -> (u32, u128) {
        (self.life, u128::from(self.byte) + 1)
    }

    fn boundary_before(&self) -> (u32, u128) {
        (self.life, self.byte.into())
    }
}

/// The first cell and the number of cells of each variable, and how many cells there are.
pub(super) fn cells(variables: &[Variable]) -> (Vec<(u32, u32)>, u32) {
    let mut starts: Vec<Edge> = (variables.iter().zip(0..))
        .map(|(of, variable)| Edge { byte: of.addr, life: of.life, variable })
        .collect();
    starts.sort_by_key(Edge::key);
    let last = |edge: &Edge| {
        let more = variables[edge.variable as usize].size.saturating_sub(1);
        Edge { byte: edge.byte.saturating_add(more.into()), ..*edge }
    };
    let mut ends: Vec<Edge> = starts.iter().map(last).collect();
    ends.sort_by_key(Edge::key);

    let mut cells = vec![(0, 0); variables.len()];
    let (mut starts, mut ends) = (starts.iter().peekable(), ends.iter().peekable());
    let (mut number, mut boundary) = (0, None);
    let mut reach = |at| {
        if boundary != Some(at) {
            number += u32::from(boundary.is_some());
            boundary = Some(at);
        }
        number
    };
    while let Some(&end) = ends.peek() {
        match starts.next_if(|start| start.boundary_before() <= end.boundary_after()) {
            Some(start) => cells[start.variable as usize].0 = reach(start.boundary_before()),
            None => {
                let cell = &mut cells[end.variable as usize];
                cell.1 = reach(end.boundary_after()) - cell.0;
                ends.next();
            }
        }
    }
    let count = if variables.is_empty() { 0 } else { number + 1 };
    (cells, count)
}
