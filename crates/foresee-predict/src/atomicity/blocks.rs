//! What begins and ends an atomic block.
//!
//! An annotation (`BlockBegin`, `BlockEnd`, or those of a commit block, which refinement takes for one step), or entering and leaving a function that the configuration names:
//! `atomic = ["Bank::transfer"]`. Blocks nest, and only the outermost counts. An end without a begin is ignored.

use foresee_trace::{Names, Op, StrId};
use foresee_witness::atomic::AtomicFunctions;

/// The patterns applied to the names of a trace, each name once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    functions: AtomicFunctions,
    /// By the id of the name.
    is_atomic: Vec<bool>,
}

/// An end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    Begin(StrId),
    End,
}

impl Blocks {
    pub(crate) fn new(functions: AtomicFunctions) -> Self {
        Blocks { functions, is_atomic: Vec::new() }
    }

    /// Takes note of names that are new.
    pub(crate) fn learn(&mut self, names: &Names) {
        if self.functions.is_empty() {
            return;
        }
        let new = self.is_atomic.len()..names.string_count();
        self.is_atomic.extend(new.map(|id| self.functions.matches(names.str(StrId(id as u32)))));
    }

    pub(crate) fn is_atomic(&self, function: StrId) -> bool {
        self.is_atomic.get(function.index()).copied().unwrap_or(false)
    }

    /// Whether the operation begins or ends a block.
    #[inline]
    pub(crate) fn boundary(&self, op: &Op<'_>) -> Option<Boundary> {
        match *op {
            Op::BlockBegin { name } | Op::CommitBegin { name } => Some(Boundary::Begin(name)),
            Op::BlockEnd { .. } | Op::CommitEnd { .. } => Some(Boundary::End),
            Op::Enter { function } if self.is_atomic(function) => Some(Boundary::Begin(function)),
            Op::Exit { function } if self.is_atomic(function) => Some(Boundary::End),
            _ => None,
        }
    }
}
