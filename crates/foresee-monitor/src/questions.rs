//! What formulas about the knowledge of threads ask of other threads, as people write it.

use crate::mttl::{Expr, Formula, Function, Mttl, Term};
use crate::property::Property;

/// Something below an `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// As people write it.
    pub text: String,
    /// Whether the answer is true or false; otherwise a number.
    pub is_formula: bool,
}

/// Everything below an `@` of a formula, in the order in which they stand there, the inner before the outer.
pub fn questions(property: &Property, mttl: &Mttl) -> Vec<Question> {
    let mut writer = Writer {
        property,
        bound: vec![property.threads[mttl.owner as usize].name.clone()],
        questions: Vec::new(),
    };
    writer.formula(&mttl.formula);
    writer.questions
}

struct Writer<'p> {
    property: &'p Property,
    bound: Vec<String>,
    questions: Vec<Question>,
}

impl Writer<'_> {
    fn thread(&self, term: Term) -> String {
        let name = match term {
            Term::Bound(number) => self.bound.get(number as usize).cloned(),
            Term::Named(name) => self.property.threads.get(name as usize).map(|thread| thread.name.clone()),
        };
        name.unwrap_or_default()
    }

    fn at(&mut self, term: Term, text: String, is_formula: bool) -> String {
        let at = format!("@{}({text})", self.thread(term));
        self.questions.push(Question { text, is_formula });
        at
    }

    fn formula(&mut self, formula: &Formula) -> String {
        match formula {
            Formula::Const(value) => value.to_string(),
            Formula::Holds(value) => self.expr(value),
            Formula::Compare(operator, left, right) => {
                format!("{} {} {}", self.expr(left), operator.text(), self.expr(right))
            }
            Formula::Read(variable) => format!("read({})", self.property.vars[*variable as usize].name),
            Formula::Write(variable) => format!("write({})", self.property.vars[*variable as usize].name),
            Formula::Not(inner) => format!("!({})", self.formula(inner)),
            Formula::Join(operator, left, right) => {
                format!("({}) {} ({})", self.formula(left), operator.text(), self.formula(right))
            }
            Formula::Previously(inner) => format!("(*) ({})", self.formula(inner)),
            Formula::Once(inner) => format!("<*> ({})", self.formula(inner)),
            Formula::Historically(inner) => format!("[*] ({})", self.formula(inner)),
            Formula::Since(left, right) => format!("({}) S ({})", self.formula(left), self.formula(right)),
            Formula::Interval(from, to) => format!("[{}, {})", self.formula(from), self.formula(to)),
            Formula::At(term, inner) => {
                let inner = self.formula(inner);
                self.at(*term, inner, true)
            }
            Formula::Quantified(quantifier, inner) => {
                let name = self.property.threads[quantifier.among as usize].name.clone();
                let word = if quantifier.all { "forall" } else { "exists" };
                let except = quantifier.except.map(|term| format!(" != {}", self.thread(term)));
                let number = quantifier.binds as usize;
                self.bound.resize((number + 1).max(self.bound.len()), String::new());
                self.bound[number].clone_from(&name);
                format!("{word} {name}{}: {}", except.unwrap_or_default(), self.formula(inner))
            }
        }
    }

    fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Number(number) => number.to_string(),
            Expr::Local(local) => self.property.locals[*local as usize].name.clone(),
            Expr::Var(variable) => self.property.vars[*variable as usize].name.clone(),
            Expr::Minus(inner) => format!("-({})", self.expr(inner)),
            Expr::Arithmetic(operator, left, right) => {
                format!("({}) {} ({})", self.expr(left), operator.text(), self.expr(right))
            }
            Expr::Function(function, inside) => {
                let name = Function::ALL.iter().find(|(_, known, _)| known == function);
                let inside: Vec<String> = inside.iter().map(|inner| self.expr(inner)).collect();
                format!("{}({})", name.map_or("", |(name, ..)| name), inside.join(", "))
            }
            Expr::At(term, inner) => {
                let inner = self.expr(inner);
                self.at(*term, inner, false)
            }
        }
    }
}
