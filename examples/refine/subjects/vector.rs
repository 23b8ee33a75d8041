//! `java.util.Vector`: its `lastIndexOf` took the length, and then the lock.

use std::sync::Mutex;

use foresee::attr::{mutator, observer};
use foresee::refine::models::Sequence;
use foresee::refine::structures::VectorReplica;
use foresee::refine::{Choice, Harness, Value};
use foresee::{commit, commit_block, log_write};

use super::{Subject, lock};

#[derive(Default)]
pub(crate) struct Vector<const BUG: bool> {
    elements: Mutex<Vec<i64>>,
}

impl<const BUG: bool> Vector<BUG> {
    #[mutator]
    fn add(&self, x: i64) -> &'static str {
        let mut elements = lock(&self.elements);
        commit_block! {
            log_write!(["elem[{}]", elements.len()], x);
            elements.push(x);
            log_write!("size", elements.len());
            commit!();
        }
        "ok"
    }

    #[mutator]
    fn clear(&self) -> &'static str {
        let mut elements = lock(&self.elements);
        commit_block! {
            elements.clear();
            log_write!("size", 0);
            commit!();
        }
        "ok"
    }

    #[observer("lastIndexOf")]
    fn last_index_of(&self, x: i64) -> Value {
        let length = lock(&self.elements).len();
        if BUG {
            std::thread::yield_now();
        }
        let elements = lock(&self.elements);
        let length = if BUG { length } else { elements.len() };
        for index in (0..length).rev() {
            match elements.get(index) {
                None => return Value::from("IndexOutOfBounds"),
                Some(element) if *element == x => return Value::from(index),
                Some(_) => {}
            }
        }
        Value::from(-1)
    }

    #[observer]
    fn size(&self) -> usize {
        lock(&self.elements).len()
    }
}

impl<const BUG: bool> Subject for Vector<BUG> {
    type Spec = Sequence;
    type Replica = VectorReplica;
    const SPEC: Sequence = Sequence;

    fn new(_harness: &Harness) -> Self {
        Vector::default()
    }

    fn operate(&self, choice: &mut Choice) {
        match choice.below(10) {
            0..5 => drop(self.add(choice.key())),
            5 => drop(self.clear()),
            6 => drop(self.size()),
            _ => drop(self.last_index_of(choice.key())),
        }
    }
}
