//! The patterns on one variable: `e1`, then another thread's `e2`, then `e3`.
//!
//! The accesses of a variable are grouped by all that matters but the time: thread, place, use, locks held. For a group of
//! pairs (`e1`, `e3`) in blocks and a group of `e2`, the first pair that can be about to happen is found in one walk
//! through both ([`Ideal::first_free`]).

use std::collections::BTreeMap;

use foresee_trace::{EventId, ThreadId};

use super::cycles::{ConflictCycle, ConflictCycles};
use super::index::{Block, Resource, RunIndex, Use};
use crate::ideal::{Choice, Ideal};
use crate::locks::LocksetId;
use foresee_witness::judge::Place;

/// So many different accesses of one variable are looked at in one block.
const MOST_IN_BLOCK: usize = 16;
/// So many pairs of groups of one variable are tried.
const MOST_GROUP_PAIRS: usize = 100_000;

/// Accesses that differ only in when they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    thread: ThreadId,
    place: Place,
    /// What is certain of the use, as the last event of its thread.
    reads: bool,
    lockset: LocksetId,
}

/// A block's earlier access, and the class of its later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    block: Place,
    first: Place,
    first_reads: bool,
    last: Class,
}

/// An earlier access of a block: where, and whether it only reads.
type Earlier = (EventId, Place, bool);

/// The groups of one variable.
#[derive(Default)]
struct Groups {
    others: BTreeMap<Class, Vec<EventId>>,
    /// The later events of pairs, and their earlier ones.
    pairs: BTreeMap<Pair, (Vec<EventId>, Vec<EventId>)>,
}

pub(super) fn search(index: &RunIndex<'_>, cycles: &mut ConflictCycles<'_>) {
    let mut ideal = Ideal::new(index.order, index.locks);
    for cell in 0..index.execution.cell_count() as u32 {
        if cycles.job.budget.is_exhausted() {
            cycles.undecided += 1;
            return;
        }
        let groups = Groups::of(index, cell);
        let mut tried = 0;
        for (pair, (last, first)) in &groups.pairs {
            for (other, events) in &groups.others {
                let conflicting = !(other.reads && (pair.first_reads || pair.last.reads));
                if other.thread == pair.last.thread || !conflicting {
                    continue;
                }
                let mut places = vec![pair.block, pair.first, other.place, pair.last.place];
                places.sort_unstable();
                places.dedup();
                if cycles.is_settled(&places)
                    || index.locks.locksets.exclude(other.lockset, pair.last.lockset)
                {
                    continue;
                }
                tried += 1;
                if tried > MOST_GROUP_PAIRS || cycles.job.budget.is_exhausted() {
                    cycles.undecided += 1;
                    continue;
                }
                ideal.clear();
                let choices: [Choice<'_>; 2] = [(pair.last.thread, last), (other.thread, events)];
                let mut picks = [0, 0];
                if ideal.first_free(&choices, &mut picks) {
                    let (e1, e3, e2) = (first[picks[0]], last[picks[0]], events[picks[1]]);
                    let mut witness = ideal.schedule(&[e3, e2], &[pair.last.thread, other.thread]);
                    witness.push(e2);
                    witness.push(e3);
                    cycles.add(ConflictCycle { e1, f1: e2, f2: e2, e3 }, places, witness);
                }
            }
        }
    }
}

impl Groups {
    fn of(index: &RunIndex<'_>, cell: Resource) -> Groups {
        let mut groups = Groups::default();
        // What the block that each thread is in did with the variable so far.
        let mut so_far: BTreeMap<ThreadId, (Block, Vec<Earlier>)> = BTreeMap::new();
        for &id in &index.users[cell as usize] {
            let Some(how) = index.how(id, cell) else { continue };
            let thread = index.execution.thread(id);
            let class = Class {
                thread,
                place: index.place(id),
                reads: how.at_least() == Use::Reads,
                lockset: index.locks.held(thread, id.0),
            };
            groups.others.entry(class).or_default().push(id);
            let Some(block) = index.block(id) else { continue };
            let (current, earlier) = so_far.entry(thread).or_insert_with(|| (block, Vec::new()));
            if *current != block {
                *current = block;
                earlier.clear();
            }
            for &(e1, first, first_reads) in earlier.iter() {
                let pair = Pair { block: block.place, first, first_reads, last: class };
                let (last, first) = groups.pairs.entry(pair).or_default();
                last.push(id);
                first.push(e1);
            }
            let access = (id, class.place, how == Use::Reads);
            if earlier.len() < MOST_IN_BLOCK && !earlier.iter().any(|e| (e.1, e.2) == (access.1, access.2)) {
                earlier.push(access);
            }
        }
        groups
    }
}
