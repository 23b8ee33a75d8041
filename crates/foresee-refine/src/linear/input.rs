//! A history as the procedures see it: operations of one specification, and when they began and ended.

use crate::history::{History, NEVER};
use crate::spec::{Specification, WrongCall};
use crate::value::Value;

/// A history whose operations are understood.
pub(crate) struct Input<'a, S: Specification> {
    pub(crate) spec: &'a S,
    pub(crate) history: &'a History,
    pub(crate) ops: Vec<S::Op>,
}

impl<'a, S: Specification> Input<'a, S> {
    pub(crate) fn new(spec: &'a S, history: &'a History) -> Result<Self, WrongCall> {
        let ops =
            history.ops().iter().map(|op| spec.decode(&op.method, &op.args)).collect::<Result<_, _>>()?;
        Ok(Input { spec, history, ops })
    }

    pub(crate) fn call(&self, op: usize) -> u32 {
        self.history.call(op)
    }

    /// [`NEVER`] if it does not.
    pub(crate) fn returned(&self, op: usize) -> u32 {
        self.history.returned(op)
    }

    pub(crate) fn is_pending(&self, op: usize) -> bool {
        self.returned(op) == NEVER
    }

    pub(crate) fn ret(&self, op: usize) -> Option<&Value> {
        self.history.ops()[op].returned.as_ref().map(|(_, ret)| ret)
    }
}
