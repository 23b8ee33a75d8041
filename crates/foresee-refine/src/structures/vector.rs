//! A growing vector: `size`, `elem[i]`. Its view: the elements below the size, and the size.
//!
//! Of a new size the elements that were ever written are compared again. One that never was is compared when the specification puts something there.

use std::collections::BTreeMap;

use super::Target;
use crate::models::vector::SIZE;
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

/// The elements of a vector.
#[derive(Clone, Debug, Default)]
pub struct VectorReplica {
    size: i64,
    elements: BTreeMap<i64, Value>,
    changed: Vec<Value>,
}

impl Replica for VectorReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let wrong = || WrongWrite::new(target, "size, a number from 0, or elem[i]");
        match Target::of(target) {
            Target { name: "size", field: "", indices } if indices.is_empty() => {
                let size = value.as_int().filter(|size| *size >= 0).ok_or_else(wrong)?;
                let old = std::mem::replace(&mut self.size, size);
                let between = self.elements.range(old.min(size)..old.max(size));
                self.changed.extend(between.map(|(index, _)| Value::Int(*index)));
                self.changed.push(Value::from(SIZE));
            }
            Target { name: "elem", field: "", indices } if indices.len() == 1 => {
                let index = indices[0].parse().map_err(|_| wrong())?;
                self.elements.insert(index, value.clone());
                self.changed.push(Value::Int(index));
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        match part {
            Value::Int(index) if (0..self.size).contains(index) => {
                Some(self.elements.get(index).cloned().unwrap_or_default())
            }
            _ => Some(Value::Int(self.size)).filter(|_| part.is_text(SIZE)),
        }
    }

    fn parts(&self) -> Vec<Value> {
        let written = self.elements.range(0..self.size).map(|(index, _)| Value::Int(*index));
        written.chain([Value::from(SIZE)]).collect()
    }
}
