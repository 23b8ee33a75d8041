//! A register: `write(v)`: "ok"; `read()`; `cas(old, new)`: whether it was `old`.

use crate::spec::{Access, Outcome, Shape, Specification, Viewed, WrongCall};
use crate::value::Value;

/// A register with this value at the beginning.
#[derive(Clone, Debug)]
pub struct Register {
    /// What it has before the first write.
    pub initial: Value,
}

/// An operation of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterOp {
    /// Reads it.
    Read,
    /// Writes this value.
    Write(Value),
    /// Writes the second value if it has the first.
    Cas(Value, Value),
}

impl Specification for Register {
    type Op = RegisterOp;
    type State = Value;

    fn decode(&self, method: &str, args: &[Value]) -> Result<RegisterOp, WrongCall> {
        Ok(match (method, args) {
            ("read", []) => RegisterOp::Read,
            ("write", [value]) => RegisterOp::Write(value.clone()),
            ("cas", [old, new]) => RegisterOp::Cas(old.clone(), new.clone()),
            _ => return Err(WrongCall::new("register", "read(), write(v) or cas(old, new)", method, args)),
        })
    }

    fn initial(&self) -> Value {
        self.initial.clone()
    }

    fn is_observer(&self, op: &RegisterOp) -> bool {
        *op == RegisterOp::Read
    }

    fn is_pure(&self, op: &RegisterOp, ret: &Value) -> bool {
        match op {
            RegisterOp::Read => true,
            RegisterOp::Write(_) => false,
            RegisterOp::Cas(old, new) => *ret == Value::Bool(false) || old == new,
        }
    }

    fn apply(&self, state: &mut Value, op: &RegisterOp, ret: &Value) -> Outcome {
        let new = match op {
            RegisterOp::Read => return Outcome::unchanged_if(ret == state),
            RegisterOp::Write(new) if ret.is_text("ok") => new,
            RegisterOp::Cas(old, new) if *ret == Value::Bool(true) && old == state => new,
            RegisterOp::Cas(old, _) => {
                return Outcome::unchanged_if(*ret == Value::Bool(false) && old != state);
            }
            RegisterOp::Write(_) => return Outcome::Refused,
        };
        if new == state {
            return Outcome::Unchanged;
        }
        *state = new.clone();
        Outcome::Changed
    }

    fn returns(&self, state: &Value, op: &RegisterOp) -> Vec<Value> {
        vec![match op {
            RegisterOp::Read => state.clone(),
            RegisterOp::Write(_) => Value::from("ok"),
            RegisterOp::Cas(old, _) => Value::Bool(old == state),
        }]
    }

    fn shape(&self) -> Shape {
        Shape::Register
    }

    fn access(&self, op: &RegisterOp, ret: Option<&Value>) -> Access {
        match (op, ret) {
            (RegisterOp::Write(value), None) => Access::Put(value.clone()),
            (RegisterOp::Write(value), Some(ok)) if ok.is_text("ok") => Access::Put(value.clone()),
            (RegisterOp::Read, None) => Access::Nothing,
            (RegisterOp::Read, Some(value)) => Access::See(value.clone()),
            (RegisterOp::Cas(_, new), None) => Access::MayPut(new.clone()),
            (RegisterOp::Cas(old, new), Some(Value::Bool(true))) => {
                Access::Replace { old: old.clone(), new: new.clone() }
            }
            _ => Access::Other,
        }
    }

    fn weight(&self, state: &Value) -> usize {
        size_of::<Value>() + state.weight()
    }
}

impl Viewed for Register {}
