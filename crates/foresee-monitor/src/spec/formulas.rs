//! The grammar of formulas: temporal logic, predicates and arithmetic in one, from the loosest to the tightest:
//! `<->` and `->` (to the right), `||`, `&&`, `U R W S` (to the right), prefix operators, comparisons, `+ -`, `* / %`.
//!
//! In `mttl` bodies `@j` binds like a parenthesis: `@j x > 0` compares what j knew of x, `@j (x > 0)` is a formula of j, and `@j !c` is
//! `@j (!c)`. `exists j != i:` and `forall` reach as far to the right as they can.
//!
//! `<*>`, `[*]` and `S` may have a bound of time, `<*>[<= 5s] p` (also `once[<= 5s] p`, or `p within 5s`).
//!
//! So `!update S create` is `(!update) S create`, and `[] x > 0` is `[](x > 0)`. Words (`and`, `or`, `not`, `implies`)
//! and signs mean the same.

use super::ast::{Bound, Formula, Quantified};
use super::diagnostic::{Diagnostic, Span, closest};
use super::lexer::{Token, TokenKind, UNITS};
use super::parser::{Parser, Result};
use crate::operator::{Binary, Unary};

impl Parser {
    pub(super) fn formula(&mut self) -> Result<Formula> {
        self.nested(Parser::implication)
    }

    fn implication(&mut self) -> Result<Formula> {
        let left = self.disjunction()?;
        let operator = match &self.peek(0).kind {
            TokenKind::Sign("->" | "=>") => Binary::Implies,
            TokenKind::Sign("<->") => Binary::Iff,
            TokenKind::Name(word) if word == "implies" => Binary::Implies,
            TokenKind::Name(word) if word == "iff" => Binary::Iff,
            _ => return Ok(left),
        };
        self.next();
        let right = self.nested(Parser::implication)?;
        Ok(Formula::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn disjunction(&mut self) -> Result<Formula> {
        let mut left = self.conjunction()?;
        while self.takes("||") || self.takes("\\/") || self.takes_word("or") {
            self.counts()?;
            left = Formula::Binary(Binary::Or, Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Formula> {
        let mut left = self.until()?;
        while self.takes("&&") || self.takes("/\\") || self.takes_word("and") {
            self.counts()?;
            left = Formula::Binary(Binary::And, Box::new(left), Box::new(self.until()?));
        }
        Ok(left)
    }

    fn until(&mut self) -> Result<Formula> {
        let left = self.prefixed()?;
        let operators =
            [("U", Binary::Until), ("R", Binary::Release), ("W", Binary::WeakUntil), ("S", Binary::Since)];
        let Some((_, operator)) = operators.into_iter().find(|(word, _)| self.is_word(0, word)) else {
            return Ok(left);
        };
        self.next();
        let bound = self.bound()?;
        let right = self.nested(Parser::until)?;
        let whole = Formula::Binary(operator, Box::new(left), Box::new(right));
        match bound {
            Some(bound) if operator != Binary::Since => Err(not_bounded(bound.span)),
            bound => Ok(bounded(bound, whole)),
        }
    }

    /// Whether a bound such as `[<= 5s]` is there.
    fn is_bound(&self, ahead: usize) -> bool {
        let compares = match self.peek(ahead + 1).kind {
            TokenKind::Sign("<=" | ">=" | ">") => true,
            // `[<> p, q)` is an interval.
            TokenKind::Sign("<") => !self.is_sign(ahead + 2, ">") && !self.is_sign(ahead + 2, "*"),
            _ => false,
        };
        self.is_sign(ahead, "[") && compares
    }

    /// `[<= 5s]`, if it is there.
    fn bound(&mut self) -> Result<Option<Bound>> {
        if !self.is_bound(0) {
            return Ok(None);
        }
        let start = self.next().span.start;
        let operator = match self.next().kind {
            TokenKind::Sign("<=") => Binary::Le,
            TokenKind::Sign("<") => Binary::Lt,
            TokenKind::Sign(">=") => Binary::Ge,
            _ => Binary::Gt,
        };
        let (time, _) = self.time()?;
        let end = self.expect("]", "to close the bound")?.end;
        Ok(Some(Bound { operator, time, span: start..end }))
    }

    fn time(&mut self) -> Result<(u64, Span)> {
        match self.peek(0).kind {
            TokenKind::Time(time) => Ok((time, self.next().span)),
            _ => {
                let units: Vec<&str> = UNITS.iter().map(|(unit, _)| *unit).collect();
                let problem = self.unexpected("a time with its unit, such as `5s`");
                Err(problem.with_help(format!("units are {}", units.join(", "))))
            }
        }
    }

    /// The prefix operator that starts here, and how many tokens it has.
    fn prefix_operator(&self) -> Option<(Unary, usize)> {
        let signs = |signs: &[&str]| signs.iter().enumerate().all(|(ahead, sign)| self.is_sign(ahead, sign));
        let operators: [(&[&str], Unary); 6] = [
            (&["!"], Unary::Not),
            (&["[", "]"], Unary::Always),
            (&["<", ">"], Unary::Eventually),
            (&["(", "*", ")"], Unary::Previously),
            (&["<", "*", ">"], Unary::Once),
            (&["[", "*", "]"], Unary::Historically),
        ];
        let written = operators.into_iter().find(|(written, _)| signs(written));
        written.map(|(written, operator)| (operator, written.len())).or_else(|| match &self.peek(0).kind {
            TokenKind::Name(word) if word == "not" => Some((Unary::Not, 1)),
            TokenKind::Name(word) if word == "once" && self.is_bound(1) => Some((Unary::Once, 1)),
            TokenKind::Name(word) if word == "historically" && self.is_bound(1) => {
                Some((Unary::Historically, 1))
            }
            TokenKind::Name(word) if word == "o" && self.starts_operand(1) => Some((Unary::Next, 1)),
            TokenKind::Name(word) if word == "start" && self.is_sign(1, "(") => Some((Unary::Start, 1)),
            TokenKind::Name(word) if word == "end" && self.is_sign(1, "(") => Some((Unary::Stop, 1)),
            _ => None,
        })
    }

    fn starts_operand(&self, ahead: usize) -> bool {
        match &self.peek(ahead).kind {
            TokenKind::Name(word) => {
                !matches!(word.as_str(), "U" | "R" | "W" | "S" | "and" | "or" | "implies" | "iff")
            }
            TokenKind::Number(_) | TokenKind::Sign("(" | "[" | "!") => true,
            TokenKind::Sign("<") => self.is_sign(ahead + 1, ">") || self.is_sign(ahead + 1, "*"),
            _ => false,
        }
    }

    /// `exists NAME [!= OTHER]:` and what it is about.
    fn quantified(&mut self) -> Result<Formula> {
        let all = self.is_word(0, "forall");
        self.next();
        let name = self.name("a thread")?;
        let except = if self.takes("!=") { Some(self.name("a thread")?) } else { None };
        self.expect(":", "after the quantifier")?;
        let inner = self.formula()?;
        Ok(Formula::Quantified(Quantified { all, name, except }, Box::new(inner)))
    }

    /// DejaVu has quantifiers over the values of events within formulas; here values are parameters, and each has an instance.
    fn quantifier_refused(&self) -> Diagnostic {
        let (word, name) = (self.peek(0), self.peek(1));
        let is_all = self.is_word(0, "forall");
        let called = match &name.kind {
            TokenKind::Name(name) => name.as_str(),
            _ => "x",
        };
        let help = match is_all {
            true => format!(
                "make `{called}` a parameter of the property: what it states, it states for each value"
            ),
            false => format!(
                "let a `state` variable of the instance count those that there are: `event add(x, {called}) {{ there += 1; }}`, and ask for `there > 0`"
            ),
        };
        let message = "only `mttl` bodies have quantifiers, over threads";
        let label = "values of events are not quantified within a formula";
        Diagnostic::error(word.span.start..name.span.end, message, label).with_help(help)
    }

    /// `@thread`, before its operand.
    fn at(&mut self) -> Result<Formula> {
        self.next();
        let thread = self.name("a thread after `@`")?;
        let inner = match self.prefix_operator() {
            Some(_) => self.nested(Parser::prefixed)?,
            None => self.nested(Parser::operand)?,
        };
        Ok(Formula::At(thread, Box::new(inner)))
    }

    /// `read(x)`, `max(a, b)`
    fn call(&mut self) -> Result<Formula> {
        let name = self.name("a function")?;
        self.expect("(", "after the function")?;
        let mut inside = vec![self.formula()?];
        while self.takes(",") {
            self.counts()?;
            inside.push(self.formula()?);
        }
        self.expect(")", "to close the parenthesis")?;
        Ok(Formula::Call(name, inside))
    }

    fn is_quantifier(&self) -> bool {
        self.knows_threads
            && (self.is_word(0, "exists") || self.is_word(0, "forall"))
            && matches!(self.peek(1).kind, TokenKind::Name(_))
    }

    fn prefixed(&mut self) -> Result<Formula> {
        if self.is_quantifier() {
            return self.quantified();
        }
        if !self.knows_threads
            && (self.is_word(0, "exists") || self.is_word(0, "forall"))
            && matches!(self.peek(1).kind, TokenKind::Name(_))
            && (self.is_sign(2, ":") || self.is_sign(2, ".") || self.is_sign(2, "!="))
        {
            return Err(self.quantifier_refused());
        }
        let Some((operator, length)) = self.prefix_operator() else { return self.within() };
        (0..length).for_each(|_| _ = self.next());
        let bound = self.bound()?;
        let operand = self.nested(Parser::prefixed)?;
        match bound {
            Some(bound) if !matches!(operator, Unary::Once | Unary::Historically) => {
                Err(not_bounded(bound.span))
            }
            bound => Ok(bounded(bound, Formula::Unary(operator, Box::new(operand)))),
        }
    }

    /// `p within 5s`: p holds, or has held not longer than that ago.
    fn within(&mut self) -> Result<Formula> {
        let inner = self.comparison()?;
        if !self.takes_word("within") {
            return Ok(inner);
        }
        self.counts()?;
        let (time, span) = self.time()?;
        let once = Formula::Unary(Unary::Once, Box::new(inner));
        Ok(bounded(Some(Bound { operator: Binary::Le, time, span }), once))
    }

    fn comparison(&mut self) -> Result<Formula> {
        let left = self.sum()?;
        let operator = match self.peek(0).kind {
            TokenKind::Sign("==" | "=") => Binary::Eq,
            TokenKind::Sign("!=") => Binary::Ne,
            TokenKind::Sign("<=") => Binary::Le,
            TokenKind::Sign(">=") => Binary::Ge,
            TokenKind::Sign("<") => Binary::Lt,
            TokenKind::Sign(">") => Binary::Gt,
            _ => return Ok(left),
        };
        self.next();
        Ok(Formula::Binary(operator, Box::new(left), Box::new(self.sum()?)))
    }

    fn sum(&mut self) -> Result<Formula> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek(0).kind {
                TokenKind::Sign("+") => Binary::Add,
                TokenKind::Sign("-") => Binary::Sub,
                _ => return Ok(left),
            };
            self.next();
            self.counts()?;
            left = Formula::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Formula> {
        let mut left = self.operand()?;
        loop {
            let operator = match self.peek(0).kind {
                TokenKind::Sign("*") => Binary::Mul,
                TokenKind::Sign("/") => Binary::Div,
                TokenKind::Sign("%") => Binary::Rem,
                _ => return Ok(left),
            };
            self.next();
            self.counts()?;
            left = Formula::Binary(operator, Box::new(left), Box::new(self.operand()?));
        }
    }

    fn operand(&mut self) -> Result<Formula> {
        let Token { kind, span: start } = self.peek(0).clone();
        if self.knows_threads && self.prefix_operator().is_some_and(|(operator, _)| operator.is_temporal()) {
            let label = "a formula with a temporal operator is no number";
            return Err(Diagnostic::error(start, "temporal operators make formulas, not numbers", label));
        }
        match kind {
            TokenKind::Sign("@") if self.knows_threads => self.at(),
            TokenKind::Name(_) if self.knows_threads && self.is_sign(1, "(") => self.call(),
            TokenKind::Sign("-") => {
                self.next();
                let inner = self.nested(Parser::operand)?;
                Ok(Formula::Unary(Unary::Minus, Box::new(inner)))
            }
            TokenKind::Number(number) => {
                self.next();
                Ok(Formula::Number(number, start))
            }
            TokenKind::Text(text) => {
                self.next();
                Ok(Formula::Text(text, start))
            }
            TokenKind::Sign("(") => {
                self.next();
                let inner = self.formula()?;
                self.expect(")", "to close the parenthesis")?;
                Ok(inner)
            }
            TokenKind::Sign("[") => {
                self.next();
                let from = self.formula()?;
                self.expect(",", "in the interval `[p, q)`")?;
                let to = self.formula()?;
                self.expect(")", "to close the interval `[p, q)`")?;
                Ok(Formula::Interval(Box::new(from), Box::new(to)))
            }
            _ if self.takes_word("true") => Ok(Formula::Bool(true, start)),
            _ if self.takes_word("false") => Ok(Formula::Bool(false, start)),
            _ if self.at_body_end() => Err(self.unexpected("a formula")),
            TokenKind::Name(word) if self.is_sign(1, "(") => Err(no_operator(&word, start)),
            _ => Ok(Formula::Name(self.variable("an event, a variable, a number or `(`")?)),
        }
    }
}

fn bounded(bound: Option<Bound>, formula: Formula) -> Formula {
    match bound {
        Some(bound) => Formula::Bounded(bound, Box::new(formula)),
        None => formula,
    }
}

/// A bound of time where there can be none.
pub(super) fn not_bounded(span: Span) -> Diagnostic {
    let message = "time bounds the past operators of `ptltl`: `<*>`, `[*]` and `S`";
    let help = "write what must have been: `ptltl: response -> <*>[<= 5s] request`";
    Diagnostic::error(span, message, "no bound can be here").with_help(help)
}

/// Words for operators, as other languages have them or as they are here, and how they are written here.
const OPERATORS: [(&str, &str); 9] = [
    ("start", "start(p)"),
    ("end", "end(p)"),
    ("not", "!p"),
    ("always", "[] p"),
    ("eventually", "<> p"),
    ("next", "o p"),
    ("previously", "(*) p"),
    ("once", "<*> p"),
    ("historically", "[*] p"),
];

/// A word before a parenthesis that is no operator.
fn no_operator(word: &str, span: Span) -> Diagnostic {
    let meant = closest(word, OPERATORS.map(|(operator, _)| operator));
    let written = OPERATORS.iter().find(|(operator, _)| Some(*operator) == meant);
    let problem =
        Diagnostic::error(span, format!("there is no operator `{word}`"), "no operator of formulas");
    match written {
        Some((_, written)) => problem.with_help(format!("did you mean `{written}`?")),
        None => problem.with_help("what events carry is said where they are declared: `event open(f);`"),
    }
}
