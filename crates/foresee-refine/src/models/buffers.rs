//! Two text buffers, `a` and `b`: `set(b, s)`, `append(dst, src)`: "ok"; `toString(b)`.
//!
//! A buffer that is appended to itself is twice as long: forty calls make a text that no memory holds. So this model says what a step adds
//! ([`Specification::growth`]), and checks end as undecided where that does not fit.

use crate::spec::{Outcome, Specification, Touched, Viewed, WrongCall};
use crate::value::Value;

/// Two text buffers. Their view: each with its text.
#[derive(Clone, Debug, Default)]
pub struct Buffers;

/// The names of the buffers.
pub const NAMES: [&str; 2] = ["a", "b"];

/// An operation of the buffers, which are known by their place in [`NAMES`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BuffersOp {
    /// Sets the text of a buffer.
    Set(usize, String),
    /// Appends the second buffer to the first.
    Append(usize, usize),
    /// The text of a buffer.
    ToString(usize),
}

impl Specification for Buffers {
    type Op = BuffersOp;
    type State = [String; 2];

    fn decode(&self, method: &str, args: &[Value]) -> Result<BuffersOp, WrongCall> {
        let op = match (method, args) {
            ("set", [b, Value::Text(text)]) => buffer(b).map(|b| BuffersOp::Set(b, text.to_string())),
            ("append", [to, from]) => {
                buffer(to).zip(buffer(from)).map(|(to, from)| BuffersOp::Append(to, from))
            }
            ("toString", [b]) => buffer(b).map(BuffersOp::ToString),
            _ => None,
        };
        op.ok_or_else(|| {
            let expected = "set(b, text), append(to, from) or toString(b), of buffers \"a\" and \"b\"";
            WrongCall::new("stringbuffer", expected, method, args)
        })
    }

    fn initial(&self) -> [String; 2] {
        Default::default()
    }

    fn is_observer(&self, op: &BuffersOp) -> bool {
        matches!(op, BuffersOp::ToString(_))
    }

    fn apply(&self, state: &mut [String; 2], op: &BuffersOp, ret: &Value) -> Outcome {
        match op {
            BuffersOp::ToString(b) => return Outcome::unchanged_if(ret.is_text(&state[*b])),
            _ if !ret.is_text("ok") => return Outcome::Refused,
            BuffersOp::Set(b, text) if state[*b] == *text => return Outcome::Unchanged,
            BuffersOp::Set(b, text) => state[*b].clone_from(text),
            BuffersOp::Append(_, from) if state[*from].is_empty() => return Outcome::Unchanged,
            BuffersOp::Append(to, from) => state[*to] = [&*state[*to], &*state[*from]].concat(),
        }
        Outcome::Changed
    }

    fn returns(&self, state: &[String; 2], op: &BuffersOp) -> Vec<Value> {
        vec![match op {
            BuffersOp::ToString(b) => Value::from(state[*b].as_str()),
            _ => Value::from("ok"),
        }]
    }

    fn weight(&self, state: &[String; 2]) -> usize {
        state.iter().map(|text| size_of::<String>() + text.len()).sum()
    }

    fn growth(&self, state: &[String; 2], op: &BuffersOp) -> usize {
        match op {
            BuffersOp::Append(_, from) => state[*from].len(),
            BuffersOp::Set(..) | BuffersOp::ToString(_) => 0,
        }
    }
}

impl Viewed for Buffers {
    fn part(&self, state: &[String; 2], part: &Value) -> Option<Value> {
        buffer(part).map(|b| Value::from(state[b].as_str()))
    }

    fn parts(&self, _state: &[String; 2]) -> Vec<Value> {
        NAMES.map(Value::from).to_vec()
    }

    fn touched(&self, _state: &Self::State, op: &BuffersOp) -> Touched {
        Touched::Parts(match op {
            BuffersOp::Set(b, _) | BuffersOp::Append(b, _) => vec![Value::from(NAMES[*b])],
            BuffersOp::ToString(_) => Vec::new(),
        })
    }
}

fn buffer(name: &Value) -> Option<usize> {
    NAMES.iter().position(|known| name.is_text(known))
}
