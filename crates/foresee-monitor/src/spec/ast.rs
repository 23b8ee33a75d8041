//! The syntax tree of a spec file, as written: names are not looked up, and every name knows its place.

use super::diagnostic::Span;
use crate::operator::{Binary, Unary};
use crate::property::{self, Parameter};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// `full-binding`, `suffix`, …
    pub modifiers: Vec<Name>,
    /// What it is called.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Name>,
    /// Its events.
    pub events: Vec<Event>,
    /// Variables of the program it speaks of.
    pub vars: Vec<Var>,
    /// Fields of objects.
    pub fields: Vec<FieldVar>,
    /// Variables that each instance has for itself.
    pub states: Vec<Var>,
    /// Names for threads.
    pub threads: Vec<Threads>,
    /// Variables that every thread has for itself.
    pub locals: Vec<Var>,
    /// Its formulas, patterns and machines.
    pub bodies: Vec<Body>,
    /// What to do on a verdict.
    pub handlers: Vec<Handler>,
    /// From `property` (or its first modifier) to the closing brace.
    pub span: Span,
}

/// `[creation] event NAME(PARAMS) [= EVENT(ARGS) [returning NAME]] [when GUARD] [{ ACTIONS }];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Marked as a creation event.
    pub creation: bool,
    /// What the property calls it.
    pub name: Name,
    /// What it carries: parameters of the property, or values for the guard.
    pub args: Vec<Arg>,
    /// The built-in event it is, or the program's own, if that is named differently.
    pub source: Option<(Name, Vec<Arg>)>,
    /// Under which condition it counts.
    pub guard: Option<Formula>,
    /// What it does to the variables of instances.
    pub changes: Vec<Change>,
}

/// `NAME = VALUE;`, `NAME += VALUE;` or `NAME -= VALUE;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The variable.
    pub name: Name,
    /// What its old value and the new one have to do with each other, if anything.
    pub operator: Option<Binary>,
    /// The new value, or what is added or taken away.
    pub value: Formula,
}

/// An argument of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A name; `_` for a value that is not asked for.
    Name(Name),
    /// `"f" | "g"`: the functions of `enter` and `exit`, any of them.
    Functions(Vec<(String, Span)>),
    /// `parameter as name`: the function's parameter of that name.
    Of(Name, Name),
    /// `*parameter as name`: what the function's parameter of that name points to when the function returns.
    Stored(Name, Name),
    /// `returning name`, behind all others: the function's result.
    Returned(Name),
    /// What a field of an object that the call carries holds, which the property calls so. It is not written there: a [`FieldVar`] says it.
    Field(FieldOf, Name),
}

/// A field of an object that a call carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldOf {
    /// How the call carries the object.
    pub parameter: Parameter,
    /// The type of the object.
    pub of_type: String,
    /// The field, or a part of one.
    pub path: String,
}

/// Stands for a value that is not asked for.
pub const ANYTHING: &str = "_";

impl Arg {
    /// What the property calls the value.
    pub fn bound(&self) -> Option<&Name> {
        match self {
            Arg::Name(name) if name.text == ANYTHING => None,
            Arg::Name(name)
            | Arg::Of(_, name)
            | Arg::Stored(_, name)
            | Arg::Returned(name)
            | Arg::Field(_, name) => Some(name),
            Arg::Functions(_) => None,
        }
    }
}

/// `thread NAME, …;` or `thread NAME: "PATTERN";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    /// What the property calls them.
    pub names: Vec<Name>,
    /// What they are called in the program; `*` stands for anything.
    pub pattern: Option<(String, Span)>,
}

/// `var NAME: int [= VALUE];`, and so for `local` and `state`; for the latter also `var NAME = VALUE;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    /// The variable of the program, of each thread, or of each instance.
    pub name: Name,
    /// `int` or `bool`.
    pub kind: Name,
    /// Its value before the first write, if the spec says.
    pub initial: Option<i64>,
}

/// `var NAME(OBJECT): TYPE.FIELD;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldVar {
    /// What the property calls it.
    pub name: Name,
    /// The parameter that is the object.
    pub object: Name,
    /// `Type.field`
    pub field: Name,
}

/// `FORMALISM [NAME]: …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// `ere`, `ltl`, …
    pub formalism: Name,
    /// How handlers refer to it.
    pub name: Option<Name>,
    /// What it says.
    pub content: Content,
    /// All of it.
    pub span: Span,
}

/// What a body says, by formalism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Explicit states.
    Fsm(Vec<FsmState>, Vec<(Name, Vec<Name>)>),
    /// A regular expression.
    Ere(Pattern),
    /// A grammar: `symbol -> alternatives`.
    Cfg(Vec<(Name, Vec<Vec<Name>>)>),
    /// Rules that rewrite strings of events.
    Srs(Vec<SrsRule>),
    /// A temporal formula (`ltl` and `ptltl`).
    Formula(Formula),
    /// A formula about what threads know.
    Mttl(Formula),
    /// A monitor registered by the program.
    Raw(String, Span),
}

/// `[^] SYMBOLS [$] -> RIGHT`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SrsRule {
    /// `^`: at the beginning only.
    pub at_begin: bool,
    /// What is replaced.
    pub left: Vec<Name>,
    /// `$`: at the end only.
    pub at_end: bool,
    /// By what.
    pub right: SrsRight,
}

/// What a rule leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SrsRight {
    /// Symbols; none for `#epsilon`.
    Symbols(Vec<Name>),
    /// `#succeed`
    Succeed,
    /// `#fail`
    Fail,
}

/// `NAME [ event -> state, …, default -> state ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsmState {
    /// The state.
    pub name: Name,
    /// `event -> state`; the event may be `default`.
    pub transitions: Vec<(Name, Name)>,
}

/// A regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `empty`
    Empty,
    /// `epsilon`
    Epsilon,
    /// An event.
    Event(Name),
    /// One after the other.
    Concat(Vec<Pattern>),
    /// `a | b`
    Or(Vec<Pattern>),
    /// `a & b`
    And(Vec<Pattern>),
    /// `~a`
    Not(Box<Pattern>),
    /// `a*`, `a+`, `a?`
    Repeat(Box<Pattern>, Repeat),
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// `*`
    Any,
    /// `+`
    Some,
    /// `?`
    Maybe,
}

/// A formula, a guard, or a number in one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// `true`, `false`
    Bool(bool, Span),
    /// A number.
    Number(i64, Span),
    /// A text in quotes.
    Text(String, Span),
    /// An event, a variable, or a value an event carries.
    Name(Name),
    /// An operator before its operand.
    Unary(Unary, Box<Formula>),
    /// An operator between its operands.
    Binary(Binary, Box<Formula>, Box<Formula>),
    /// `[p, q)`: p held at some point and q has not held since.
    Interval(Box<Formula>, Box<Formula>),
    /// `<*>[<= 5s] p`, `[*][<= 5s] p`, `p S[<= 5s] q`: the operator, within a time.
    Bounded(Bound, Box<Formula>),
    /// `@thread inner`: in the latest known state of that thread.
    At(Name, Box<Formula>),
    /// `exists j != i: inner`
    Quantified(Quantified, Box<Formula>),
    /// `read(x)`, `max(a, b)`: a name, and what is in its parentheses.
    Call(Name, Vec<Formula>),
}

/// `[<= 5s]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// `<=`, `<`, `>=` or `>`.
    pub operator: Binary,
    /// How long, in nanoseconds.
    pub time: u64,
    /// Where it stands.
    pub span: Span,
}

/// `exists NAME [!= OTHER]:` or `forall …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantified {
    /// `forall`.
    pub all: bool,
    /// What is bound.
    pub name: Name,
    /// Who is left out.
    pub except: Option<Name>,
}

impl Formula {
    /// The part of the text it was written in.
    pub fn span(&self) -> Span {
        match self {
            Formula::Bool(_, span) | Formula::Number(_, span) | Formula::Text(_, span) => span.clone(),
            Formula::Name(name) => name.span.clone(),
            Formula::Unary(_, inner) | Formula::Bounded(_, inner) => inner.span(),
            Formula::Binary(_, left, right) | Formula::Interval(left, right) => {
                left.span().start..right.span().end
            }
            Formula::At(thread, inner) => thread.span.start - 1..inner.span().end,
            Formula::Quantified(quantified, inner) => quantified.name.span.start..inner.span().end,
            Formula::Call(name, _) => name.span.clone(),
        }
    }
}

/// `@CATEGORY { … }` or `@BODY@CATEGORY { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// For which body, if it is said.
    pub body: Option<Name>,
    /// Otherwise: those directly before it, by position.
    pub group: std::ops::Range<usize>,
    /// For which verdict.
    pub category: Name,
    /// What to do.
    pub actions: Vec<Action>,
}

/// What a handler does, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does.
    pub what: property::Action,
    /// The text to report, or the name of the action.
    pub span: Span,
}
