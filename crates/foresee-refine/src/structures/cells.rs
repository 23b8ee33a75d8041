//! Variables that are themselves the parts of the view: `buf[b]`, a text for each buffer.

use rustc_hash::FxHashMap;

use super::Target;
use crate::models::buffers::NAMES;
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

/// The texts of the two buffers.
#[derive(Clone, Debug)]
pub struct CellsReplica {
    texts: FxHashMap<Value, Value>,
    changed: Vec<Value>,
}

impl Default for CellsReplica {
    fn default() -> CellsReplica {
        let texts = NAMES.map(|name| (Value::from(name), Value::from("")));
        CellsReplica { texts: texts.into_iter().collect(), changed: Vec::new() }
    }
}

impl Replica for CellsReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let wrong = || WrongWrite::new(target, "buf[a] or buf[b], a text");
        let Target { name: "buf", indices, field: "" } = Target::of(target) else { return Err(wrong()) };
        let [name] = indices[..] else { return Err(wrong()) };
        let (name, true) = (Value::from(name), value.as_text().is_some()) else { return Err(wrong()) };
        match self.texts.get_mut(&name) {
            Some(text) => *text = value.clone(),
            None => return Err(wrong()),
        }
        self.changed.push(name);
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        self.texts.get(part).cloned()
    }

    fn parts(&self) -> Vec<Value> {
        self.texts.keys().cloned().collect()
    }
}
