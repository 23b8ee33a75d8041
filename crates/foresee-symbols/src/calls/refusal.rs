//! Why something that is asked for is not to be had.

use foresee_format::MOST_KEPT;
use foresee_trace::perhaps;

use crate::image::ImageError;
use crate::static_parts::PartError;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The program's file is of no use.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Its debug information is of no use.
    #[error("its debug information cannot be read: {0}")]
    Debug(#[from] gimli::Error),
    /// There is nothing in the program that could record calls.
    #[error("the program cannot record calls: build it with this version of foresee")]
    NoRuntime,
    /// Something that is asked for is not to be had.
    #[error("{by}: {why}")]
    Refused {
        /// Who asks.
        by: String,
        /// Why it is not.
        why: Refusal,
    },
}

/// Why values of a function are not to be had.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Refusal {
    #[error(
        "the program has no debug information: build it with `-g` (cargo: `debug = true` in the profile)"
    )]
    NoDebugInformation,
    #[error(
        "the program has no function `{name}`{}, nor is it one of the functions of libraries that are known",
        perhaps(nearest)
    )]
    NoFunction { name: String, nearest: Vec<String> },
    #[error("the program has no function `{name}`, but {}{}", quoted(has), without_types(name, has))]
    Otherwise { name: String, has: Vec<String> },
    #[error(
        "`{name}` is ambiguous: the program has {}; write more of the path of one of them",
        quoted(candidates)
    )]
    Ambiguous { name: String, candidates: Vec<String> },
    #[error(
        "`{function}` was inlined into `{into}`: not all its calls can be seen; build with `-fno-inline` (C, C++), or without optimisation"
    )]
    Inlined { function: String, into: String },
    #[error(
        "`{function}` was inlined into `{into}`, as headers of the C library have it with `_FORTIFY_SOURCE`: then others are called in its place; build with `-U_FORTIFY_SOURCE`"
    )]
    InHeader { function: String, into: String },
    #[error(
        "the compiler has made another version of `{function}`, `{symbol}`, which is called in its place; build with `-fno-ipa-cp -fno-ipa-sra -fno-partial-inlining`, or without optimisation"
    )]
    Version { function: String, symbol: String },
    #[error("`{function}` may have the same code as other functions; build it with this version of foresee")]
    MayShareCode { function: String },
    #[error("`{function}` has the same code as `{other}`: their calls cannot be told apart")]
    SharesCode { function: String, other: String },
    #[error("`{function}` has no parameter `{name}`; it has {}", listed(has))]
    NoParameter { function: String, name: String, has: Vec<String> },
    #[error(
        "debug information tells neither of parameters of `{function}` nor of a result; if it is for lines alone, build it with `-g` (`cargo foresee run --spec` does)"
    )]
    LinesAlone { function: String },
    #[error(
        "the program has a symbol `{name}`, but its debug information tells of no such function: only those can be seen, by the names that they have in the source"
    )]
    OnlySymbol { name: String },
    #[error("`{function}` has {}, not {asked}", counted(*has))]
    Arity { function: String, asked: u32, has: usize },
    #[error(
        "`{function}`: the parameter `{parameter}` is {what}; numbers, truth values, characters, pointers and texts can be recorded"
    )]
    Type { function: String, parameter: String, what: String },
    #[error("`{function}`: {value} is {what}")]
    Use { function: String, value: String, what: &'static str },
    #[error(
        "{value} is a text of `{text}` and none of `{number}`: name one of them, or give each an event of its own"
    )]
    SometimesText { value: String, text: String, number: String },
    #[error("`{function}` returns {what}; numbers, truth values, characters and pointers can be recorded")]
    ResultType { function: String, what: String },
    #[error("`{function}` returns nothing")]
    NoResult { function: String },
    #[error(
        "`{function}` is a function of the program itself: at its return there are its result and what it was called with, not what is stored where `{parameter}` points; ask for `{parameter}` itself"
    )]
    StoredByOwn { function: String, parameter: String },
    #[error(
        "`{function}`: the parameter `{parameter}` is a text, which may be another when the function returns; ask for it where the function is entered, `enter(\"{function}\", …)`"
    )]
    TextAtReturn { function: String, parameter: String },
    #[error("`{function}`: {asked} arguments are asked for at its return; at most {MOST_KEPT} can be")]
    TooManyAtReturn { function: String, asked: usize },
    #[error("`{function}`: {what}")]
    NoObject { function: String, what: String },
    #[error("`{function}`: {why}")]
    NoField { function: String, why: PartError },
    #[error(
        "`{function}`: the field `{field}` is {what}; of fields, numbers, truth values and characters can be recorded"
    )]
    FieldType { function: String, field: String, what: String },
    #[error("`{function}` is a function of a library: what its parameters point to is not known")]
    FieldOfLibrary { function: String },
    #[error("`{function}`: the parameter `{parameter}` does not point to a number or a pointer")]
    PointsElsewhere { function: String, parameter: String },
    #[error(
        "`{function}`: the parameter `{parameter}` is asked for and what it points to as well; use one of them"
    )]
    AskedTwice { function: String, parameter: String },
    #[error(
        "`{function}`: the parameter `{parameter}` {why}; build without optimisation, or use it in a way that the compiler cannot foresee"
    )]
    NoValue { function: String, parameter: String, why: &'static str },
    #[error("`{function}`: the parameter `{parameter}` is passed in a way that is not understood")]
    UnclearValue { function: String, parameter: String },
    #[error("`{function}` cannot be recorded: {why}")]
    NoHook { function: String, why: String },
}

/// So many names are told of more.
const TOLD: usize = 6;

fn quoted(names: &[String]) -> String {
    if names.len() > TOLD {
        return format!("{} and {} more", quoted(&names[..TOLD]).replace(" and ", ", "), names.len() - TOLD);
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

/// What to add if type arguments are written, and names have none.
fn without_types(name: &str, has: &[String]) -> &'static str {
    match name.contains('<') && has.iter().all(|has| !has.contains('<')) {
        true => ": its name in the program has no type arguments; leave them out",
        false => "",
    }
}

fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => "none that debug information tells of".to_owned(),
        false => quoted(names),
    }
}

fn counted(parameters: usize) -> String {
    match parameters {
        0 => "no parameters".to_owned(),
        1 => "1 parameter".to_owned(),
        many => format!("{many} parameters"),
    }
}
