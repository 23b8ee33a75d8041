//! What operations take and give back: plain values, as logs and histories of any program can hold them.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;
use smol_str::SmolStr;

/// An argument, a result, a part of a view. Ordered, so that views have a canonical form. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Value {
    /// Nothing: `null`, `nil`, `()`.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A number that is larger than all of those: without a sign, and of 64 bits. `Value::from` makes the one that is right.
    Large(u64),
    /// A text; a short one takes no memory of its own.
    Text(SmolStr),
    /// Several values in order.
    List(Arc<[Value]>),
}

impl Value {
    /// The value of a piece of JSON, if it is one: objects are none, nor are numbers with a fraction or of more than 64 bits.
    pub fn from_json(json: &Json) -> Option<Value> {
        Some(match json {
            Json::Null => Value::Null,
            Json::Bool(it) => Value::Bool(*it),
            Json::Number(it) => it.as_i64().map(Value::Int).or_else(|| it.as_u64().map(Value::from))?,
            Json::String(it) => Value::from(it.as_str()),
            Json::Array(items) => Value::List(items.iter().map(Value::from_json).collect::<Option<_>>()?),
            Json::Object(_) => return None,
        })
    }

    /// The value as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(it) => Json::Bool(*it),
            Value::Int(it) => Json::from(*it),
            Value::Large(it) => Json::from(*it),
            Value::Text(it) => Json::String(it.to_string()),
            Value::List(items) => Json::Array(items.iter().map(Value::to_json).collect()),
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one that fits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The 64 bits of the number, if it is one: what a program that counts without a sign gives back is the same as one that counts with it.
    pub(crate) fn bits(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            Value::Large(number) => Some(number.cast_signed()),
            _ => None,
        }
    }

    /// Whether it is this text.
    pub fn is_text(&self, text: &str) -> bool {
        self.as_text() == Some(text)
    }

    /// About how many bytes it takes beside its own.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::List(items) => items.iter().map(|item| size_of::<Value>() + item.weight()).sum(),
            _ => 0,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("nil"),
            Value::Bool(it) => write!(f, "{it}"),
            Value::Int(it) => write!(f, "{it}"),
            Value::Large(it) => write!(f, "{it}"),
            Value::Text(it) => write!(f, "{it:?}"),
            Value::List(items) => {
                f.write_str("[")?;
                for (nth, item) in items.iter().enumerate() {
                    let comma = if nth > 0 { ", " } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

macro_rules! from_integer {
    ($($type:ty),*) => {
        $(impl From<$type> for Value {
            fn from(number: $type) -> Value {
                Value::Int(number.into())
            }
        })*
    };
}

from_integer!(i8, i16, i32, i64, u8, u16, u32);

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        i64::try_from(number).map_or(Value::Large(number), Value::Int)
    }
}

// Both have 64 bits at most.
impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value::from(number as u64)
    }
}

impl From<isize> for Value {
    fn from(number: isize) -> Value {
        Value::Int(number as i64)
    }
}

impl From<()> for Value {
    fn from((): ()) -> Value {
        Value::Null
    }
}

impl From<bool> for Value {
    fn from(it: bool) -> Value {
        Value::Bool(it)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(it: Option<T>) -> Value {
        it.map_or(Value::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    fn from(items: &[T]) -> Value {
        Value::List(items.iter().cloned().map(Into::into).collect())
    }
}

impl<A: Into<Value>, B: Into<Value>> From<(A, B)> for Value {
    fn from((a, b): (A, B)) -> Value {
        Value::List([a.into(), b.into()].into())
    }
}

impl From<&Value> for Value {
    fn from(it: &Value) -> Value {
        it.clone()
    }
}
