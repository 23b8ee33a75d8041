//! A queue: `enq(v)`: "ok"; `deq()`. A stack: `push(v)`: "ok"; `pop()`. Both take a value, or "empty" exactly when empty.
//!
//! So "empty" is no value that can be put. They are one line of values that is put to at one end; they differ in the end that is taken from.

use std::collections::VecDeque;

use smallvec::smallvec;

use crate::spec::{Access, Outcome, Removal, Shape, Specification, Viewed, WrongCall};
use crate::value::Value;

/// First in, first out.
#[derive(Clone, Debug, Default)]
pub struct Queue;

/// Last in, first out.
#[derive(Clone, Debug, Default)]
pub struct Stack;

/// An operation of a queue or a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LineOp {
    /// Puts this value.
    Put(Value),
    /// Takes one.
    Take,
}

macro_rules! line {
    ($model:ident, $name:literal, $put:literal, $take:literal, $expected:literal, $next:ident, $remove:ident) => {
        impl Specification for $model {
            type Op = LineOp;
            type State = VecDeque<Value>;

            fn decode(&self, method: &str, args: &[Value]) -> Result<LineOp, WrongCall> {
                Ok(match (method, args) {
                    ($put, [value]) if !value.is_text("empty") => LineOp::Put(value.clone()),
                    ($take, []) => LineOp::Take,
                    _ => return Err(WrongCall::new($name, $expected, method, args)),
                })
            }

            fn initial(&self) -> VecDeque<Value> {
                VecDeque::new()
            }

            fn is_observer(&self, _op: &LineOp) -> bool {
                false
            }

            fn is_pure(&self, op: &LineOp, ret: &Value) -> bool {
                *op == LineOp::Take && ret.is_text("empty")
            }

            fn apply(&self, state: &mut VecDeque<Value>, op: &LineOp, ret: &Value) -> Outcome {
                match (op, state.$next()) {
                    (LineOp::Put(value), _) if ret.is_text("ok") => {
                        state.push_back(value.clone());
                        Outcome::Changed
                    }
                    (LineOp::Take, Some(next)) if next == ret => {
                        state.$remove();
                        Outcome::Changed
                    }
                    (LineOp::Take, None) => Outcome::unchanged_if(ret.is_text("empty")),
                    _ => Outcome::Refused,
                }
            }

            fn returns(&self, state: &VecDeque<Value>, op: &LineOp) -> Vec<Value> {
                vec![match op {
                    LineOp::Put(_) => Value::from("ok"),
                    LineOp::Take => state.$next().cloned().unwrap_or_else(|| Value::from("empty")),
                }]
            }

            fn shape(&self) -> Shape {
                Shape::$model
            }

            fn access(&self, op: &LineOp, ret: Option<&Value>) -> Access {
                access(op, ret)
            }

            fn removal(&self, op: &LineOp, ret: Option<&Value>) -> Removal {
                removal(self.access(op, ret))
            }

            fn weight(&self, state: &VecDeque<Value>) -> usize {
                weight(state)
            }
        }

        impl Viewed for $model {}
    };
}

line!(Queue, "queue", "enq", "deq", "enq(v) or deq(), where no v is \"empty\"", front, pop_front);
line!(Stack, "stack", "push", "pop", "push(v) or pop(), where no v is \"empty\"", back, pop_back);

fn access(op: &LineOp, ret: Option<&Value>) -> Access {
    match (op, ret) {
        (LineOp::Put(value), None) => Access::Put(value.clone()),
        (LineOp::Put(value), Some(ret)) if ret.is_text("ok") => Access::Put(value.clone()),
        (LineOp::Put(_), Some(_)) => Access::Other,
        (LineOp::Take, None) => Access::TakeUnknown,
        (LineOp::Take, Some(ret)) if ret.is_text("empty") => Access::SeeNothing,
        (LineOp::Take, Some(value)) => Access::Take(value.clone()),
    }
}

/// Without all puts and takes of a value, the others are in the same order, and what was empty still is.
pub(super) fn removal(access: Access) -> Removal {
    match access {
        Access::Put(value) | Access::Take(value) => Removal::With(smallvec![value]),
        Access::See(value) => Removal::Alone(smallvec![value]),
        Access::SeeNothing | Access::Nothing => Removal::Alone(smallvec![]),
        Access::TakeUnknown | Access::Replace { .. } | Access::MayPut(_) | Access::Other => Removal::Never,
    }
}

fn weight(state: &VecDeque<Value>) -> usize {
    64 + state.iter().map(|value| size_of::<Value>() + value.weight()).sum::<usize>()
}
