//! The state of an implementation, rebuilt from its logged writes, as far as its view needs it.

use smol_str::SmolStr;

use crate::shortened::shortened;
use crate::value::Value;

/// What the writes of a structure mean. The programmer's abstraction function, with the state it works on.
///
/// ```
/// use foresee_refine::Value;
/// use foresee_refine::refine::{Replica, WrongWrite};
///
/// /// A counter in two stripes, `low` and `high`: what counts is their sum.
/// #[derive(Default)]
/// struct Stripes {
///     low: i64,
///     high: i64,
/// }
///
/// impl Replica for Stripes {
///     fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite> {
///         match (target, value.as_int()) {
///             ("low", Some(value)) => self.low = value,
///             ("high", Some(value)) => self.high = value,
///             _ => return Err(WrongWrite::new(target, "low or high, each a number")),
///         }
///         Ok(())
///     }
///
///     // One part, which any write may have changed.
///     fn take_changed(&mut self) -> Vec<Value> {
///         self.parts()
///     }
///
///     fn part(&self, _part: &Value) -> Option<Value> {
///         Some(Value::Int(self.low + self.high))
///     }
///
///     fn parts(&self) -> Vec<Value> {
///         vec![Value::from("sum")]
///     }
/// }
/// ```
pub trait Replica {
    /// Whether there is a view at all; if not, only results are compared.
    const HAS_VIEW: bool = true;

    /// Repeats a write.
    fn write(&mut self, target: &str, value: &Value) -> Result<(), WrongWrite>;

    /// Repeats several writes that were logged as one entry: whatever the structure means by it, such as the parts of an object that was serialised.
    /// Without more said it is a list of variables with their values ([`writes_of`]).
    fn replay(&mut self, entry: &str, value: &Value) -> Result<(), WrongWrite> {
        let writes = writes_of(value);
        let writes = writes.ok_or_else(|| WrongWrite::new(entry, "a list of variables with their values"))?;
        writes.into_iter().try_for_each(|(target, value)| self.write(target, value))
    }

    /// The parts of the view that may have changed since this was asked last.
    fn take_changed(&mut self) -> Vec<Value>;

    /// The contents of a part now; `None` if it is not there.
    fn part(&self, part: &Value) -> Option<Value>;

    /// All parts that are there.
    fn parts(&self) -> Vec<Value>;

    /// An invariant of the structure that does not hold now.
    fn broken(&self) -> Option<String> {
        None
    }
}

/// The writes in the value of a coarse entry, if it is a list of pairs of a variable and its value.
pub fn writes_of(value: &Value) -> Option<Vec<(&SmolStr, &Value)>> {
    let Value::List(items) = value else { return None };
    items.iter().map(write_of).collect()
}

fn write_of(item: &Value) -> Option<(&SmolStr, &Value)> {
    let Value::List(pair) = item else { return None };
    match &pair[..] {
        [Value::Text(target), value] => Some((target, value)),
        _ => None,
    }
}

/// A write that the structure does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no write of `{target}`; expected {expected}")]
pub struct WrongWrite {
    /// The variable.
    pub target: String,
    /// What there is.
    pub expected: &'static str,
}

impl WrongWrite {
    /// The error for a variable that is none of `expected`.
    pub fn new(target: &str, expected: &'static str) -> WrongWrite {
        WrongWrite { target: shortened(&target), expected }
    }
}

/// The replica of a structure of which only calls and returns are known.
#[derive(Clone, Debug, Default)]
pub struct Unsupported;

impl Replica for Unsupported {
    const HAS_VIEW: bool = false;

    fn write(&mut self, _target: &str, _value: &Value) -> Result<(), WrongWrite> {
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        Vec::new()
    }

    fn part(&self, _part: &Value) -> Option<Value> {
        None
    }

    fn parts(&self) -> Vec<Value> {
        Vec::new()
    }
}
