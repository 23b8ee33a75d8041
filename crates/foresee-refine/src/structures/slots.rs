//! The paper's multiset in an array: `A[i].elt`, `A[i].valid`. Its view: how often each element is in a valid slot.

use rustc_hash::FxHashMap;

use super::Target;
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

#[derive(Clone, Debug, Default)]
struct Slot {
    element: Value,
    is_valid: bool,
}

impl Slot {
    fn shows(&self) -> Option<&Value> {
        Some(&self.element).filter(|element| self.is_valid && **element != Value::Null)
    }
}

/// The slots of a multiset.
#[derive(Clone, Debug, Default)]
pub struct SlotsReplica {
    slots: FxHashMap<String, Slot>,
    counts: FxHashMap<Value, u64>,
    changed: Vec<Value>,
}

impl Replica for SlotsReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let Target { name: "A", indices, field } = Target::of(target) else { return Err(wrong(target)) };
        let [index] = indices[..] else { return Err(wrong(target)) };
        if !self.slots.contains_key(index) {
            self.slots.insert(index.to_owned(), Slot::default());
        }
        let Some(slot) = self.slots.get_mut(index) else { return Ok(()) };
        let before = slot.shows().cloned();
        match (field, value) {
            ("elt", element) => slot.element = element.clone(),
            ("valid", Value::Bool(valid)) => slot.is_valid = *valid,
            ("valid", Value::Int(valid)) => slot.is_valid = *valid != 0,
            ("valid", Value::Null) => slot.is_valid = false,
            _ => return Err(wrong(target)),
        }
        let after = slot.shows().cloned();
        if before == after {
            return Ok(());
        }
        if let Some(gone) = before {
            if let Some(count) = self.counts.get_mut(&gone) {
                *count -= 1;
            }
            self.changed.push(gone);
        }
        if let Some(new) = after {
            *self.counts.entry(new.clone()).or_default() += 1;
            self.changed.push(new);
        }
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        self.counts.get(part).filter(|count| **count > 0).map(|count| Value::from(*count))
    }

    fn parts(&self) -> Vec<Value> {
        self.counts.iter().filter(|(_, count)| **count > 0).map(|(element, _)| element.clone()).collect()
    }
}

fn wrong(target: &str) -> WrongWrite {
    WrongWrite::new(target, "A[i].elt or A[i].valid (true or false)")
}
