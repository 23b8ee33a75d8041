//! A counter: `inc()`, `dec()`: "ok"; `get()`; `fetch_add(n)`: what it was. It wraps around at the ends of 64 bits,
//! with or without a sign: programs may log either.

use crate::spec::{Outcome, Specification, Viewed, WrongCall};
use crate::value::Value;

/// A counter that begins with 0.
#[derive(Clone, Debug, Default)]
pub struct Counter;

/// An operation of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CounterOp {
    /// Adds 1 or takes it away.
    Add(i64),
    /// Adds, and gives back what it was.
    FetchAdd(i64),
    /// Reads it.
    Get,
}

impl Specification for Counter {
    type Op = CounterOp;
    type State = i64;

    fn decode(&self, method: &str, args: &[Value]) -> Result<CounterOp, WrongCall> {
        let op = match (method, args) {
            ("inc", []) => Some(CounterOp::Add(1)),
            ("dec", []) => Some(CounterOp::Add(-1)),
            ("get", []) => Some(CounterOp::Get),
            ("fetch_add", [by]) => by.bits().map(CounterOp::FetchAdd),
            _ => None,
        };
        op.ok_or_else(|| WrongCall::new("counter", "inc(), dec(), get() or fetch_add(n)", method, args))
    }

    fn initial(&self) -> i64 {
        0
    }

    fn is_observer(&self, op: &CounterOp) -> bool {
        *op == CounterOp::Get
    }

    fn is_pure(&self, op: &CounterOp, _ret: &Value) -> bool {
        matches!(op, CounterOp::Get | CounterOp::FetchAdd(0))
    }

    fn apply(&self, state: &mut i64, op: &CounterOp, ret: &Value) -> Outcome {
        let by = match *op {
            CounterOp::Get => return Outcome::unchanged_if(ret.bits() == Some(*state)),
            CounterOp::Add(by) if ret.is_text("ok") => by,
            CounterOp::FetchAdd(by) if ret.bits() == Some(*state) => by,
            _ => return Outcome::Refused,
        };
        *state = state.wrapping_add(by);
        if by == 0 { Outcome::Unchanged } else { Outcome::Changed }
    }

    fn returns(&self, state: &i64, op: &CounterOp) -> Vec<Value> {
        vec![match op {
            CounterOp::Add(_) => Value::from("ok"),
            CounterOp::Get | CounterOp::FetchAdd(_) => Value::Int(*state),
        }]
    }

    fn permits(&self, state: &i64, _op: &CounterOp, ret: &Value) -> bool {
        ret.bits() == Some(*state)
    }
}

impl Viewed for Counter {}
