//! Cycles of patterns.
//!
//! The graph has an edge from a pattern to the lock it requests and from a lock to the patterns that hold it, so it is
//! linear in the patterns and their held locks. Its strongly connected components (Tarjan 1972) come first: most programs
//! have none of more than one pattern. Within a component, cycles are enumerated by length: short ones are what people fix
//! first.

use foresee_trace::LockId;
use rustc_hash::FxHashMap;

use super::dependencies::Dependencies;
use crate::locks::{LockHistory, exclude};

/// The enumeration of cycles ends after so many steps.
pub const MAX_STEPS: usize = 1_000_000;
/// The enumeration ends after so many cycles.
pub const MAX_CYCLES: usize = 2_000;

/// Cycles of patterns: each requests a lock that the next one holds, the last one that the first one holds.
pub(super) struct PatternCycles {
    pub(super) cycles: Vec<Vec<usize>>,
    /// Whether these are all.
    pub(super) complete: bool,
}

impl PatternCycles {
    pub(super) fn of(dependencies: &Dependencies, locks: &LockHistory) -> PatternCycles {
        let mut holders: FxHashMap<LockId, Vec<usize>> = FxHashMap::default();
        for (number, pattern) in dependencies.patterns.iter().enumerate() {
            for &(lock, _) in locks.locksets.get(pattern.held) {
                holders.entry(lock).or_default().push(number);
            }
        }
        let none: &[usize] = &[];
        let next: Vec<&[usize]> = (dependencies.patterns.iter())
            .map(|pattern| holders.get(&pattern.lock).map_or(none, Vec::as_slice))
            .collect();
        let component = components(dependencies, &next);
        let mut enumeration = Enumeration {
            dependencies,
            locks,
            next,
            component,
            path: Vec::new(),
            steps: 0,
            cycles: Vec::new(),
        };
        let complete = enumeration.run();
        PatternCycles { cycles: enumeration.cycles, complete }
    }
}

struct Enumeration<'a> {
    dependencies: &'a Dependencies,
    locks: &'a LockHistory,
    /// The patterns that hold what each pattern requests, in any mode.
    next: Vec<&'a [usize]>,
    component: Vec<usize>,
    path: Vec<usize>,
    steps: usize,
    cycles: Vec<Vec<usize>>,
}

impl Enumeration<'_> {
    /// Whether all cycles were found.
    fn run(&mut self) -> bool {
        let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
        for &component in &self.component {
            *sizes.entry(component).or_default() += 1;
        }
        let starts: Vec<usize> =
            (0..self.component.len()).filter(|&p| sizes[&self.component[p]] > 1).collect();
        let mut length = 2;
        let mut longer = !starts.is_empty();
        while longer {
            longer = false;
            for &start in &starts {
                self.path.push(start);
                longer |= self.extend(length);
                self.path.pop();
                if self.is_exhausted() {
                    return false;
                }
            }
            length += 1;
        }
        true
    }

    fn is_exhausted(&self) -> bool {
        self.steps > MAX_STEPS || self.cycles.len() >= MAX_CYCLES
    }

    /// Completes the path to cycles of this length, whose first pattern is the smallest. Whether there is a path so long.
    fn extend(&mut self, length: usize) -> bool {
        let (first, last) = (self.path[0], self.path[self.path.len() - 1]);
        if self.path.len() == length {
            if self.waits_for(last, first) {
                self.cycles.push(self.path.clone());
            }
            return true;
        }
        let mut reached = false;
        let candidates = self.next[last];
        for &candidate in &candidates[candidates.partition_point(|&p| p <= first)..] {
            self.steps += 1;
            if self.is_exhausted() {
                return reached;
            }
            if self.component[candidate] == self.component[first]
                && self.waits_for(last, candidate)
                && self.fits(candidate)
            {
                self.path.push(candidate);
                reached |= self.extend(length);
                self.path.pop();
            }
        }
        reached
    }

    /// Whether a request of one pattern blocks on what the other one holds.
    fn waits_for(&self, waiting: usize, holding: usize) -> bool {
        let (waiting, holding) = (&self.dependencies.patterns[waiting], &self.dependencies.patterns[holding]);
        (self.locks.locksets.get(holding.held).iter())
            .any(|&(lock, mode)| lock == waiting.lock && exclude(mode, waiting.mode))
    }

    /// Whether the pattern is new on the path and no gate lock keeps it apart from another one.
    fn fits(&self, candidate: usize) -> bool {
        let held = |p: usize| self.dependencies.patterns[p].held;
        self.path.iter().all(|&p| p != candidate && !self.locks.locksets.exclude(held(p), held(candidate)))
    }
}

/// The strongly connected component of each pattern, by number.
fn components(dependencies: &Dependencies, next: &[&[usize]]) -> Vec<usize> {
    // Nodes: the patterns, then the requested locks.
    let count = dependencies.patterns.len();
    let mut lock_nodes: FxHashMap<LockId, usize> = FxHashMap::default();
    let mut edges_of_locks: Vec<&[usize]> = Vec::new();
    let lock_of: Vec<usize> = (dependencies.patterns.iter().zip(next))
        .map(|(pattern, holders)| {
            *lock_nodes.entry(pattern.lock).or_insert_with(|| {
                edges_of_locks.push(holders);
                count + edges_of_locks.len() - 1
            })
        })
        .collect();
    let edge = |node: usize, nth: usize| match node.checked_sub(count) {
        None => (nth == 0).then(|| lock_of[node]),
        Some(lock) => edges_of_locks[lock].get(nth).copied(),
    };

    const UNSEEN: usize = usize::MAX;
    let nodes = count + edges_of_locks.len();
    let (mut index, mut low) = (vec![UNSEEN; nodes], vec![0; nodes]);
    let (mut component, mut on_stack) = (vec![UNSEEN; nodes], Vec::new());
    let (mut seen, mut found) = (0, 0);
    for root in 0..count {
        let mut calls = if index[root] == UNSEEN { vec![(root, 0)] } else { Vec::new() };
        while let Some((node, nth)) = calls.pop() {
            if nth == 0 {
                (index[node], low[node]) = (seen, seen);
                seen += 1;
                on_stack.push(node);
            }
            if let Some(to) = edge(node, nth) {
                calls.push((node, nth + 1));
                if index[to] == UNSEEN {
                    calls.push((to, 0));
                } else if component[to] == UNSEEN {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if low[node] == index[node] {
                while let Some(member) = on_stack.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
            if let Some(&(caller, _)) = calls.last() {
                low[caller] = low[caller].min(low[node]);
            }
        }
    }
    component.truncate(count);
    component
}
