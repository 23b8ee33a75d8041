//! A priority queue: `insert(v)`: "ok"; `delete_min()`, `peek_min()`: the smallest, or "empty". Equal values may be in it several times.

use crate::models::bag::Bag;
use crate::models::line::removal;
use crate::spec::{Access, Outcome, Removal, Shape, Specification, Viewed, WrongCall};
use crate::value::Value;

/// A priority queue.
#[derive(Clone, Debug, Default)]
pub struct PriorityQueue;

/// An operation of a priority queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PriorityQueueOp {
    /// Inserts this value.
    Insert(Value),
    /// Removes the smallest.
    DeleteMin,
    /// Looks at the smallest.
    PeekMin,
}

impl Specification for PriorityQueue {
    type Op = PriorityQueueOp;
    type State = Bag;

    fn decode(&self, method: &str, args: &[Value]) -> Result<PriorityQueueOp, WrongCall> {
        Ok(match (method, args) {
            ("insert", [value]) if !value.is_text("empty") => PriorityQueueOp::Insert(value.clone()),
            ("delete_min", []) => PriorityQueueOp::DeleteMin,
            ("peek_min", []) => PriorityQueueOp::PeekMin,
            _ => {
                let expected = "insert(v), delete_min() or peek_min(), where no v is \"empty\"";
                return Err(WrongCall::new("pqueue", expected, method, args));
            }
        })
    }

    fn initial(&self) -> Bag {
        Bag::default()
    }

    fn is_observer(&self, op: &PriorityQueueOp) -> bool {
        *op == PriorityQueueOp::PeekMin
    }

    fn is_pure(&self, op: &PriorityQueueOp, ret: &Value) -> bool {
        match op {
            PriorityQueueOp::PeekMin => true,
            PriorityQueueOp::DeleteMin => ret.is_text("empty"),
            PriorityQueueOp::Insert(_) => false,
        }
    }

    fn apply(&self, state: &mut Bag, op: &PriorityQueueOp, ret: &Value) -> Outcome {
        match (op, state.first()) {
            (PriorityQueueOp::Insert(value), _) if ret.is_text("ok") => {
                state.insert(value.clone());
                Outcome::Changed
            }
            (PriorityQueueOp::Insert(_), _) => Outcome::Refused,
            (_, None) => Outcome::unchanged_if(ret.is_text("empty")),
            (PriorityQueueOp::PeekMin, Some(first)) => Outcome::unchanged_if(first == ret),
            (PriorityQueueOp::DeleteMin, Some(first)) if first == ret => {
                state.remove(ret);
                Outcome::Changed
            }
            (PriorityQueueOp::DeleteMin, _) => Outcome::Refused,
        }
    }

    fn returns(&self, state: &Bag, op: &PriorityQueueOp) -> Vec<Value> {
        vec![match op {
            PriorityQueueOp::Insert(_) => Value::from("ok"),
            _ => state.first().cloned().unwrap_or_else(|| Value::from("empty")),
        }]
    }

    fn shape(&self) -> Shape {
        Shape::PriorityQueue
    }

    fn access(&self, op: &PriorityQueueOp, ret: Option<&Value>) -> Access {
        match (op, ret) {
            (PriorityQueueOp::Insert(value), None) => Access::Put(value.clone()),
            (PriorityQueueOp::Insert(value), Some(ok)) if ok.is_text("ok") => Access::Put(value.clone()),
            (PriorityQueueOp::Insert(_), Some(_)) => Access::Other,
            (PriorityQueueOp::DeleteMin, None) => Access::TakeUnknown,
            (PriorityQueueOp::PeekMin, None) => Access::Nothing,
            (_, Some(ret)) if ret.is_text("empty") => Access::SeeNothing,
            (PriorityQueueOp::DeleteMin, Some(value)) => Access::Take(value.clone()),
            (PriorityQueueOp::PeekMin, Some(value)) => Access::See(value.clone()),
        }
    }

    fn removal(&self, op: &PriorityQueueOp, ret: Option<&Value>) -> Removal {
        removal(self.access(op, ret))
    }

    fn weight(&self, state: &Bag) -> usize {
        state.weight()
    }
}

impl Viewed for PriorityQueue {}
