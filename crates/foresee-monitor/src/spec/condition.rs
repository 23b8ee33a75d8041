//! Conditions over variables and the values that an event carries: the guards of events, and the predicates of formulas.

use super::ast::{self, ANYTHING, Formula};
use super::diagnostic::Diagnostic;
use crate::operator::{Binary, Unary};
use crate::predicate::{Expr, Source, text_number};

/// The name by which a spec means the thread that does an event.
pub(super) const THREAD: &str = "thread";

/// What names in a condition can mean.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// The program's variables.
    pub(super) vars: &'a [ast::Var],
    /// Those of each instance.
    pub(super) states: &'a [ast::Var],
    /// The parameters of the property, where there are values for them.
    pub(super) params: &'a [ast::Name],
    pub(super) carried: &'a [&'a str],
    /// Those of the property.
    pub(super) texts: &'a [String],
}

impl Scope<'_> {
    /// A condition: something that is true or false.
    pub(super) fn condition(&self, formula: &Formula) -> Result<Expr, Diagnostic> {
        use Binary::{Eq, Ge, Gt, Le, Lt, Ne};
        match formula {
            Formula::Bool(value, _) => Ok(Expr::Number(i64::from(*value))),
            Formula::Name(name) => self.name(name),
            Formula::Unary(Unary::Not, inner) => {
                Ok(Expr::Unary(Unary::Not, Box::new(self.condition(inner)?)))
            }
            Formula::Binary(operator, left, right) => {
                use Binary::{And, Iff, Implies, Or};
                match operator {
                    Eq | Ne | Lt | Le | Gt | Ge if is_text(left) || is_text(right) => {
                        self.text_comparison(*operator, left, right)
                    }
                    Eq | Ne | Lt | Le | Gt | Ge => Ok(Expr::Binary(
                        *operator,
                        Box::new(self.number(left)?),
                        Box::new(self.number(right)?),
                    )),
                    And | Or | Implies | Iff => Ok(Expr::Binary(
                        *operator,
                        Box::new(self.condition(left)?),
                        Box::new(self.condition(right)?),
                    )),
                    _ => Err(not_a(formula, "a condition")),
                }
            }
            _ => Err(not_a(formula, "a condition")),
        }
    }

    /// `value == "text"` or `value != "text"`, in either order.
    fn text_comparison(&self, operator: Binary, left: &Formula, right: &Formula) -> Result<Expr, Diagnostic> {
        let whole = left.span().start..right.span().end;
        let (value, text) = if is_text(left) { (right, left) } else { (left, right) };
        if !matches!(operator, Binary::Eq | Binary::Ne) {
            let message = "texts are the same or not: there is no order among them";
            return Err(Diagnostic::error(whole, message, "expected `==` or `!=`"));
        }
        let Formula::Name(name) = value else {
            let message = "a text is compared with a value that the event carries";
            return Err(Diagnostic::error(value.span(), message, "expected the name of a value"));
        };
        let value = self.name(name)?;
        if matches!(value, Expr::Source(Source::Var(_) | Source::Thread)) {
            let message = format!("`{}` is a number, not a text", name.text);
            return Err(Diagnostic::error(
                name.span.clone(),
                message,
                "expected a value that the event carries",
            ));
        }
        let text = self.number_of_text(text)?;
        Ok(Expr::Binary(operator, Box::new(value), Box::new(text)))
    }

    /// What stands for a text.
    pub(super) fn number_of_text(&self, formula: &Formula) -> Result<Expr, Diagnostic> {
        let Formula::Text(text, span) = formula else { return Err(not_a(formula, "a text")) };
        match self.texts.iter().position(|known| known == text) {
            Some(position) => Ok(Expr::Number(text_number(position) as i64)),
            None => {
                let message = "texts are for guards and changes of events";
                Err(Diagnostic::error(span.clone(), message, "not in a formula")
                    .with_help("give the event a guard, as in `event open(f, name) when name == \"x\";`"))
            }
        }
    }

    /// A number.
    pub(super) fn number(&self, formula: &Formula) -> Result<Expr, Diagnostic> {
        use Binary::{Add, Div, Mul, Rem, Sub};
        match formula {
            Formula::Number(number, _) => Ok(Expr::Number(*number)),
            Formula::Bool(value, _) => Ok(Expr::Number(i64::from(*value))),
            Formula::Name(name) => self.name(name),
            Formula::Unary(Unary::Minus, inner) => {
                Ok(Expr::Unary(Unary::Minus, Box::new(self.number(inner)?)))
            }
            Formula::Binary(operator @ (Add | Sub | Mul | Div | Rem), left, right) => {
                Ok(Expr::Binary(*operator, Box::new(self.number(left)?), Box::new(self.number(right)?)))
            }
            Formula::Text(_, span) => {
                let message = "a text is no number";
                Err(Diagnostic::error(span.clone(), message, "texts are compared with `==` or `!=`"))
            }
            _ => Err(not_a(formula, "a number")),
        }
    }

    fn name(&self, name: &ast::Name) -> Result<Expr, Diagnostic> {
        let var = || self.vars.iter().position(|var| var.name.text == name.text);
        let state = || self.states.iter().position(|state| state.name.text == name.text);
        let param = || self.params.iter().position(|param| param.text == name.text);
        let arg = self.carried.iter().position(|carried| *carried == name.text && name.text != ANYTHING);
        let source = match arg {
            Some(arg) => Source::Arg(arg as u32),
            None if name.text == THREAD => Source::Thread,
            None => match (state(), var(), param()) {
                (Some(state), ..) => Source::State(state as u32),
                (None, Some(var), _) => Source::Var(var as u32),
                (None, None, Some(param)) => Source::Param(param as u8),
                (None, None, None) => return Err(self.unknown(name)),
            },
        };
        Ok(Expr::Source(source))
    }

    fn unknown(&self, name: &ast::Name) -> Diagnostic {
        let vars = self.vars.iter().chain(self.states).map(|var| &var.name).chain(self.params);
        let known = vars.map(|name| name.text.as_str()).chain(self.carried.iter().copied());
        let message = format!("`{}` is neither a variable nor a value of the event", name.text);
        let problem = Diagnostic::error(name.span.clone(), message, "unknown name");
        match name.text.as_str() {
            "null" | "NULL" | "nullptr" | "None" => problem.with_help("a pointer to nothing is `0`"),
            written => problem.with_suggestion(written, known),
        }
    }
}

fn is_text(formula: &Formula) -> bool {
    matches!(formula, Formula::Text(..))
}

fn not_a(formula: &Formula, what: &str) -> Diagnostic {
    Diagnostic::error(formula.span(), format!("this is not {what}"), format!("expected {what}"))
}
