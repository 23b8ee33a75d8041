//! A B-link tree in small: leaves that know their right neighbour and their highest key, an index above them that may be out of date, and a
//! thread that merges leaves which have become empty enough (section 7.2.3 of the paper).

use std::sync::{Mutex, MutexGuard};

use foresee::attr::{mutator, observer};
use foresee::refine::models::VersionedMap;
use foresee::refine::structures::LeavesReplica;
use foresee::refine::{Choice, Harness, Value};
use foresee::{commit, commit_block, log_write};

use super::{Subject, lock};

/// A leaf with more pairs is split, neighbours with fewer together are merged.
const MOST: usize = 4;

struct Leaf {
    place: usize,
    /// Keys in order, each with its data and their version.
    pairs: Vec<(i64, (i64, i64))>,
    /// Larger keys are in leaves to the right.
    high: i64,
    right: Option<usize>,
    /// The left neighbour, which has what was here.
    merged: Option<usize>,
}

impl Leaf {
    fn write(&self) {
        log_write!(["leaf[{}]", self.place], self.pairs.clone());
    }
}

pub(crate) struct BlinkTree<const BUG: bool> {
    leaves: Vec<Mutex<Leaf>>,
    /// How many leaves are in use; and from which key on to begin in which of them.
    index: Mutex<(usize, Vec<(i64, usize)>)>,
}

impl<const BUG: bool> BlinkTree<BUG> {
    fn new(leaves: usize) -> Self {
        let leaf =
            |place| Mutex::new(Leaf { place, pairs: Vec::new(), high: i64::MAX, right: None, merged: None });
        BlinkTree { leaves: (0..leaves).map(leaf).collect(), index: Mutex::new((1, vec![(i64::MIN, 0)])) }
    }

    /// The leaf that a key belongs to, locked: from where the index says, to the right as far as needed.
    fn find(&self, key: i64) -> MutexGuard<'_, Leaf> {
        let start = {
            let index = lock(&self.index);
            let place = index.1.partition_point(|(from, _)| *from <= key).saturating_sub(1);
            index.1[place].1
        };
        let mut leaf = lock(&self.leaves[start]);
        loop {
            let next = match (leaf.merged, leaf.right) {
                (Some(left), _) => left,
                (None, Some(right)) if key > leaf.high => right,
                _ => return leaf,
            };
            // Neighbours are locked from left to right only, so this one is let go first.
            drop(leaf);
            leaf = lock(&self.leaves[next]);
        }
    }

    #[mutator]
    fn insert(&self, key: i64, data: i64) -> &'static str {
        let mut leaf = self.find(key);
        let known = leaf.pairs.iter().position(|(other, _)| *other == key);
        if let Some(known) = known {
            commit_block! {
                let (old, version) = &mut leaf.pairs[known].1;
                (*old, *version) = (data, *version + 1);
                leaf.write();
                commit!();
            }
            return "ok";
        }
        if BUG {
            drop(leaf);
            std::thread::yield_now();
            // Another thread may have inserted the key since.
            leaf = self.find(key);
        }
        let place = leaf.pairs.partition_point(|(other, _)| *other < key);
        leaf.pairs.insert(place, (key, (data, 0)));
        let is_safe = leaf.pairs.len() <= MOST;
        commit_block! {
            if is_safe {
                leaf.write();
            }
            commit!(if is_safe);
        }
        if !is_safe {
            self.split(leaf);
        }
        "ok"
    }

    /// Moves the upper half of a leaf, with what was just inserted, to a new right neighbour.
    fn split(&self, mut leaf: MutexGuard<'_, Leaf>) {
        let new = {
            let mut index = lock(&self.index);
            let new = index.0;
            index.0 += usize::from(new < self.leaves.len());
            self.leaves.get(new)
        };
        let Some(new) = new else {
            commit_block! {
                leaf.write();
                commit!();
            }
            return;
        };
        let mut new = lock(new);
        let half = leaf.pairs.len() / 2;
        commit_block! {
            new.pairs = leaf.pairs.split_off(half);
            (new.high, new.right) = (leaf.high, leaf.right);
            leaf.high = leaf.pairs[half - 1].0;
            leaf.right = Some(new.place);
            new.write();
            leaf.write();
            commit!();
        }
        let entry = (leaf.high.saturating_add(1), new.place);
        drop((leaf, new));
        // The index is changed later: until then the new leaf is found by going right.
        let mut index = lock(&self.index);
        let place = index.1.partition_point(|(from, _)| *from < entry.0);
        index.1.insert(place, entry);
    }

    #[mutator]
    fn delete(&self, key: i64) -> bool {
        let mut leaf = self.find(key);
        let known = leaf.pairs.iter().position(|(other, _)| *other == key);
        commit_block! {
            if let Some(known) = known {
                leaf.pairs.remove(known);
                leaf.write();
            }
            commit!();
        }
        known.is_some()
    }

    #[observer]
    fn lookup(&self, key: i64) -> Value {
        let leaf = self.find(key);
        let known = leaf.pairs.iter().find(|(other, _)| *other == key);
        known.map_or_else(|| Value::from("none"), |(_, (data, _))| Value::from(*data))
    }

    /// Merges a leaf with its right neighbour where both have little.
    fn compress(&self) {
        let mut at = Some(0);
        while let Some(place) = at {
            let mut left = lock(&self.leaves[place]);
            at = left.right;
            let Some(right) = left.right else { return };
            let mut right = lock(&self.leaves[right]);
            if left.pairs.len() + right.pairs.len() < MOST {
                commit_block! {
                    left.pairs.append(&mut right.pairs);
                    (left.high, left.right) = (right.high, right.right);
                    right.merged = Some(place);
                    left.write();
                    right.write();
                }
                at = left.right;
            }
        }
    }
}

impl<const BUG: bool> Subject for BlinkTree<BUG> {
    type Spec = VersionedMap;
    type Replica = LeavesReplica;
    const SPEC: VersionedMap = VersionedMap;
    const INTERNAL: Option<fn(&Self)> = Some(Self::compress);

    fn new(harness: &Harness) -> Self {
        BlinkTree::new(harness.threads * harness.operations + 1)
    }

    fn operate(&self, choice: &mut Choice) {
        match choice.below(5) {
            0 | 1 => drop(self.insert(choice.key(), choice.below(100) as i64)),
            2 | 3 => drop(self.delete(choice.key())),
            _ => drop(self.lookup(choice.key())),
        }
    }
}
