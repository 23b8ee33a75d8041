//! The multiset in an array of the paper on refinement checking (VYRD, PLDI 2005), as a program to be recorded; `multiset.c` is the same in C.
//!
//!     cargo foresee build --example multiset --features refine
//!     foresee record -o run.ft -- target/foresee/x86_64-unknown-linux-gnu/debug/examples/multiset bug
//!     foresee refine --model multiset run.ft
//!
//! Each slot has a lock. `insert_pair` reserves two slots and then makes both elements valid. With the bug it does so one after the other, each
//! under the lock of its slot alone: between the two, others see half of a pair. The run itself is fine, as the threads hardly ever meet;
//! foresee finds the run in which one comes in between.

use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use foresee::attr::mutator;
use foresee::{Logged, commit, commit_block};

struct Slot {
    element: Logged<Option<i64>>,
    valid: Logged<bool>,
}

/// The multiset as a thread has it: with the slots that it uses.
struct Half<'a> {
    slots: &'a [Mutex<Slot>],
    has_bug: bool,
}

impl Half<'_> {
    fn slot(&self, index: usize) -> MutexGuard<'_, Slot> {
        self.slots[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a slot for an element.
    fn reserve(&self, x: i64) -> Option<usize> {
        (0..self.slots.len()).find(|index| {
            let mut slot = self.slot(*index);
            let is_free = slot.element.is_none();
            if is_free {
                slot.element.set(Some(x));
            }
            is_free
        })
    }

    #[mutator]
    fn insert(&self, x: i64) -> &'static str {
        let Some(index) = self.reserve(x) else {
            commit!();
            return "failure";
        };
        let mut slot = self.slot(index);
        commit_block! {
            slot.valid.set(true);
            commit!();
        }
        "success"
    }

    #[mutator("insertPair")]
    fn insert_pair(&self, x: i64, y: i64) -> &'static str {
        let (Some(i), Some(j)) = (self.reserve(x), self.reserve(y)) else {
            commit!();
            return "failure";
        };
        if self.has_bug {
            self.slot(i).valid.set(true);
            let mut second = self.slot(j);
            second.valid.set(true);
            commit!();
            return "success";
        }
        // Slots are found from the front, so the locks are always taken in this order.
        let (mut first, mut second) = (self.slot(i), self.slot(j));
        commit_block! {
            first.valid.set(true);
            second.valid.set(true);
            commit!();
        }
        "success"
    }
}

fn main() {
    let has_bug = std::env::args().any(|word| word == "bug");
    let slot = |index| {
        Mutex::new(Slot {
            element: Logged::new(|| format!("A[{index}].elt"), None),
            valid: Logged::new(|| format!("A[{index}].valid"), false),
        })
    };
    let slots: Vec<Mutex<Slot>> = (0..8).map(slot).collect();
    let (anns, bobs) = slots.split_at(4);
    // A scope that sees Ann's thread end before it starts Bob's has him wait for her, in this run and in all that follow from it.
    let morning = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            morning.wait();
            Half { slots: anns, has_bug }.insert_pair(5, 7)
        });
        scope.spawn(|| {
            morning.wait();
            thread::sleep(Duration::from_millis(100)); // Bob has his coffee first
            Half { slots: bobs, has_bug }.insert(3)
        });
    });
    println!("three elements");
}
