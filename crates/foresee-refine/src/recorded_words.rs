//! How operations are said in a trace: what the `foresee` crate and `foresee.h` write, and what `recorded` reads.
//!
//! A trace has calls, returns and commits as events of its own. Logged writes are named events. Arguments of events are numbers and texts; other
//! values are texts: `true`, `false`, `nil`, the digits of a number that is larger than an argument can be, and lists in JSON. A text that looks like one of these is in quotes, as JSON has them.

use serde_json::Value as Json;
use smol_str::SmolStr;

use crate::value::Value;

/// A write: the variable, and its new value.
pub const LOG_WRITE: &str = "log_write";

/// Several writes, which the structure's replica repeats: what, and with what.
pub const LOG_REPLAY: &str = "log_replay";

/// The operation under way ends without a result.
pub const LOG_PANIC: &str = "log_panic";

/// The thread belongs to the structure.
pub const LOG_INTERNAL: &str = "log_internal";

impl Value {
    /// The value as the text of an argument.
    pub fn to_word(&self) -> SmolStr {
        match self {
            Value::Null => SmolStr::new_static("nil"),
            Value::Bool(true) => SmolStr::new_static("true"),
            Value::Bool(false) => SmolStr::new_static("false"),
            Value::Text(text) if !looks_special(text) => text.clone(),
            other => other.to_json().to_string().into(),
        }
    }

    /// The value that such a text means. Anything that means nothing else is itself.
    pub fn from_word(word: &str) -> Value {
        match word {
            "nil" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ if looks_special(word) => {
                let json: Option<Json> = serde_json::from_str(word).ok();
                json.and_then(|json| Value::from_json(&json)).unwrap_or_else(|| Value::from(word))
            }
            _ => Value::from(word),
        }
    }
}

fn looks_special(text: &str) -> bool {
    let is_large = || text.parse::<u64>().is_ok_and(|number| i64::try_from(number).is_err());
    matches!(text, "nil" | "true" | "false") || text.starts_with(['[', '"']) || is_large()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back() {
        let list = |items: &[Value]| Value::List(items.into());
        for value in [
            Value::Null,
            Value::Bool(true),
            Value::Bool(false),
            Value::from(""),
            Value::from("plain"),
            Value::from(u64::MAX),
            Value::from("18446744073709551615"),
            Value::from("018446744073709551615"),
            Value::from("1"),
            Value::from("true"),
            Value::from("nil"),
            Value::from("[1]"),
            Value::from("\"quoted\" and not"),
            list(&[]),
            list(&[Value::Int(-1), Value::from("true"), Value::Bool(true), list(&[Value::Null])]),
        ] {
            assert_eq!(Value::from_word(&value.to_word()), value, "{}", value.to_word());
        }
        // What only looks special is a text.
        assert_eq!(Value::from_word("[not json"), Value::from("[not json"));
    }
}
