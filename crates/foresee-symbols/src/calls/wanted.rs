//! What properties ask for.

/// What stands for a parameter that is not recorded.
pub(super) const NOT_RECORDED: &str = "_";

/// Values of functions that a property asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedCall {
    /// Who asks, for messages.
    pub by: String,
    /// The names of functions, by the rule for all names of functions.
    pub functions: Vec<String>,
    /// What is asked.
    pub values: Values,
}

/// What is asked of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// These of its arguments, whenever it is called.
    Arguments(Vec<Parameter>),
    /// These, whenever it returns: its result, and of functions of libraries also arguments.
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
}
