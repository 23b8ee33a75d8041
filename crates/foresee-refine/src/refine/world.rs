//! One run of the specification beside the log, with what it says of the operations under way.

use rustc_hash::FxHashSet;

use super::replica::Replica;
use super::violation::Difference;
use crate::log::ThreadId;
use crate::spec::{Touched, Viewed};
use crate::value::Value;

/// The specification's state under one choice of the results that the log does not have.
pub(super) struct World<S: Viewed> {
    pub(super) state: S::State,
    /// Threads whose observer has met a state that allows its result.
    pub(super) satisfied: FxHashSet<ThreadId>,
    /// The parts in which specification and implementation differ.
    differing: FxHashSet<Value>,
}

impl<S: Viewed> Clone for World<S> {
    fn clone(&self) -> Self {
        World {
            state: self.state.clone(),
            satisfied: self.satisfied.clone(),
            differing: self.differing.clone(),
        }
    }
}

impl<S: Viewed> World<S> {
    pub(super) fn new(state: S::State) -> Self {
        World { state, satisfied: FxHashSet::default(), differing: FxHashSet::default() }
    }

    /// Compares these parts again.
    pub(super) fn compare(&mut self, spec: &S, replica: &impl Replica, touched: &Touched) {
        match touched {
            Touched::Parts(parts) => {
                parts.iter().for_each(|part| self.compare_part(spec, part, replica.part(part).as_ref()));
            }
            Touched::All => {
                let parts = spec.parts(&self.state).into_iter().chain(replica.parts());
                let parts: FxHashSet<Value> = parts.chain(self.differing.drain()).collect();
                parts.iter().for_each(|part| self.compare_part(spec, part, replica.part(part).as_ref()));
            }
        }
    }

    /// Compares a part with what the implementation has there.
    pub(super) fn compare_part(&mut self, spec: &S, part: &Value, implementation: Option<&Value>) {
        if spec.part(&self.state, part).as_ref() == implementation {
            self.differing.remove(part);
        } else {
            self.differing.insert(part.clone());
        }
    }

    pub(super) fn views_agree(&self) -> bool {
        self.differing.is_empty()
    }

    /// The differences, in the order of parts.
    pub(super) fn differences(&self, spec: &S, replica: &impl Replica) -> Vec<Difference> {
        let mut parts: Vec<&Value> = self.differing.iter().collect();
        parts.sort_unstable();
        let difference = |part: &Value| Difference {
            part: part.clone(),
            implementation: replica.part(part),
            specification: spec.part(&self.state, part),
        };
        parts.into_iter().map(difference).collect()
    }
}
