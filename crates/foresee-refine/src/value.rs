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
    /// A text; a short one takes no memory of its own.
    Text(SmolStr),
    /// Several values in order.
    List(Arc<[Value]>),
}

impl Value {
    /// The value of a piece of JSON, if it is one: numbers with a fraction and objects are none. Larger numbers than fit are their text, as they are
    /// where programs log them.
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

    /// The number, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
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
            /// Numbers beyond 64 bits with a sign are their text.
            fn from(number: $type) -> Value {
                i64::try_from(number).map_or_else(|_| Value::from(number.to_string()), Value::Int)
            }
        })*
    };
}

from_integer!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

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
