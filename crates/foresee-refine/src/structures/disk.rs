//! Files whose blocks are buffers in memory, as long as they are dirty, or places on a disk: `file[f]` (whether it is there), `dirty[f][b]`,
//! `buffer[f][b][i]`, `place[f][b]` (a number, or nil), `disk[p][i]`.
//!
//! The invariant: no two blocks have the same place, also while their buffers are dirty: a place is given up only when it is free.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{Target, note};
use crate::models::files::{Blocks, contents};
use crate::refine::{Replica, WrongWrite};
use crate::value::Value;

#[derive(Clone, Debug, Default)]
struct Block {
    is_dirty: bool,
    buffer: BTreeMap<u32, Value>,
    place: Option<i64>,
}

#[derive(Clone, Debug, Default)]
struct File {
    is_there: bool,
    blocks: BTreeMap<i64, Block>,
}

/// The files of a file system that writes buffers to the disk when its arm passes.
#[derive(Clone, Debug, Default)]
pub struct DiskReplica {
    files: FxHashMap<SmolStr, File>,
    disk: FxHashMap<i64, BTreeMap<u32, Value>>,
    /// The blocks at each place.
    owners: FxHashMap<i64, BTreeSet<(SmolStr, i64)>>,
    /// Places with more than one.
    shared: BTreeSet<i64>,
    changed: Vec<Value>,
}

impl DiskReplica {
    fn move_block(&mut self, file: &SmolStr, block: i64, place: Option<i64>) {
        let known = self.files.entry(file.clone()).or_default().blocks.entry(block).or_default();
        let old = std::mem::replace(&mut known.place, place);
        for (place, is_new) in old.map(|old| (old, false)).into_iter().chain(place.map(|new| (new, true))) {
            let owners = self.owners.entry(place).or_default();
            match is_new {
                true => owners.insert((file.clone(), block)),
                false => owners.remove(&(file.clone(), block)),
            };
            match owners.len() > 1 {
                true => self.shared.insert(place),
                false => self.shared.remove(&place),
            };
        }
    }

    fn words(&self, block: &Block) -> Option<Value> {
        let words = match block.is_dirty {
            true => &block.buffer,
            false => self.disk.get(&block.place?)?,
        };
        Some(Value::List(words.values().cloned().collect()))
    }
}

impl Replica for DiskReplica {
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
        let expected = "file[f], dirty[f][b] (true or false), buffer[f][b][i], place[f][b] (a number or nil) or disk[p][i]";
        let wrong = || WrongWrite::new(target, expected);
        let Target { name, indices, field: "" } = Target::of(target) else { return Err(wrong()) };
        let number = |text: &str| text.parse::<i64>().map_err(|_| wrong());
        let word = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        if let ("disk", [place, index]) = (name, &indices[..]) {
            let place = number(place)?;
            self.disk.entry(place).or_default().insert(word(index)?, value.clone());
            let owners = self.owners.get(&place).into_iter().flatten();
            owners.for_each(|(file, _)| note(&mut self.changed, file));
            return Ok(());
        }
        let Some(key) = indices.first().map(SmolStr::new) else { return Err(wrong()) };
        match (name, &indices[1..], value) {
            ("file", [], Value::Bool(it)) => self.files.entry(key.clone()).or_default().is_there = *it,
            ("place", [block], Value::Int(place)) => self.move_block(&key, number(block)?, Some(*place)),
            ("place", [block], Value::Null) => self.move_block(&key, number(block)?, None),
            ("dirty", [block], Value::Bool(it)) => {
                let file = self.files.entry(key.clone()).or_default();
                file.blocks.entry(number(block)?).or_default().is_dirty = *it;
            }
            ("buffer", [block, index], value) => {
                let file = self.files.entry(key.clone()).or_default();
                let block = file.blocks.entry(number(block)?).or_default();
                block.buffer.insert(word(index)?, value.clone());
            }
            _ => return Err(wrong()),
        }
        note(&mut self.changed, &key);
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        let file = self.files.get(part.as_text()?).filter(|file| file.is_there)?;
        let blocks = file.blocks.iter().filter_map(|(number, block)| Some((*number, self.words(block)?)));
        Some(contents(&blocks.collect::<Blocks>()))
    }

    fn parts(&self) -> Vec<Value> {
        let there = self.files.iter().filter(|(_, file)| file.is_there);
        there.map(|(name, _)| Value::Text(name.clone())).collect()
    }

    fn broken(&self) -> Option<String> {
        let place = self.shared.first()?;
        let owners = self.owners.get(place)?.iter().map(|(file, block)| format!("{file}[{block}]"));
        Some(format!("place {place} has several blocks: {}", owners.collect::<Vec<_>>().join(", ")))
    }
}
