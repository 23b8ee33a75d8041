//! `java.util.Vector`: its `lastIndexOf` took the length, and then the lock.

use std::sync::Mutex;

use foresee::attr::{mutator, observer};
use foresee::refine::models::Sequence;
use foresee::refine::structures::VectorReplica;
use foresee::refine::{Harness, Report, Value};
use foresee::{commit, commit_block, log_write};

use super::{Error, lock};

#[derive(Default)]
struct Vector<const BUG: bool> {
    elements: Mutex<Vec<i64>>,
}

impl<const BUG: bool> Vector<BUG> {
    #[mutator]
    fn add(&self, x: i64) -> &'static str {
        let mut elements = lock(&self.elements);
        commit_block! {
            log_write!(format!("elem[{}]", elements.len()), x);
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

pub(super) fn test(harness: &Harness, bug: bool) -> Result<Report, Error> {
    if bug { run::<true>(harness) } else { run::<false>(harness) }
}

fn run<const BUG: bool>(harness: &Harness) -> Result<Report, Error> {
    let new = Vector::<BUG>::default;
    Ok(harness.run::<_, VectorReplica, _>(Sequence, new, |vector, choice| match choice.below(10) {
        0..5 => drop(vector.add(choice.key())),
        5 => drop(vector.clear()),
        6 => drop(vector.size()),
        _ => drop(vector.last_index_of(choice.key())),
    })?)
}
