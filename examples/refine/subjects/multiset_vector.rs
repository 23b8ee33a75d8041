//! The paper's multiset in an array of slots (figures 2, 4 and 5).
//!
//! Lookups and deletes look at one slot after the other. One that finds nothing may be wrong in the order of commits although some order
//! explains it: such a violation is one of the commit points.

use std::sync::Mutex;

use foresee::attr::{mutator, observer};
use foresee::refine::models::Multiset;
use foresee::refine::structures::SlotsReplica;
use foresee::refine::{Harness, Report};
use foresee::{Logged, commit, commit_block};

use super::{Error, lock};

struct Slot {
    element: Logged<Option<i64>>,
    valid: Logged<bool>,
}

struct MultisetVector<const BUG: bool> {
    slots: Vec<Mutex<Slot>>,
}

impl<const BUG: bool> MultisetVector<BUG> {
    fn new(slots: usize) -> Self {
        let slot = |index| {
            Mutex::new(Slot {
                element: Logged::new(|| format!("A[{index}].elt"), None),
                valid: Logged::new(|| format!("A[{index}].valid"), false),
            })
        };
        MultisetVector { slots: (0..slots).map(slot).collect() }
    }

    /// Reserves a slot for an element.
    fn find_slot(&self, x: i64) -> Option<usize> {
        for (index, slot) in self.slots.iter().enumerate() {
            if BUG && lock(slot).element.is_some() {
                continue;
            }
            // With the bug another thread may have taken the slot since.
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
        let second = (i != j).then(|| lock(&self.slots[i.max(j)]));
        commit_block! {
            first.valid.set(true);
            if let Some(mut second) = second {
                second.valid.set(true);
            }
            commit!();
        }
        "success"
    }

    #[mutator]
    fn delete(&self, x: i64) -> bool {
        for slot in &self.slots {
            let mut slot = lock(slot);
            if *slot.valid && *slot.element == Some(x) {
                commit_block! {
                    slot.valid.set(false);
                    slot.element.set(None);
                    commit!();
                }
                return true;
            }
        }
        commit!();
        false
    }

    #[observer]
    fn lookup(&self, x: i64) -> bool {
        self.slots.iter().any(|slot| {
            let slot = lock(slot);
            *slot.valid && *slot.element == Some(x)
        })
    }
}

pub(super) fn test(harness: &Harness, bug: bool) -> Result<Report, Error> {
    if bug { run::<true>(harness) } else { run::<false>(harness) }
}

fn run<const BUG: bool>(harness: &Harness) -> Result<Report, Error> {
    let new = || MultisetVector::<BUG>::new(2 * harness.keys);
    Ok(harness.run::<_, SlotsReplica, _>(Multiset, new, |set, choice| match choice.below(6) {
        0 => drop(set.insert(choice.key())),
        1 | 2 => drop(set.insert_pair(choice.key(), choice.key())),
        3 | 4 => drop(set.delete(choice.key())),
        _ => drop(set.lookup(choice.key())),
    })?)
}
