//! What properties ask for.

use std::fmt;

use super::refusal::Refusal;
use crate::types::Scalar;

/// What stands for a parameter that is not recorded.
pub(super) const NOT_RECORDED: &str = "_";
/// What stands for the number of the call, behind all parameters.
pub(super) const CALL_NUMBER: &str = "#call";

/// Values of functions that a property asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedCall {
    /// Who asks, for messages.
    pub by: String,
    /// The names of functions, by the rule for all names of functions.
    pub functions: Vec<String>,
    /// What is asked.
    pub values: Values,
    /// As what conditions take each of these values.
    pub uses: Vec<Use>,
}

impl WantedCall {
    /// Whether more is asked than that it happens.
    pub fn has_values(&self) -> bool {
        !self.values.all().is_empty()
    }

    /// What is recorded, for the trace: whether calls or returns, and of what, in a line for each name.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let how = match self.values {
            Values::Arguments(_) => "enter",
            Values::Returned(_) => "exit",
        };
        self.functions.iter().map(move |function| format!("{how}\t{function}\n"))
    }
}

/// As what a condition takes a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Use {
    /// It is compared with no more than nothing, if at all.
    #[default]
    Any,
    /// It is compared with a text.
    Text,
    /// It is the same as a number, or not.
    Equal,
    /// It is less or more than numbers, or something is computed from it.
    Number,
}

impl Values {
    /// All that is asked for, in order.
    pub(super) fn all(&self) -> &[Parameter] {
        match self {
            Values::Arguments(all) | Values::Returned(all) => all,
        }
    }
}

impl Use {
    /// Refuses to take a value of this kind so.
    pub(super) fn check(self, scalar: Scalar, function: &str, parameter: &Parameter) -> Result<(), Refusal> {
        let what = match (self, scalar) {
            (Use::Text, Scalar { text: None, object: false, .. }) => "a number, and is compared with a text",
            (Use::Text, Scalar { text: None, .. }) => {
                "an address of which it is not known that a text is there (`const char *`, `&str` and `&String` are known), and is compared with a text"
            }
            (Use::Number | Use::Equal, Scalar { text: Some(_), .. }) => {
                "a text, and is compared with a number or becomes one"
            }
            (Use::Number, Scalar { object: true, .. }) => {
                "the address of an object, and is compared with a number or becomes one"
            }
            _ => return Ok(()),
        };
        let (function, value) = (function.to_owned(), parameter.to_string());
        Err(Refusal::Use { function, value, what })
    }
}

/// What is asked of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// These of its arguments, whenever it is called.
    Arguments(Vec<Parameter>),
    /// These, whenever it returns: its result, and arguments as they were when it was called.
    Returned(Vec<Parameter>),
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// By its position among those that the source declares, from 0.
    Position(u32),
    /// By its name; `this` is also Rust's `self`.
    Named(String),
    /// What is stored where the one of this name points, when the function returns.
    Stored(String),
    /// No parameter, but the result.
    Result,
    /// What a field of the object holds that one of the others points to.
    Field {
        /// Which.
        of: Box<Parameter>,
        /// The type of the object, without modules.
        of_type: String,
        /// The field, or a part of one.
        path: String,
    },
}

/// What people call it.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parameter::Position(position) => write!(f, "the parameter at position {}", position + 1),
            Parameter::Named(name) => write!(f, "the parameter `{name}`"),
            Parameter::Stored(name) => write!(f, "what is stored at `{name}`"),
            Parameter::Result => f.write_str("what it returns"),
            Parameter::Field { of_type, path, .. } => write!(f, "the field `{of_type}.{path}`"),
        }
    }
}
