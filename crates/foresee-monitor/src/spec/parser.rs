//! From tokens to the syntax tree: properties, events, variables and handlers. Bodies are parsed in
//! `bodies.rs` and formulas in `formulas.rs`.
//!
//! Recursive descent. The first mistake in a property ends that property, and parsing goes on with the next one, so
//! that one slip does not hide the mistakes elsewhere and does not cause others.

use super::ast::{self, Arg, Change, Event, FieldVar, Handler, Name, Property, Threads, Var};
use super::diagnostic::{Diagnostic, Span};
use super::lexer::{Comment, Token, TokenKind, tokens};
use super::limits;
use crate::operator::Binary;
use crate::property::Action;

/// What parsing found.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The properties that could be read.
    pub properties: Vec<Property>,
    /// All comments, in order.
    pub comments: Vec<Comment>,
    /// What was wrong.
    pub problems: Vec<Diagnostic>,
}

/// Parses a spec file.
pub fn parse(source: &str) -> Parsed {
    if source.len() > limits::SIZE {
        let label = format!("more than {} MB", limits::SIZE >> 20);
        let problems = vec![Diagnostic::error(0..0, "the file is too long for a spec", label)];
        return Parsed { properties: Vec::new(), comments: Vec::new(), problems };
    }
    let (tokens, comments, mut problems) = tokens(source);
    let mut parser = Parser { tokens, at: 0, depth: 0, operators: 0, knows_threads: false };
    let mut properties = Vec::new();
    while !parser.is_at(&TokenKind::End) && problems.len() < limits::PROBLEMS {
        match parser.property() {
            Ok(property) => properties.push(property),
            Err(problem) => {
                problems.push(problem);
                parser.skip_to_property();
            }
        }
    }
    problems.sort_by_key(|problem| problem.span.start);
    Parsed { properties, comments, problems }
}

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

pub(super) const FORMALISMS: [&str; 8] = ["fsm", "ere", "cfg", "srs", "ltl", "ptltl", "raw", "mttl"];
pub(super) const MODIFIERS: [&str; 5] =
    ["full-binding", "suffix", "perthread", "connected", "unsynchronized"];
const ACTIONS: [&str; 6] = ["report", "reset", "count", "abort", "call", "recover"];

pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    pub(super) depth: usize,
    /// How many operators the body or guard has so far.
    pub(super) operators: usize,
    /// Whether this is a formula about what threads know.
    pub(super) knows_threads: bool,
}

impl Parser {
    /// The `ahead`-th token from here; the last one, `End`, for ever.
    pub(super) fn peek(&self, ahead: usize) -> &Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub(super) fn is_at(&self, kind: &TokenKind) -> bool {
        self.peek(0).kind == *kind
    }

    pub(super) fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek(ahead).kind, TokenKind::Sign(this) if this == sign)
    }

    pub(super) fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(&self.peek(ahead).kind, TokenKind::Name(this) if this == word)
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek(0).clone();
        self.at += 1;
        token
    }

    /// Takes the sign if it is there.
    pub(super) fn takes(&mut self, sign: &str) -> bool {
        let there = self.is_sign(0, sign);
        self.at += usize::from(there);
        there
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let there = self.is_word(0, word);
        self.at += usize::from(there);
        there
    }

    pub(super) fn expect(&mut self, sign: &str, why: &str) -> Result<Span> {
        if self.is_sign(0, sign) {
            Ok(self.next().span)
        } else {
            Err(self.unexpected(&format!("`{sign}` {why}")))
        }
    }

    /// "expected …, found …", at the current token.
    pub(super) fn unexpected(&self, wanted: &str) -> Diagnostic {
        let token = self.peek(0);
        let found = match &token.kind {
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Number(number) => format!("`{number}`"),
            TokenKind::Time(_) => "a time".to_owned(),
            TokenKind::Text(_) => "a text".to_owned(),
            TokenKind::Sign(sign) => format!("`{sign}`"),
            TokenKind::End => "the end of the file".to_owned(),
        };
        Diagnostic::error(
            token.span.clone(),
            format!("expected {wanted}, found {found}"),
            format!("expected {wanted}"),
        )
    }

    pub(super) fn name(&mut self, what: &str) -> Result<Name> {
        let name = self.variable(what)?;
        if name.text.contains([':', '.', '[']) {
            let message = format!("expected {what}, found `{}`", name.text);
            return Err(Diagnostic::error(name.span, message, "only variables have names of several words"));
        }
        Ok(name)
    }

    /// A name that may have several words.
    pub(super) fn variable(&mut self, what: &str) -> Result<Name> {
        match &self.peek(0).kind {
            TokenKind::Name(text) => {
                let text = text.clone();
                Ok(Name { text, span: self.next().span })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub(super) fn text(&mut self, what: &str) -> Result<(String, Span)> {
        match &self.peek(0).kind {
            TokenKind::Text(text) => {
                let text = text.clone();
                Ok((text, self.next().span))
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub(super) fn names(&mut self, what: &str) -> Result<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.takes(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    /// Goes one level deeper while parsing something that nests.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Result<T>) -> Result<T> {
        if self.depth >= limits::DEPTH {
            let span = self.peek(0).span.clone();
            return Err(Diagnostic::error(
                span,
                "nested too deeply",
                format!("more than {} levels", limits::DEPTH),
            ));
        }
        self.counts()?;
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator or an operand of a body or guard.
    pub(super) fn counts(&mut self) -> Result<()> {
        self.operators += 1;
        self.at_most(limits::OPERATORS, self.operators, "operators in one formula or pattern")
    }

    /// Refuses more than so many.
    pub(super) fn at_most(&self, most: usize, count: usize, what: &str) -> Result<()> {
        if count <= most {
            return Ok(());
        }
        let span = self.peek(0).span.clone();
        Err(Diagnostic::error(span, format!("too many {what}"), format!("more than {most}")))
    }

    fn skip_to_property(&mut self) {
        let mut braces = 0usize;
        self.depth = 0;
        self.knows_threads = false;
        while !self.is_at(&TokenKind::End) {
            match &self.peek(0).kind {
                TokenKind::Sign("{") => braces += 1,
                TokenKind::Sign("}") => braces = braces.saturating_sub(1),
                TokenKind::Name(name) if name == "property" && braces == 0 => return,
                // Within an unclosed brace, `property NAME {` or `property NAME (` can only be the next property.
                TokenKind::Name(name)
                    if name == "property"
                        && matches!(self.peek(1).kind, TokenKind::Name(_))
                        && (self.is_sign(2, "{") || self.is_sign(2, "(")) =>
                {
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn property(&mut self) -> Result<Property> {
        let start = self.peek(0).span.start;
        let mut modifiers = Vec::new();
        while !self.is_word(0, "property") {
            modifiers.push(self.modifier()?);
        }
        self.next();
        let name = self.name("the name of the property")?;
        let mut params = Vec::new();
        if self.takes("(") && !self.takes(")") {
            params = self.names("a parameter")?;
            self.expect(")", "after the parameters")?;
        }
        self.expect("{", "to open the property")?;
        let mut property = Property {
            modifiers,
            name,
            params,
            events: Vec::new(),
            vars: Vec::new(),
            fields: Vec::new(),
            states: Vec::new(),
            threads: Vec::new(),
            locals: Vec::new(),
            bodies: Vec::new(),
            handlers: Vec::new(),
            span: start..start,
        };
        while !self.is_sign(0, "}") {
            self.item(&mut property)?;
        }
        property.span.end = self.next().span.end;
        Ok(property)
    }

    fn modifier(&mut self) -> Result<Name> {
        let mut name = self.name("`property`")?;
        if self.takes("-") {
            let rest = self.name("the rest of the modifier")?;
            name =
                Name { text: format!("{}-{}", name.text, rest.text), span: name.span.start..rest.span.end };
        }
        if MODIFIERS.contains(&name.text.as_str()) {
            return Ok(name);
        }
        let message = format!("expected `property`, found `{}`", name.text);
        let known = MODIFIERS.into_iter().chain(["property"]);
        Err(Diagnostic::error(name.span, message, "expected `property` or a modifier")
            .with_suggestion(&name.text, known))
    }

    fn item(&mut self, property: &mut Property) -> Result<()> {
        if self.is_word(0, "event") || self.is_word(0, "creation") {
            property.events.push(self.event()?);
            self.at_most(limits::EVENTS, property.events.len(), "events in one property")?;
        } else if self.is_word(0, "state")
            || self.is_word(0, "var")
                && matches!(self.peek(1).kind, TokenKind::Name(_))
                && self.is_sign(2, "=")
        {
            property.states.extend(self.states()?);
            self.at_most(limits::STATE_VARIABLES, property.states.len(), "variables of one property")?;
        } else if self.is_word(0, "var") && self.is_sign(2, "(") {
            property.fields.push(self.field()?);
            self.at_most(limits::STATE_VARIABLES, property.fields.len(), "fields of one property")?;
        } else if self.is_word(0, "var") {
            property.vars.extend(self.vars()?);
        } else if self.is_word(0, "local") {
            property.locals.extend(self.vars()?);
        } else if self.is_word(0, "thread") {
            property.threads.push(self.threads()?);
        } else if self.takes("@") {
            let mut handler = self.handler()?;
            let last = property.handlers.last().map_or(0..0, |last| last.group.clone());
            let bodies = property.bodies.len();
            handler.group = if last.end == bodies { last } else { last.end..bodies };
            property.handlers.push(handler);
        } else if let TokenKind::Name(word) = &self.peek(0).kind {
            let is_body = self.is_sign(1, ":")
                || (matches!(self.peek(1).kind, TokenKind::Name(_)) && self.is_sign(2, ":"));
            let is_formalism = FORMALISMS.contains(&word.as_str());
            if is_formalism && !is_body {
                self.next();
                return Err(self.unexpected("`:` after the formalism"));
            }
            if !is_formalism {
                let what = if is_body { "formalism" } else { "declaration" };
                let known =
                    FORMALISMS.into_iter().chain(["event", "creation", "var", "state", "thread", "local"]);
                let label = "expected `event`, `var`, a formalism such as `ere:`, a handler or `}`";
                let span = self.peek(0).span.clone();
                return Err(Diagnostic::error(span, format!("`{word}` is not a {what}"), label)
                    .with_suggestion(word, known));
            }
            let body = self.body()?;
            property.bodies.push(body);
        } else {
            return Err(self.unexpected("`event`, `var`, a formalism such as `ere:`, a handler or `}`"));
        }
        Ok(())
    }

    fn event(&mut self) -> Result<Event> {
        let creation = self.takes_word("creation");
        if !self.takes_word("event") {
            return Err(self.unexpected("`event` after `creation`"));
        }
        let name = self.name("the name of the event")?;
        let args = self.args()?;
        let source = if self.takes("=") {
            let name = self.name("a built-in event")?;
            let mut args = self.args()?;
            if self.takes_word("returning") {
                args.push(Arg::Returned(self.name("a name for the result")?));
            } else if self.is_word(0, "returns") {
                return Err(self.unexpected("`;`").with_help("what a function returns is `returning NAME`"));
            }
            Some((name, args))
        } else {
            None
        };
        self.operators = 0;
        let guard = if self.takes_word("when") { Some(self.formula()?) } else { None };
        let changes = if self.is_sign(0, "{") { self.changes()? } else { Vec::new() };
        if changes.is_empty() {
            self.expect(";", "after the event")?;
        } else {
            self.takes(";");
        }
        Ok(Event { creation, name, args, source, guard, changes })
    }

    /// `{ NAME = VALUE; … }`
    fn changes(&mut self) -> Result<Vec<Change>> {
        self.next();
        let mut changes = Vec::new();
        loop {
            if self.is_word(0, "skip") && !self.is_sign(1, "=") {
                return Err(skip_refused(self.next().span));
            }
            let name = self.name("a `state` variable that the event changes")?;
            let operator = match &self.peek(0).kind {
                TokenKind::Sign("=") => None,
                TokenKind::Sign("+=") => Some(Binary::Add),
                TokenKind::Sign("-=") => Some(Binary::Sub),
                _ => return Err(self.unexpected("`=`, `+=` or `-=`")),
            };
            self.next();
            let value = self.formula()?;
            changes.push(Change { name, operator, value });
            self.at_most(limits::STATE_VARIABLES, changes.len(), "changes by one event")?;
            if !self.is_sign(0, "}") {
                self.expect(";", "after the change")?;
            }
            if self.takes("}") {
                return Ok(changes);
            }
        }
    }

    /// `state NAME, …: int [= VALUE];` or `var NAME = VALUE;`
    fn states(&mut self) -> Result<Vec<Var>> {
        let has_kind = self.is_word(0, "state");
        self.next();
        let names = self.names("a variable")?;
        let kind = match has_kind {
            true => {
                self.expect(":", "and the type, `int` or `bool`")?;
                Some(self.name("a type, `int` or `bool`")?)
            }
            false => None,
        };
        let (initial, is_bool) = if self.takes("=") {
            let is_bool = self.is_word(0, "true") || self.is_word(0, "false");
            (Some(self.initial()?), is_bool)
        } else {
            (None, false)
        };
        self.expect(";", "after the variable")?;
        let of_value = || Name {
            text: if is_bool { "bool" } else { "int" }.to_owned(),
            span: names.first().map_or(0..0, |name| name.span.clone()),
        };
        let kind = kind.unwrap_or_else(of_value);
        Ok(names.into_iter().map(|name| Var { name, kind: kind.clone(), initial }).collect())
    }

    fn args(&mut self) -> Result<Vec<Arg>> {
        let mut args = Vec::new();
        if self.takes("(") && !self.takes(")") {
            loop {
                let is_text = matches!(self.peek(0).kind, TokenKind::Text(_));
                args.push(match is_text {
                    true => self.functions()?,
                    false if self.takes("*") => {
                        let parameter = self.name("a parameter's name behind `*`")?;
                        if !self.takes_word("as") {
                            return Err(self.unexpected("`as` and a name for what is stored there"));
                        }
                        Arg::Stored(parameter, self.name("a name for what is stored there")?)
                    }
                    false => {
                        let name = self.name("a parameter")?;
                        match self.takes_word("as") {
                            true => Arg::Of(name, self.name("a name for the parameter's value")?),
                            false => Arg::Name(name),
                        }
                    }
                });
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(")", "after the parameters")?;
        }
        Ok(args)
    }

    fn functions(&mut self) -> Result<Arg> {
        let mut functions = vec![self.text("a function's name, in quotes")?];
        while self.takes("|") {
            functions.push(self.text("another function's name, in quotes")?);
        }
        self.at_most(limits::FUNCTIONS, functions.len(), "functions for one event")?;
        Ok(Arg::Functions(functions))
    }

    fn vars(&mut self) -> Result<Vec<Var>> {
        let is_local = self.is_word(0, "local");
        self.next();
        let mut names = Vec::new();
        loop {
            names.push(if is_local { self.name("a variable")? } else { self.variable("a variable")? });
            if !self.takes(",") {
                break;
            }
        }
        self.expect(":", "and the type, `int` or `bool`")?;
        let kind = self.name("a type, `int` or `bool`")?;
        let initial = if self.takes("=") { Some(self.initial()?) } else { None };
        self.expect(";", "after the variable")?;
        Ok(names.into_iter().map(|name| Var { name, kind: kind.clone(), initial }).collect())
    }

    /// `var NAME(OBJECT): TYPE.FIELD;`
    fn field(&mut self) -> Result<FieldVar> {
        self.next();
        let name = self.name("a variable")?;
        self.expect("(", "and the object")?;
        let object = self.name("the object that has the field")?;
        self.expect(")", "after the object")?;
        self.expect(":", "and the field, `Type.field`")?;
        let field = self.variable("a field, `Type.field`")?;
        self.expect(";", "after the field")?;
        Ok(FieldVar { name, object, field })
    }

    fn threads(&mut self) -> Result<Threads> {
        self.next();
        let names = self.names("a name for a thread")?;
        let pattern = if self.takes(":") { Some(self.text("the thread's name, in quotes")?) } else { None };
        self.expect(";", "after the thread")?;
        Ok(Threads { names, pattern })
    }

    fn initial(&mut self) -> Result<i64> {
        let minus = self.takes("-");
        match self.peek(0).kind.clone() {
            TokenKind::Number(number) => {
                self.next();
                Ok(if minus { number.wrapping_neg() } else { number })
            }
            _ if !minus && self.takes_word("true") => Ok(1),
            _ if !minus && self.takes_word("false") => Ok(0),
            _ => Err(self.unexpected("a number, `true` or `false`")),
        }
    }

    fn handler(&mut self) -> Result<Handler> {
        let mut category = self.category()?;
        let mut body = None;
        if self.takes("@") {
            body = Some(category);
            category = self.category()?;
        }
        self.expect("{", "to open the handler")?;
        let mut actions = Vec::new();
        while !self.takes("}") {
            actions.push(self.action()?);
            if !self.is_sign(0, "}") {
                self.expect(";", "after the action")?;
            }
        }
        Ok(Handler { body, group: 0..0, category, actions })
    }

    fn category(&mut self) -> Result<Name> {
        if self.is_sign(0, "?") {
            return Ok(Name { text: "?".to_owned(), span: self.next().span });
        }
        self.name("a category such as `match` or `violation`")
    }

    fn action(&mut self) -> Result<ast::Action> {
        let name = self.name("an action such as `report \"…\"` or `reset`")?;
        let what = match name.text.as_str() {
            "report" => {
                let (text, span) = self.text("the text to report")?;
                return Ok(ast::Action { what: Action::Report(text), span });
            }
            "reset" => Action::Reset,
            "count" => Action::Count,
            "abort" => Action::Abort,
            "call" => Action::Call(self.text("the name of a closure, in quotes")?.0),
            "recover" => Action::Recover(self.text("the name of a recovery, in quotes")?.0),
            "skip" => return Err(skip_refused(name.span)),
            other => {
                let label = "expected `report`, `reset`, `count`, `abort`, `call` or `recover`";
                return Err(Diagnostic::error(name.span, format!("`{other}` is not an action"), label)
                    .with_suggestion(other, ACTIONS));
            }
        };
        Ok(ast::Action { what, span: name.span })
    }
}

/// RV-Monitor's monitors may keep the call from happening that they were told of.
fn skip_refused(span: Span) -> Diagnostic {
    let message = "what has been recorded or reported cannot be skipped";
    let help = "in a program, ask the monitor before the call (`MONITOR.count(…)`), or `recover` or `abort` on the verdict";
    Diagnostic::error(span, message, "an event is told when it happens, not before").with_help(help)
}
