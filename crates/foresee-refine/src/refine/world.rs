//! One run of the specification beside the log, with what it says of the operations under way.

use rustc_hash::FxHashSet;

use super::replica::Replica;
use super::violation::Difference;
use crate::log::ThreadId;
use crate::spec::Viewed;
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

    /// Adds a world of another part of the object, which is independent of this one.
    pub(super) fn join(&mut self, spec: &S, other: &World<S>) {
        spec.join(&mut self.state, &other.state);
        self.satisfied.extend(&other.satisfied);
        self.differing.extend(other.differing.iter().cloned());
    }

    /// All parts of the view that this world may have something to say of.
    pub(super) fn parts(&self, spec: &S) -> Vec<Value> {
        let mut parts = spec.parts(&self.state);
        parts.extend(self.differing.iter().cloned());
        parts
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
