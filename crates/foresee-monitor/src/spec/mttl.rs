//! Formulas about what threads know: from their syntax to [`Mttl`], and why some are refused.
//!
//! A formula that begins with `@i` speaks of what one thread can be sure of, and has the same value at the same event in every run that the
//! causality allows: it is *robust*. What does not begin so compares the present states of several threads, or looks along the
//! interleaving that happened to be observed, and is refused with the reason; so is what no thread can know.

use thiserror::Error;

use super::ast::{self, Formula as Written};
use super::diagnostic::{Diagnostic, Span};
use crate::mttl::{Expr, Formula, Function, Mttl, Quantifier, Term, ThreadName, Who};
use crate::operator::{Binary, Unary};

/// What is known of so many threads at once grows with this power of the number of threads.
const QUANTIFIER_LIMIT: u32 = 4;

/// Why a formula is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// It begins with no thread.
    #[error("a formula belongs to a thread: it must be `@i(…)`")]
    NoThread,
    /// It compares the present states of several threads.
    #[error("not robust: pairs of present states of two threads differ between runs of the same computation")]
    SeveralThreads,
    /// It is several formulas.
    #[error(
        "these are two formulas: write a body for each, as each must hold at all states of its own thread"
    )]
    SeveralFormulas,
    /// A temporal operator outside of every `@`.
    #[error(
        "not robust: a temporal operator outside of every `@` would look along the observed interleaving"
    )]
    TemporalOutside,
    /// Another operator outside of every `@`.
    #[error("outside of `@` there is no state to speak about")]
    OutsideOfStates,
    /// A quantifier outside of every `@`.
    #[error("not robust: a quantifier outside of every `@` compares the present states of several threads")]
    QuantifierOutside,
    /// A local outside of every `@`.
    #[error("`{0}` is a local, and outside of every `@` it belongs to no thread")]
    LocalOfNobody(String),
    /// A thread that no quantifier binds.
    #[error("`{0}` is bound by no quantifier")]
    Unbound(String),
    /// A group where one thread is needed.
    #[error("`{0}` may be several threads")]
    Group(String),
    /// Nobody said who this is.
    #[error("`{0}` is no thread: declare it, `thread {0};`")]
    Undeclared(String),
    /// A single thread after `exists` or `forall`.
    #[error("`{0}` is one thread: there is nothing to quantify over")]
    OneThread(String),
    /// An operator about later events.
    #[error("only the past of a state can be known in it")]
    Future,
    /// A number where a formula is needed.
    #[error("`{0}` is a number, and a formula is needed")]
    NotAFormula(String),
    /// A formula where a number is needed.
    #[error("this is a formula, and a number is needed")]
    NotANumber,
    /// A name that means nothing in a state.
    #[error("`{0}` is neither a local nor a variable")]
    UnknownName(String),
    /// An event.
    #[error("`{0}` is an event, and events are not part of what threads know")]
    EventInState(String),
    /// A function that is not there.
    #[error("there is no function `{0}`")]
    UnknownFunction(String),
    /// The wrong number of arguments.
    #[error("`{name}` takes {expected} of them, not {found}")]
    Arguments {
        /// The function.
        name: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// Not a variable in `read` or `write`.
    #[error("`read` and `write` are about a shared variable of this property")]
    NotAVariable,
    /// Too many quantifiers inside one another.
    #[error("more than {QUANTIFIER_LIMIT} quantifiers in one formula")]
    TooManyQuantifiers,
}

impl Refusal {
    /// What to write instead, or what was expected.
    fn label(&self) -> &'static str {
        match self {
            Refusal::NoThread | Refusal::LocalOfNobody(_) => "put it into `@i(…)`",
            Refusal::SeveralThreads | Refusal::QuantifierOutside => {
                "say what one of them knows of the others: `@i(… @j(…))`"
            }
            Refusal::SeveralFormulas => "to be split here",
            Refusal::TemporalOutside => "inside, as in `@i([*] …)`, it looks along the thread's own states",
            Refusal::OutsideOfStates => "`@i(!…)` is meant",
            Refusal::Unbound(_) => "`forall` or `exists` is meant, as in `forall j != i: …`",
            Refusal::Group(_) => "`exists` or `forall` over it is meant",
            Refusal::Undeclared(_) => "unknown thread",
            Refusal::OneThread(_) => "declare a name for any thread: `thread j;`",
            Refusal::Future => "use `(*)`, `<*>`, `[*]`, `S` or `[p, q)`",
            Refusal::NotAFormula(_) => "expected a formula",
            Refusal::NotANumber => "expected a number",
            Refusal::UnknownName(_) | Refusal::UnknownFunction(_) => "unknown name",
            Refusal::EventInState(_) => "expected a local or a variable",
            Refusal::Arguments { .. } => "too few or too many",
            Refusal::NotAVariable => "expected a name that is declared with `var`",
            Refusal::TooManyQuantifiers => "one too many",
        }
    }

    fn at(self, span: Span) -> Diagnostic {
        Diagnostic::error(span, self.to_string(), self.label())
    }
}

/// What names in a formula can mean.
pub(super) struct MttlScope<'a> {
    pub(super) property: &'a ast::Property,
    /// The declared threads, and those that the formula only mentions.
    pub(super) threads: Vec<ThreadName>,
    pub(super) warnings: Vec<Diagnostic>,
    quantifiers: u32,
    /// What is bound here, innermost last.
    bound: Vec<(String, Term)>,
}

/// A formula or a number.
enum Typed {
    Formula(Formula),
    Number(Expr),
}

type Checked<T> = Result<T, Diagnostic>;

/// The names for threads that a property declares.
pub(super) fn threads(property: &ast::Property) -> Vec<ThreadName> {
    let mut all = Vec::new();
    for declared in &property.threads {
        let who = match &declared.pattern {
            None => Who::Any,
            Some((pattern, _)) if pattern.contains('*') => Who::Like(pattern.clone()),
            Some((name, _)) => Who::Named(name.clone()),
        };
        let names = declared.names.iter();
        all.extend(names.map(|name| ThreadName { name: name.text.clone(), who: who.clone() }));
    }
    all
}

impl<'a> MttlScope<'a> {
    pub(super) fn new(property: &'a ast::Property, threads: Vec<ThreadName>) -> MttlScope<'a> {
        MttlScope { property, threads, warnings: Vec::new(), quantifiers: 0, bound: Vec::new() }
    }

    /// A whole formula.
    pub(super) fn whole(&mut self, written: &Written) -> Checked<Mttl> {
        let Written::At(name, inner) = written else { return Err(self.not_of_a_thread(written)) };
        let Some(owner) = self.declared(&name.text) else { return Err(self.undeclared(name)) };
        self.quantifiers = 0;
        self.bound = vec![(name.text.clone(), Term::Bound(0))];
        let formula = self.formula(inner)?;
        Ok(Mttl { owner, formula })
    }

    /// Why something that does not begin with `@` is refused.
    fn not_of_a_thread(&self, written: &Written) -> Diagnostic {
        let span = written.span();
        if let Some(local) = self.local_outside(written) {
            return Refusal::LocalOfNobody(local.text.clone()).at(local.span.clone());
        }
        let refusal = match written {
            Written::Quantified(..) => Refusal::QuantifierOutside,
            Written::Unary(operator, _) if operator.is_temporal() => Refusal::TemporalOutside,
            Written::Binary(Binary::Since | Binary::Until | Binary::Release | Binary::WeakUntil, ..)
            | Written::Interval(..) => Refusal::TemporalOutside,
            Written::Binary(Binary::And, left, right) if mentions_at(left) && mentions_at(right) => {
                Refusal::SeveralFormulas
            }
            Written::Binary(_, left, right) if mentions_at(left) && mentions_at(right) => {
                Refusal::SeveralThreads
            }
            _ if mentions_at(written) => Refusal::OutsideOfStates,
            _ => Refusal::NoThread,
        };
        refusal.at(span)
    }

    /// A local outside of every `@`, where others are inside.
    fn local_outside<'w>(&self, written: &'w Written) -> Option<&'w ast::Name> {
        match written {
            Written::Name(name) => {
                self.property.locals.iter().any(|local| local.name.text == name.text).then_some(name)
            }
            Written::Unary(_, inner) | Written::Bounded(_, inner) | Written::Quantified(_, inner) => {
                self.local_outside(inner)
            }
            Written::Binary(_, left, right) | Written::Interval(left, right) => {
                self.local_outside(left).or_else(|| self.local_outside(right))
            }
            Written::Call(_, inside) => inside.iter().find_map(|inner| self.local_outside(inner)),
            Written::Bool(..) | Written::Number(..) | Written::Text(..) | Written::At(..) => None,
        }
    }

    fn declared(&self, name: &str) -> Option<u32> {
        self.threads.iter().position(|thread| thread.name == name).map(|at| at as u32)
    }

    fn undeclared(&self, name: &ast::Name) -> Diagnostic {
        let known = self.threads.iter().map(|thread| thread.name.as_str());
        let refusal = Refusal::Undeclared(name.text.clone());
        refusal.at(name.span.clone()).with_suggestion(&name.text, known)
    }

    /// The thread that a name means here.
    fn thread(&self, name: &ast::Name) -> Checked<Term> {
        if let Some((_, term)) = self.bound.iter().rev().find(|(bound, _)| *bound == name.text) {
            return Ok(*term);
        }
        let Some(declared) = self.declared(&name.text) else { return Err(self.undeclared(name)) };
        let text = name.text.clone();
        match self.threads[declared as usize].who {
            Who::Named(_) => Ok(Term::Named(declared)),
            Who::Any => Err(Refusal::Unbound(text).at(name.span.clone())),
            Who::Like(_) => Err(Refusal::Group(text).at(name.span.clone())),
        }
    }

    /// The thread that is left out. A name that nobody declared can only be that of a thread of the program.
    fn left_out(&mut self, name: &ast::Name) -> Checked<Term> {
        let is_known = self.bound.iter().any(|(bound, _)| *bound == name.text);
        if !is_known && self.declared(&name.text).is_none() {
            let message = format!("`{}` is not declared: taken for the thread of that name", name.text);
            let help = format!("declare it: `thread {0}: \"{0}\";`", name.text);
            let warning = Diagnostic::warning(name.span.clone(), message, "not declared");
            self.warnings.push(warning.with_help(help));
            self.threads.push(ThreadName { name: name.text.clone(), who: Who::Named(name.text.clone()) });
        }
        self.thread(name)
    }

    fn formula(&mut self, written: &Written) -> Checked<Formula> {
        match self.typed(written)? {
            Typed::Formula(formula) => Ok(formula),
            Typed::Number(_) => Err(Refusal::NotAFormula(described(written)).at(written.span())),
        }
    }

    fn number(&mut self, written: &Written) -> Checked<Expr> {
        match self.typed(written)? {
            Typed::Number(number) => Ok(number),
            Typed::Formula(_) => Err(Refusal::NotANumber.at(written.span())),
        }
    }

    /// A side of a comparison: a number, or a `bool`.
    fn compared(&mut self, written: &Written) -> Checked<Expr> {
        match self.typed(written)? {
            Typed::Number(number) => Ok(number),
            Typed::Formula(formula) => {
                truth_value(formula).ok_or_else(|| Refusal::NotANumber.at(written.span()))
            }
        }
    }

    fn typed(&mut self, written: &Written) -> Checked<Typed> {
        let formula = match written {
            Written::Bool(value, _) => Formula::Const(*value),
            Written::Number(number, _) => return Ok(Typed::Number(Expr::Number(*number))),
            Written::Text(_, span) => return Err(Refusal::NotANumber.at(span.clone())),
            Written::Bounded(bound, _) => return Err(super::formulas::not_bounded(bound.span.clone())),
            Written::Name(name) => return self.name(name),
            Written::Unary(Unary::Minus, inner) => {
                return Ok(Typed::Number(Expr::Minus(Box::new(self.number(inner)?))));
            }
            Written::Unary(operator, inner) => {
                if matches!(operator, Unary::Next | Unary::Always | Unary::Eventually) {
                    return Err(Refusal::Future.at(written.span()));
                }
                self.past(*operator, inner)?
            }
            Written::Binary(operator, left, right) => return self.binary(*operator, left, right, written),
            Written::Interval(from, to) => {
                Formula::Interval(Box::new(self.formula(from)?), Box::new(self.formula(to)?))
            }
            Written::At(name, inner) => {
                let term = self.thread(name)?;
                return Ok(match self.typed(inner)? {
                    Typed::Formula(inner) => Typed::Formula(Formula::At(term, Box::new(inner))),
                    Typed::Number(inner) => Typed::Number(Expr::At(term, Box::new(inner))),
                });
            }
            Written::Quantified(quantified, inner) => self.quantified(quantified, inner)?,
            Written::Call(name, inside) => return self.call(name, inside),
        };
        Ok(Typed::Formula(formula))
    }

    fn past(&mut self, operator: Unary, inner: &Written) -> Checked<Formula> {
        let inner = self.formula(inner)?;
        let before = |inner: &Formula| Formula::Previously(Box::new(inner.clone()));
        let both = |now: Formula, then: Formula| Formula::Join(Binary::And, Box::new(now), Box::new(then));
        Ok(match operator {
            Unary::Previously => Formula::Previously(Box::new(inner)),
            Unary::Once => Formula::Once(Box::new(inner)),
            Unary::Historically => Formula::Historically(Box::new(inner)),
            Unary::Start => both(inner.clone(), Formula::Not(Box::new(before(&inner)))),
            Unary::Stop => both(Formula::Not(Box::new(inner.clone())), before(&inner)),
            _ => Formula::Not(Box::new(inner)),
        })
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &Written,
        right: &Written,
        written: &Written,
    ) -> Checked<Typed> {
        use Binary::{Add, And, Div, Iff, Implies, Mul, Or, Rem, Since, Sub};
        let formula = match operator {
            Binary::Until | Binary::Release | Binary::WeakUntil => {
                return Err(Refusal::Future.at(written.span()));
            }
            Add | Sub | Mul | Div | Rem => {
                let (left, right) = (Box::new(self.number(left)?), Box::new(self.number(right)?));
                return Ok(Typed::Number(Expr::Arithmetic(operator, left, right)));
            }
            And | Or | Implies | Iff => {
                Formula::Join(operator, Box::new(self.formula(left)?), Box::new(self.formula(right)?))
            }
            Since => Formula::Since(Box::new(self.formula(left)?), Box::new(self.formula(right)?)),
            _ => Formula::Compare(operator, self.compared(left)?, self.compared(right)?),
        };
        Ok(Typed::Formula(formula))
    }

    fn quantified(&mut self, quantified: &ast::Quantified, inner: &Written) -> Checked<Formula> {
        let name = &quantified.name;
        let Some(among) = self.declared(&name.text) else { return Err(self.undeclared(name)) };
        if matches!(self.threads[among as usize].who, Who::Named(_)) {
            return Err(Refusal::OneThread(name.text.clone()).at(name.span.clone()));
        }
        let except = match &quantified.except {
            Some(other) => Some(self.left_out(other)?),
            None => None,
        };
        self.quantifiers += 1;
        if self.quantifiers > QUANTIFIER_LIMIT {
            return Err(Refusal::TooManyQuantifiers.at(name.span.clone()));
        }
        let binds = self.quantifiers;
        self.bound.push((name.text.clone(), Term::Bound(binds)));
        let inner = self.formula(inner);
        self.bound.pop();
        Ok(Formula::Quantified(Quantifier { all: quantified.all, binds, among, except }, Box::new(inner?)))
    }

    fn call(&mut self, name: &ast::Name, inside: &[Written]) -> Checked<Typed> {
        if matches!(name.text.as_str(), "read" | "write") {
            let var = match inside {
                [Written::Name(var)] => self.var(&var.text),
                _ => None,
            };
            let Some(var) = var else {
                let span = inside.first().map_or(name.span.clone(), Written::span);
                return Err(Refusal::NotAVariable.at(span));
            };
            let access = if name.text == "read" { Formula::Read(var) } else { Formula::Write(var) };
            return Ok(Typed::Formula(access));
        }
        let Some((_, function, expected)) = Function::ALL.iter().find(|(known, ..)| *known == name.text)
        else {
            let known = Function::ALL.iter().map(|(known, ..)| *known).chain(["read", "write"]);
            let refusal = Refusal::UnknownFunction(name.text.clone()).at(name.span.clone());
            return Err(refusal.with_suggestion(&name.text, known));
        };
        if inside.len() != *expected {
            let refusal =
                Refusal::Arguments { name: name.text.clone(), expected: *expected, found: inside.len() };
            return Err(refusal.at(name.span.clone()));
        }
        let inside = inside.iter().map(|inner| self.number(inner)).collect::<Checked<Vec<_>>>()?;
        Ok(Typed::Number(Expr::Function(*function, inside)))
    }

    fn var(&self, name: &str) -> Option<u32> {
        self.property.vars.iter().position(|var| var.name.text == name).map(|at| at as u32)
    }

    fn name(&self, name: &ast::Name) -> Checked<Typed> {
        let local = self.property.locals.iter().position(|local| local.name.text == name.text);
        let (value, kind) = match (local, self.var(&name.text)) {
            (Some(local), _) => (Expr::Local(local as u32), &self.property.locals[local].kind),
            (None, Some(var)) => (Expr::Var(var), &self.property.vars[var as usize].kind),
            (None, None) => {
                if self.property.events.iter().any(|event| event.name.text == name.text) {
                    return Err(Refusal::EventInState(name.text.clone()).at(name.span.clone()));
                }
                let known = self.property.locals.iter().chain(&self.property.vars);
                let known = known.map(|var| var.name.text.as_str());
                let refusal = Refusal::UnknownName(name.text.clone()).at(name.span.clone());
                return Err(refusal.with_suggestion(&name.text, known));
            }
        };
        Ok(match kind.text.as_str() {
            "bool" => Typed::Formula(Formula::Holds(value)),
            _ => Typed::Number(value),
        })
    }
}

/// A `bool` as the number it is compared by.
fn truth_value(formula: Formula) -> Option<Expr> {
    match formula {
        Formula::Const(value) => Some(Expr::Number(i64::from(value))),
        Formula::Holds(value) => Some(value),
        Formula::At(term, inner) => Some(Expr::At(term, Box::new(truth_value(*inner)?))),
        _ => None,
    }
}

fn mentions_at(written: &Written) -> bool {
    match written {
        Written::At(..) => true,
        Written::Unary(_, inner) | Written::Bounded(_, inner) | Written::Quantified(_, inner) => {
            mentions_at(inner)
        }
        Written::Binary(_, left, right) | Written::Interval(left, right) => {
            mentions_at(left) || mentions_at(right)
        }
        Written::Call(_, inside) => inside.iter().any(mentions_at),
        Written::Bool(..) | Written::Number(..) | Written::Text(..) | Written::Name(_) => false,
    }
}

/// A number, as a message names it.
fn described(written: &Written) -> String {
    match written {
        Written::Name(name) => name.text.clone(),
        Written::Number(number, _) => number.to_string(),
        Written::At(_, inner) => described(inner),
        _ => "this".to_owned(),
    }
}
