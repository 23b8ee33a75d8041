//! What a file system is: files of blocks. `create(f)`: whether it was absent; `unlink(f)`: whether it was there; `write(f, block, words)`: "ok", or "none" if
//! there is no such file; `read(f, block)`: words, or "none" if there is no such file or nothing was written there; `sync()`: "ok". Where
//! blocks are, in memory or on the disk, nobody sees.

use std::collections::BTreeMap;

use smallvec::smallvec;

use crate::spec::{Keys, Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// Files of blocks. Its view: each file with the list of its blocks that were written, each with its words.
#[derive(Clone, Debug, Default)]
pub struct Files;

/// An operation of a file system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FilesOp {
    /// Makes an empty file.
    Create(Value),
    /// Removes a file with all that is in it.
    Unlink(Value),
    /// Writes a block of a file.
    Write(Value, i64, Value),
    /// Reads a block of a file.
    Read(Value, i64),
    /// Writes all that is in memory alone to the disk.
    Sync,
}

/// The blocks of a file.
pub type Blocks = BTreeMap<i64, Value>;

impl Specification for Files {
    type Op = FilesOp;
    type State = BTreeMap<Value, Blocks>;

    fn decode(&self, method: &str, args: &[Value]) -> Result<FilesOp, WrongCall> {
        Ok(match (method, args) {
            ("create", [file]) => FilesOp::Create(file.clone()),
            ("unlink", [file]) => FilesOp::Unlink(file.clone()),
            ("write", [file, Value::Int(block), words @ Value::List(_)]) => {
                FilesOp::Write(file.clone(), *block, words.clone())
            }
            ("read", [file, Value::Int(block)]) => FilesOp::Read(file.clone(), *block),
            ("sync", []) => FilesOp::Sync,
            _ => {
                let expected = "create(f), unlink(f), write(f, block, words), read(f, block) or sync()";
                return Err(WrongCall::new("files", expected, method, args));
            }
        })
    }

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn is_observer(&self, op: &FilesOp) -> bool {
        matches!(op, FilesOp::Read(..))
    }

    fn is_pure(&self, op: &FilesOp, ret: &Value) -> bool {
        matches!(op, FilesOp::Read(..) | FilesOp::Sync) || *ret == Value::Bool(false) || ret.is_text("none")
    }

    fn apply(&self, state: &mut Self::State, op: &FilesOp, ret: &Value) -> Outcome {
        if !self.permits(state, op, ret) {
            return Outcome::Refused;
        }
        if self.is_pure(op, ret) {
            return Outcome::Unchanged;
        }
        match op {
            FilesOp::Create(file) => drop(state.insert(file.clone(), Blocks::new())),
            FilesOp::Unlink(file) => drop(state.remove(file)),
            FilesOp::Write(file, block, words) => {
                let blocks = state.entry(file.clone()).or_default();
                if blocks.insert(*block, words.clone()).as_ref() == Some(words) {
                    return Outcome::Unchanged;
                }
            }
            FilesOp::Read(..) | FilesOp::Sync => return Outcome::Unchanged,
        }
        Outcome::Changed
    }

    fn returns(&self, state: &Self::State, op: &FilesOp) -> Vec<Value> {
        vec![match op {
            FilesOp::Create(file) => Value::Bool(!state.contains_key(file)),
            FilesOp::Unlink(file) => Value::Bool(state.contains_key(file)),
            FilesOp::Write(file, ..) => Value::from(if state.contains_key(file) { "ok" } else { "none" }),
            FilesOp::Read(file, block) => {
                let words = state.get(file).and_then(|blocks| blocks.get(block));
                words.cloned().unwrap_or_else(|| Value::from("none"))
            }
            FilesOp::Sync => Value::from("ok"),
        }]
    }

    fn keys(&self, op: &FilesOp) -> Option<Keys> {
        Some(match op {
            FilesOp::Create(file)
            | FilesOp::Unlink(file)
            | FilesOp::Write(file, ..)
            | FilesOp::Read(file, _) => smallvec![file.clone()],
            FilesOp::Sync => smallvec![],
        })
    }

    fn weight(&self, state: &Self::State) -> usize {
        let weight = |blocks: &Blocks| blocks.values().map(|words| 48 + words.weight()).sum::<usize>();
        state.iter().map(|(file, blocks)| 64 + file.weight() + weight(blocks)).sum()
    }
}

impl Viewed for Files {
    fn part(&self, state: &Self::State, part: &Value) -> Option<Value> {
        state.get(part).map(contents)
    }

    fn parts(&self, state: &Self::State) -> Vec<Value> {
        state.keys().cloned().collect()
    }

    fn touched(&self, _state: &Self::State, op: &FilesOp) -> Touched {
        match op {
            FilesOp::Create(file) | FilesOp::Unlink(file) | FilesOp::Write(file, ..) => {
                Touched::Parts(vec![file.clone()])
            }
            FilesOp::Read(..) | FilesOp::Sync => Touched::Parts(Vec::new()),
        }
    }
}

/// A file as a part of a view.
pub(crate) fn contents(blocks: &Blocks) -> Value {
    blocks.iter().map(|(block, words)| (*block, words.clone())).collect::<Vec<_>>().into()
}
