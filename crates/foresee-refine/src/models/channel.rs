//! A channel: a queue that may have a capacity (room for so many values only), and that can be closed.
//!
//! `send(v)`: "ok", "full" exactly when there is no room, "closed" exactly when it is closed. `recv()`: the first value, otherwise "closed" or
//! "empty" exactly when it is that. `send_waiting(v)` and `recv_waiting()` never say "full" or "empty": until they can do something else they
//! have not taken effect. `close()`: "ok"; what is inside can still be received. So these words are no values that can be sent.

use std::collections::VecDeque;

use smallvec::smallvec;

use crate::spec::{Access, Outcome, Removal, Shape, Specification, Viewed, WrongCall};
use crate::value::Value;

/// A channel that holds so many values at most, or any number.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    /// How many values it holds at most; `None`: any number.
    pub capacity: Option<usize>,
}

/// An operation of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChannelOp {
    /// Puts this value at the end, and may wait for room.
    Send {
        /// The value.
        value: Value,
        /// Whether it waits.
        waits: bool,
    },
    /// Takes the first value, and may wait for one.
    Receive {
        /// Whether it waits.
        waits: bool,
    },
    /// From here on nothing can be sent.
    Close,
}

/// What is inside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChannelState {
    values: VecDeque<Value>,
    is_closed: bool,
}

impl Channel {
    /// The one result that the operation has in this state; none if it has to wait.
    fn result(&self, state: &ChannelState, op: &ChannelOp) -> Option<Value> {
        let is_full = self.capacity.is_some_and(|most| state.values.len() >= most);
        Some(match (op, state.values.front()) {
            (ChannelOp::Close, _) => Value::from("ok"),
            (ChannelOp::Send { .. }, _) if state.is_closed => Value::from("closed"),
            (ChannelOp::Send { waits, .. }, _) if is_full => return (!waits).then(|| Value::from("full")),
            (ChannelOp::Send { .. }, _) => Value::from("ok"),
            (ChannelOp::Receive { .. }, Some(first)) => first.clone(),
            (ChannelOp::Receive { .. }, None) if state.is_closed => Value::from("closed"),
            (ChannelOp::Receive { waits }, None) => return (!waits).then(|| Value::from("empty")),
        })
    }
}

impl Specification for Channel {
    type Op = ChannelOp;
    type State = ChannelState;

    fn decode(&self, method: &str, args: &[Value]) -> Result<ChannelOp, WrongCall> {
        let is_word = |value: &Value| ["empty", "full", "closed"].iter().any(|word| value.is_text(word));
        Ok(match (method, args) {
            ("send" | "send_waiting", [value]) if !is_word(value) => {
                ChannelOp::Send { value: value.clone(), waits: method == "send_waiting" }
            }
            ("recv" | "recv_waiting", []) => ChannelOp::Receive { waits: method == "recv_waiting" },
            ("close", []) => ChannelOp::Close,
            _ => {
                let expected = "send(v), send_waiting(v), recv(), recv_waiting() or close(), where no v is \"empty\", \"full\" or \"closed\"";
                return Err(WrongCall::new("channel", expected, method, args));
            }
        })
    }

    fn initial(&self) -> ChannelState {
        ChannelState::default()
    }

    fn is_observer(&self, _op: &ChannelOp) -> bool {
        false
    }

    fn is_pure(&self, op: &ChannelOp, ret: &Value) -> bool {
        match op {
            ChannelOp::Send { .. } => !ret.is_text("ok"),
            ChannelOp::Receive { .. } => ret.is_text("empty") || ret.is_text("closed"),
            ChannelOp::Close => false,
        }
    }

    fn apply(&self, state: &mut ChannelState, op: &ChannelOp, ret: &Value) -> Outcome {
        if self.result(state, op).as_ref() != Some(ret) {
            return Outcome::Refused;
        }
        match op {
            _ if self.is_pure(op, ret) => return Outcome::Unchanged,
            ChannelOp::Close if state.is_closed => return Outcome::Unchanged,
            ChannelOp::Close => state.is_closed = true,
            ChannelOp::Send { value, .. } => state.values.push_back(value.clone()),
            ChannelOp::Receive { .. } => drop(state.values.pop_front()),
        }
        Outcome::Changed
    }

    fn returns(&self, state: &ChannelState, op: &ChannelOp) -> Vec<Value> {
        self.result(state, op).into_iter().collect()
    }

    /// Without a limit, and as long as nobody closes it, it is a queue.
    fn shape(&self) -> Shape {
        if self.capacity.is_none() { Shape::Queue } else { Shape::General }
    }

    fn access(&self, op: &ChannelOp, ret: Option<&Value>) -> Access {
        match (op, ret) {
            (ChannelOp::Send { value, .. }, None) => Access::Put(value.clone()),
            (ChannelOp::Send { value, .. }, Some(ret)) if ret.is_text("ok") => Access::Put(value.clone()),
            (ChannelOp::Receive { .. }, None) => Access::TakeUnknown,
            (ChannelOp::Receive { waits: false }, Some(ret)) if ret.is_text("empty") => Access::SeeNothing,
            // Whoever waits cannot have seen that nothing is there.
            (ChannelOp::Receive { waits: true }, Some(ret)) if ret.is_text("empty") => Access::Other,
            (ChannelOp::Receive { .. }, Some(ret)) if !ret.is_text("closed") => Access::Take(ret.clone()),
            _ => Access::Other,
        }
    }

    /// Without a value that was sent and received, others are in the same order, but what was full may not be full then.
    fn removal(&self, op: &ChannelOp, ret: Option<&Value>) -> Removal {
        match self.access(op, ret) {
            Access::Put(value) | Access::Take(value) if self.capacity.is_none() => {
                Removal::With(smallvec![value])
            }
            Access::SeeNothing => Removal::Alone(smallvec![]),
            _ if ret.is_some_and(|ret| self.is_pure(op, ret)) => Removal::Alone(smallvec![]),
            _ => Removal::Never,
        }
    }

    fn weight(&self, state: &ChannelState) -> usize {
        64 + state.values.iter().map(|value| size_of::<Value>() + value.weight()).sum::<usize>()
    }
}

impl Viewed for Channel {}
