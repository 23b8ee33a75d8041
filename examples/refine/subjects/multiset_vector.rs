//! The paper's multiset in an array of slots (figures 2, 4 and 5).
//!
//! Lookups and deletes look at one slot after the other, and in the figures that is all. One that finds nothing may then be wrong in the order
//! of commits although another order explains it: the element was inserted behind its back in a slot that it had passed. Here such
//! a search is repeated if anything was committed meanwhile, so that "not there" was true when it was said.

use std::sync::{Mutex, MutexGuard};

use foresee::attr::{mutator, observer};
use foresee::refine::models::Multiset;
use foresee::refine::structures::SlotsReplica;
use foresee::refine::{Choice, Harness};
use foresee::{Logged, commit, commit_block};

use super::{Subject, lock};

/// An array of this size has room for all that a test of some thousand operations inserts. Each search goes through all of it.
const MOST_SLOTS: usize = 6_144;

struct Slot {
    element: Logged<Option<i64>>,
    valid: Logged<bool>,
}

pub(crate) struct MultisetVector<const BUG: bool> {
    slots: Vec<Mutex<Slot>>,
    /// How many commits have changed something. Locked for a commit, after slots.
    commits: Mutex<u64>,
}

impl<const BUG: bool> MultisetVector<BUG> {
    fn new(slots: usize) -> Self {
        let slot = |index| {
            Mutex::new(Slot {
                element: Logged::new(|| format!("A[{index}].elt"), None),
                valid: Logged::new(|| format!("A[{index}].valid"), false),
            })
        };
        MultisetVector { slots: (0..slots).map(slot).collect(), commits: Mutex::default() }
    }

    /// Reserves a slot for an element.
    fn find_slot(&self, x: i64) -> Option<usize> {
        for (index, slot) in self.slots.iter().enumerate() {
            if BUG {
                if lock(slot).element.is_some() {
                    continue;
                }
                // Another thread may take the slot now.
                std::thread::yield_now();
            }
            let mut slot = lock(slot);
            if BUG || slot.element.is_none() {
                slot.element.set(Some(x));
                return Some(index);
            }
        }
        None
    }

    #[mutator]
    fn insert(&self, x: i64) -> &'static str {
        let Some(index) = self.find_slot(x) else {
            commit!();
            return "failure";
        };
        let mut slot = lock(&self.slots[index]);
        let mut commits = lock(&self.commits);
        *commits += 1;
        commit_block! {
            slot.valid.set(true);
            commit!();
        }
        "success"
    }

    #[mutator("insertPair")]
    fn insert_pair(&self, x: i64, y: i64) -> &'static str {
        let Some(i) = self.find_slot(x) else {
            commit!();
            return "failure";
        };
        let Some(j) = self.find_slot(y) else {
            lock(&self.slots[i]).element.set(None);
            commit!();
            return "failure";
        };
        // Always in this order; with the bug both may be the same.
        let mut first = lock(&self.slots[i.min(j)]);
        let mut second = (i != j).then(|| lock(&self.slots[i.max(j)]));
        let mut commits = lock(&self.commits);
        *commits += 1;
        commit_block! {
            first.valid.set(true);
            if let Some(second) = &mut second {
                second.valid.set(true);
            }
            commit!();
        }
        "success"
    }

    #[mutator]
    fn delete(&self, x: i64) -> bool {
        loop {
            let before = *lock(&self.commits);
            if let Some(mut slot) = self.find(x) {
                let mut commits = lock(&self.commits);
                *commits += 1;
                commit_block! {
                    slot.valid.set(false);
                    slot.element.set(None);
                    commit!();
                }
                return true;
            }
            let commits = lock(&self.commits);
            if *commits == before {
                commit!();
                return false;
            }
        }
    }

    #[observer]
    fn lookup(&self, x: i64) -> bool {
        loop {
            let before = *lock(&self.commits);
            let found = self.find(x).is_some();
            if found || *lock(&self.commits) == before {
                return found;
            }
        }
    }

    /// A slot with this element, locked.
    fn find(&self, x: i64) -> Option<MutexGuard<'_, Slot>> {
        self.slots.iter().map(lock).find(|slot| *slot.valid && *slot.element == Some(x))
    }
}

impl<const BUG: bool> Subject for MultisetVector<BUG> {
    type Spec = Multiset;
    type Replica = SlotsReplica;
    const SPEC: Multiset = Multiset;

    fn new(harness: &Harness) -> Self {
        MultisetVector::new((2 * harness.keys).min(MOST_SLOTS))
    }

    fn operate(&self, choice: &mut Choice) {
        match choice.below(6) {
            0 => drop(self.insert(choice.key())),
            1 | 2 => drop(self.insert_pair(choice.key(), choice.key())),
            3 | 4 => drop(self.delete(choice.key())),
            _ => drop(self.lookup(choice.key())),
        }
    }
}
