//! The states of a specification as numbers, and the steps between them, each computed once.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::budget::{Budget, Exhausted};
use super::input::Input;
use crate::spec::{Outcome, Specification};

/// A state that was met.
pub(crate) type StateId = u32;

/// Operations with the same arguments and result do the same: they are one kind.
pub(crate) type OpKind = u32;

/// What it takes to remember where a kind of operation leads, while tables grow.
const BYTES_OF_STEPS: usize = 112;

/// Where a kind of operation leads from a state: nowhere, or to one state if the result is known, to several if not.
pub(crate) type Steps = SmallVec<[StateId; 1]>;

pub(crate) struct States<'a, S: Specification> {
    input: &'a Input<'a, S>,
    states: Vec<Rc<S::State>>,
    ids: FxHashMap<Rc<S::State>, StateId>,
    /// Where each kind of operation leads, as a place in `all_steps`.
    known: FxHashMap<(StateId, OpKind), u32>,
    all_steps: Vec<Steps>,
    /// The kind of each operation, and one operation of each kind.
    kinds: FxHashMap<usize, OpKind>,
    examples: Vec<usize>,
    bytes: usize,
}

impl<'a, S: Specification> States<'a, S> {
    pub(crate) fn new(input: &'a Input<'a, S>, ops: &[usize]) -> Self {
        let mut by_meaning = FxHashMap::default();
        let (mut kinds, mut examples) = (FxHashMap::default(), Vec::new());
        for &op in ops {
            let next = examples.len() as OpKind;
            let kind = *by_meaning.entry((&input.ops[op], input.ret(op))).or_insert(next);
            if kind == next {
                examples.push(op);
            }
            kinds.insert(op, kind);
        }
        let initial = Rc::new(input.spec.initial());
        let ids = FxHashMap::from_iter([(initial.clone(), 0)]);
        let (states, known) = (vec![initial], FxHashMap::default());
        States { input, states, ids, known, all_steps: Vec::new(), kinds, examples, bytes: 0 }
    }

    pub(crate) fn kind(&self, op: usize) -> OpKind {
        self.kinds[&op]
    }

    /// How many bytes were taken from the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where an operation of this kind leads.
    pub(crate) fn steps(
        &mut self,
        from: StateId,
        kind: OpKind,
        budget: &mut Budget,
    ) -> Result<&Steps, Exhausted> {
        if let Some(place) = self.known.get(&(from, kind)) {
            return Ok(&self.all_steps[*place as usize]);
        }
        let steps = self.compute(from, kind, budget)?;
        budget.spend(BYTES_OF_STEPS)?;
        self.bytes += BYTES_OF_STEPS;
        let place = self.all_steps.len();
        self.known.insert((from, kind), place as u32);
        self.all_steps.push(steps);
        Ok(&self.all_steps[place])
    }

    fn compute(&mut self, from: StateId, kind: OpKind, budget: &mut Budget) -> Result<Steps, Exhausted> {
        let example = self.examples[kind as usize];
        let (input, op) = (self.input, &self.input.ops[example]);
        let before = self.states[from as usize].clone();
        budget.has_room(input.spec.room(&before, op))?;
        let mut steps = Steps::new();
        let mut take = |states: &mut Self, ret| {
            let mut state = (*before).clone();
            match input.spec.apply(&mut state, op, ret) {
                Outcome::Refused => {}
                Outcome::Unchanged => steps.push(from),
                Outcome::Changed => steps.push(states.id(state, budget)?),
            }
            Ok(())
        };
        match input.ret(example) {
            Some(ret) => take(self, ret)?,
            None => input.spec.returns(&before, op).iter().try_for_each(|ret| take(self, ret))?,
        }
        Ok(steps)
    }

    fn id(&mut self, state: S::State, budget: &mut Budget) -> Result<StateId, Exhausted> {
        if let Some(id) = self.ids.get(&state) {
            return Ok(*id);
        }
        let bytes = 128 + self.input.spec.weight(&state);
        budget.spend(bytes)?;
        self.bytes += bytes;
        let (id, state) = (self.states.len() as StateId, Rc::new(state));
        self.states.push(state.clone());
        self.ids.insert(state, id);
        Ok(id)
    }
}
