//! Bodies and handlers: from their syntax to machines.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::ast::{self, Content, Formula, Pattern, Repeat, SrsRight};
use super::condition::Scope;
use super::diagnostic::Diagnostic;
use super::duplicates::duplicates;
use super::formulas::not_bounded;
use super::raw_monitors::RawMonitors;
use crate::formalism::automaton::TABLE_LIMIT;
use crate::formalism::cfg::{Cfg, Grammar, Symbol};
use crate::formalism::ere::Ere;
use crate::formalism::fsm::{Fsm, FsmState};
use crate::formalism::ptltl::Past;
use crate::formalism::raw::Raw;
use crate::formalism::srs::{Right, Rule, Srs};
use crate::formalism::temporal::{Alphabet, Temporal};
use crate::formalism::timed::{Bound, Timed, TimedSince};
use crate::formalism::{CompileError, Handled, ltl};
use crate::operator::{Binary, Unary};
use crate::property::{Action, Atom, Body, Event, Handler, Letters, Machine};

type Problems = Vec<Diagnostic>;

/// Letters are sets of atoms, as bits of a [`Letter`](crate::formalism::Letter).
const ATOM_LIMIT: usize = 16;

pub(super) struct BodyCompiler<'a> {
    pub(super) property: &'a ast::Property,
    pub(super) events: &'a [Event],
    pub(super) monitors: &'a RawMonitors,
}

impl BodyCompiler<'_> {
    pub(super) fn compile(&self, body: &ast::Body) -> Result<Body, Problems> {
        let handlers = self.handlers(body);
        let categories: Vec<String> = handlers.iter().map(|handler| handler.category.clone()).collect();
        let handled = Handled(&categories);
        let events = self.events.len() as u32;
        let refused = |error: CompileError| {
            vec![Diagnostic::error(body.span.clone(), error.to_string(), "this body cannot be monitored")]
        };
        let mut letters = Letters::Events;
        let machine = match &body.content {
            Content::Fsm(states, aliases) => {
                Machine::Automaton(self.fsm(states, aliases)?.compile(events, handled))
            }
            Content::Ere(pattern) => {
                let ere = self.pattern(pattern).map_err(|problem| vec![problem])?;
                Machine::Automaton(ere.compile(events, handled).map_err(refused)?)
            }
            Content::Cfg(rules) => Machine::Cfg(Cfg::new(&self.grammar(rules)?, events, handled)),
            Content::Srs(rules) => Machine::Srs(self.srs(body, rules, handled)?),
            Content::Raw(name, span) => match self.monitors.get(name) {
                Some(monitor) => Machine::Raw(Raw::new(monitor, events, handled)),
                None => {
                    let message = format!("no monitor is registered under the name `{name}`");
                    let problem = Diagnostic::error(span.clone(), message, "not registered");
                    return Err(vec![problem.with_suggestion(name, self.monitors.names())]);
                }
            },
            Content::Mttl(_) => {
                let message = "what threads know has no machine of its own".to_owned();
                return Err(refused(CompileError::Meaning(message)));
            }
            Content::Formula(formula) => {
                let masks = self.mentions_vars(formula);
                let is_past = body.formalism.text == "ptltl";
                let mut atoms =
                    Atoms { compiler: self, known: Vec::new(), masks, is_past, timed: Vec::new() };
                let temporal = atoms.temporal(formula).map_err(|problem| vec![problem])?;
                let found = atoms.known.len();
                let timed = std::mem::take(&mut atoms.timed);
                let alphabet = if masks { Alphabet::Masks(found as u32) } else { Alphabet::Events(events) };
                if found > ATOM_LIMIT {
                    return Err(refused(CompileError::TooManyAtoms { found, limit: ATOM_LIMIT }));
                }
                if masks {
                    letters = Letters::Atoms(atoms.known);
                }
                if !timed.is_empty() {
                    Machine::Timed(Timed::compile(temporal, timed, events, handled).map_err(refused)?)
                } else if body.formalism.text == "ltl" {
                    Machine::Automaton(ltl::compile(&temporal, alphabet, handled).map_err(refused)?)
                } else {
                    let (past, automaton) =
                        Past::compile(Rc::new(temporal), alphabet, handled).map_err(refused)?;
                    automaton.map_or(Machine::Past(past), Machine::Automaton)
                }
            }
        };
        let name = body.name.as_ref().map(|name| name.text.clone());
        let states = match &body.content {
            Content::Fsm(states, _) => {
                states.iter().map(|state| state.name.text.clone()).chain(["fail".to_owned()]).collect()
            }
            _ => Vec::new(),
        };
        Ok(Body { name, formalism: body.formalism.text.clone(), letters, machine, handlers, states })
    }

    /// The bodies a handler is for: the one it names (an unnamed body goes by its formalism), or those before it.
    fn meant<'h>(&'h self, handler: &'h ast::Handler) -> impl Iterator<Item = &'h ast::Body> {
        let bodies = self.property.bodies.iter().enumerate();
        bodies
            .filter(move |(index, body)| match &handler.body {
                Some(wanted) => body.name.as_ref().unwrap_or(&body.formalism).text == wanted.text,
                None => handler.group.contains(index),
            })
            .map(|(_, body)| body)
    }

    /// The handlers of a body, as far as it knows their categories.
    pub(super) fn handlers(&self, body: &ast::Body) -> Vec<Handler> {
        let for_this = |handler: &&ast::Handler| self.meant(handler).any(|meant| std::ptr::eq(meant, body));
        let known = |handler: &&ast::Handler| categories(body).contains(&handler.category.text.as_str());
        let own = self.property.handlers.iter().filter(for_this).filter(known);
        own.map(|handler| Handler {
            category: handler.category.text.clone(),
            actions: handler.actions.iter().map(|written| written.what.clone()).collect(),
        })
        .collect()
    }

    /// Handlers of unknown bodies and categories, and texts with unknown names.
    pub(super) fn check_handlers(&self, problems: &mut Problems) {
        let bodies = &self.property.bodies;
        for handler in &self.property.handlers {
            let meant: Vec<&ast::Body> = self.meant(handler).collect();
            if handler.body.is_none() && meant.is_empty() {
                let label = "move it below the body whose verdicts it handles";
                problems.push(Diagnostic::error(
                    handler.category.span.clone(),
                    "there is no body before this handler",
                    label,
                ));
            }
            if let (Some(name), true) = (&handler.body, meant.is_empty()) {
                let known =
                    bodies.iter().filter_map(|body| body.name.as_ref()).map(|name| name.text.as_str());
                let message = format!("no body is called `{}`", name.text);
                let problem = Diagnostic::error(name.span.clone(), message, "expected the name of a body");
                problems.push(problem.with_suggestion(&name.text, known));
                continue;
            }
            let known: Vec<&str> = meant.iter().flat_map(|body| categories(body)).collect();
            let category = &handler.category;
            if !meant.is_empty() && !known.contains(&category.text.as_str()) {
                let message = format!("there is no verdict `{}`", category.text);
                let label = format!("expected one of: {}", known.join(", "));
                let problem = Diagnostic::error(category.span.clone(), message, label);
                problems.push(problem.with_suggestion(&category.text, known));
            }
            for action in &handler.actions {
                if let Action::Report(text) = &action.what {
                    self.check_text(text, &action.span, problems);
                }
            }
        }
    }

    fn check_text(&self, text: &str, span: &super::diagnostic::Span, problems: &mut Problems) {
        let known: Vec<&str> = self
            .property
            .params
            .iter()
            .chain(self.property.threads.iter().flat_map(|threads| &threads.names))
            .map(|name| name.text.as_str())
            .chain(["loc", "thread", "trace"])
            .collect();
        for part in text.split('{').skip(1) {
            let Some((name, _)) = part.split_once('}') else { continue };
            if !known.contains(&name) {
                let message = format!("`{{{name}}}` is not a known name");
                let label = format!("known names: {}", known.join(", "));
                let problem = Diagnostic::error(span.clone(), message, label);
                let mut args = self.property.events.iter().flat_map(|event| &event.args);
                let is_carried = args.any(|arg| matches!(arg, ast::Arg::Name(own) if own.text == name));
                problems.push(if is_carried {
                    let params = self.property.params.iter().map(|param| param.text.as_str());
                    let params: Vec<&str> = params.chain([name]).collect();
                    problem.with_help(format!(
                        "what an event carries is known to handlers if it is a parameter: `property {}({})`",
                        self.property.name.text,
                        params.join(", ")
                    ))
                } else {
                    problem.with_suggestion(name, known.iter().copied())
                });
            }
        }
    }

    fn event(&self, name: &ast::Name) -> Result<u32, Diagnostic> {
        let position = self.events.iter().position(|event| event.name == name.text);
        position.map(|position| position as u32).ok_or_else(|| {
            let message = format!("no event is called `{}`", name.text);
            let problem = Diagnostic::error(name.span.clone(), message, "expected an event of this property");
            problem.with_suggestion(&name.text, self.events.iter().map(|event| event.name.as_str()))
        })
    }

    fn fsm(
        &self,
        states: &[ast::FsmState],
        aliases: &[(ast::Name, Vec<ast::Name>)],
    ) -> Result<Fsm, Problems> {
        let mut problems = Vec::new();
        let names = states.iter().map(|state| &state.name).chain(aliases.iter().map(|(alias, _)| alias));
        duplicates(&names.collect::<Vec<_>>(), "state or alias", &mut problems);
        let state_number = |name: &ast::Name, problems: &mut Problems| {
            let position = states.iter().position(|state| state.name.text == name.text);
            if position.is_none() {
                let message = format!("no state is called `{}`", name.text);
                let problem =
                    Diagnostic::error(name.span.clone(), message, "expected a state of this machine");
                let known = states.iter().map(|state| state.name.text.as_str());
                problems.push(problem.with_suggestion(&name.text, known));
            }
            position.unwrap_or(0) as u32
        };
        let mut compiled = Vec::new();
        for state in states {
            let (mut transitions, mut default) = (Vec::new(), None);
            for (event, to) in &state.transitions {
                let to = state_number(to, &mut problems);
                match self.event(event) {
                    // The first transition counts; `warnings` reports the others.
                    Ok(event) if transitions.iter().any(|(known, _)| *known == event) => {}
                    Ok(event) => transitions.push((event, to)),
                    Err(_) if event.text == "default" => default = Some(to),
                    Err(problem) => problems.push(problem),
                }
            }
            compiled.push(FsmState { name: state.name.text.clone(), transitions, default });
        }
        let alias = |(name, states): &(ast::Name, Vec<ast::Name>)| {
            (name.text.clone(), states.iter().map(|state| state_number(state, &mut problems)).collect())
        };
        let aliases = aliases.iter().map(alias).collect();
        if compiled.is_empty() {
            problems.push(Diagnostic::error(
                self.property.name.span.clone(),
                "the machine has no state",
                "needs one",
            ));
        }
        if states.len().saturating_mul(self.events.len()) > TABLE_LIMIT {
            let label = format!("states times events are more than {}", TABLE_LIMIT);
            let span = self.property.name.span.clone();
            problems.push(Diagnostic::error(span, "the machine is too big", label));
        }
        if problems.is_empty() { Ok(Fsm { states: compiled, aliases }) } else { Err(problems) }
    }

    fn pattern(&self, pattern: &Pattern) -> Result<Ere, Diagnostic> {
        let all = |parts: &[Pattern], make: fn(Ere, Ere) -> Ere| -> Result<Ere, Diagnostic> {
            let parts = parts.iter().map(|part| self.pattern(part)).collect::<Result<Vec<_>, _>>()?;
            Ok(parts.into_iter().rev().reduce(|right, left| make(left, right)).unwrap_or(Ere::Epsilon))
        };
        Ok(match pattern {
            Pattern::Empty => Ere::Empty,
            Pattern::Epsilon => Ere::Epsilon,
            Pattern::Event(name) => Ere::Event(self.event(name)?),
            Pattern::Concat(parts) => all(parts, Ere::concat)?,
            Pattern::Or(parts) => all(parts, Ere::or)?,
            Pattern::And(parts) => all(parts, Ere::and)?,
            Pattern::Not(inner) => Ere::complement(self.pattern(inner)?),
            Pattern::Repeat(inner, Repeat::Any) => Ere::star(self.pattern(inner)?),
            Pattern::Repeat(inner, Repeat::Some) => Ere::plus(self.pattern(inner)?),
            Pattern::Repeat(inner, Repeat::Maybe) => Ere::optional(self.pattern(inner)?),
        })
    }

    fn grammar(&self, rules: &[(ast::Name, Vec<Vec<ast::Name>>)]) -> Result<Grammar, Problems> {
        let mut symbols: Vec<&str> = Vec::new();
        for (symbol, _) in rules {
            if !symbols.contains(&symbol.text.as_str()) {
                symbols.push(&symbol.text);
            }
        }
        let mut problems = Vec::new();
        if symbols.is_empty() {
            problems.push(Diagnostic::error(
                self.property.name.span.clone(),
                "the grammar has no rule",
                "needs one",
            ));
        }
        let number = |name: &str| symbols.iter().position(|symbol| *symbol == name).map(|at| at as u32);
        let mut compiled = Vec::new();
        for (symbol, alternatives) in rules {
            for alternative in alternatives {
                let mut right = Vec::new();
                for name in alternative {
                    match number(&name.text)
                        .map(Symbol::Rule)
                        .map_or_else(|| self.event(name).map(Symbol::Event), Ok)
                    {
                        Ok(symbol) => right.push(symbol),
                        Err(problem) => problems.push(problem),
                    }
                }
                compiled.push((number(&symbol.text).unwrap_or(0), right));
            }
        }
        let symbols = symbols.len() as u32;
        if problems.is_empty() { Ok(Grammar { rules: compiled, symbols }) } else { Err(problems) }
    }

    fn srs(&self, body: &ast::Body, rules: &[ast::SrsRule], handled: Handled<'_>) -> Result<Srs, Problems> {
        let mut problems = Vec::new();
        if self.property.modifiers.iter().any(|modifier| modifier.text == "suffix") {
            let message = "a `suffix` property has no `srs` bodies";
            let label = "each suffix would remember another string, without end";
            problems.push(Diagnostic::error(body.formalism.span.clone(), message, label));
        }
        let made = rules.iter().flat_map(|rule| match &rule.right {
            SrsRight::Symbols(symbols) => &symbols[..],
            SrsRight::Succeed | SrsRight::Fail => &[],
        });
        // Events first, then what rules make.
        let mut symbols: FxHashMap<&str, u32> = FxHashMap::default();
        for name in
            self.events.iter().map(|event| event.name.as_str()).chain(made.map(|name| name.text.as_str()))
        {
            let number = symbols.len() as u32;
            symbols.entry(name).or_insert(number);
        }
        let mut compiled = Vec::new();
        for rule in rules {
            let mut left = Vec::new();
            for name in &rule.left {
                match symbols.get(name.text.as_str()) {
                    Some(symbol) => left.push(*symbol),
                    None => {
                        let message = format!("no event is called `{}`, and no rule makes it", name.text);
                        let problem = Diagnostic::error(name.span.clone(), message, "never comes");
                        let known = symbols.keys().copied();
                        problems.push(problem.with_suggestion(&name.text, known));
                    }
                }
            }
            let right = match &rule.right {
                SrsRight::Succeed => Right::Succeed,
                SrsRight::Fail => Right::Fail,
                SrsRight::Symbols(right) => Right::Symbols(
                    right.iter().filter_map(|name| symbols.get(name.text.as_str()).copied()).collect(),
                ),
            };
            compiled.push(Rule { at_begin: rule.at_begin, left, at_end: rule.at_end, right });
        }
        if problems.is_empty() {
            Ok(Srs::new(compiled, self.events.len() as u32, handled))
        } else {
            Err(problems)
        }
    }

    /// Formulas that mention variables read sets of atoms; others read events.
    fn mentions_vars(&self, formula: &Formula) -> bool {
        match formula {
            Formula::Bool(..) | Formula::Number(..) | Formula::Text(..) => false,
            Formula::Name(name) => {
                let mut vars = self.property.vars.iter().chain(&self.property.states);
                vars.any(|var| var.name.text == name.text)
            }
            Formula::Unary(_, inner) | Formula::Bounded(_, inner) => self.mentions_vars(inner),
            Formula::Binary(_, left, right) | Formula::Interval(left, right) => {
                self.mentions_vars(left) || self.mentions_vars(right)
            }
            Formula::At(_, inner) | Formula::Quantified(_, inner) => self.mentions_vars(inner),
            Formula::Call(_, inside) => inside.iter().any(|inner| self.mentions_vars(inner)),
        }
    }
}

/// The verdicts a body knows.
pub(super) fn categories(body: &ast::Body) -> Vec<&str> {
    match &body.content {
        Content::Fsm(states, aliases) => {
            let names = states.iter().map(|state| &state.name).chain(aliases.iter().map(|(alias, _)| alias));
            names.map(|name| name.text.as_str()).chain(["fail"]).collect()
        }
        Content::Ere(_) => vec!["match", "fail", "?"],
        Content::Cfg(_) => vec!["match", "fail"],
        Content::Srs(_) => vec!["succeed", "fail"],
        Content::Mttl(_) => vec!["violation"],
        Content::Formula(_) if body.formalism.text == "ltl" => vec!["violation", "validation", "?"],
        Content::Formula(_) => vec!["violation", "validation"],
        Content::Raw(..) => vec!["match", "fail", "violation", "validation"],
    }
}

/// Turns a formula into one over numbered atoms.
struct Atoms<'a> {
    compiler: &'a BodyCompiler<'a>,
    known: Vec<Atom>,
    /// Whether letters are sets of atoms; otherwise atoms are events.
    masks: bool,
    /// Whether the body speaks of the past only.
    is_past: bool,
    /// The operators that are bounded by time, each after those within it.
    timed: Vec<TimedSince>,
}

impl Atoms<'_> {
    fn atom(&mut self, atom: Atom) -> Temporal {
        if let (false, Atom::Event(event)) = (self.masks, &atom) {
            return Temporal::Atom(*event);
        }
        let position = self.known.iter().position(|known| *known == atom).unwrap_or_else(|| {
            self.known.push(atom);
            self.known.len() - 1
        });
        Temporal::Atom(position as u32)
    }

    fn temporal(&mut self, formula: &Formula) -> Result<Temporal, Diagnostic> {
        match formula {
            Formula::Bool(value, _) => Ok(Temporal::Const(*value)),
            Formula::Name(name) if !self.compiler.mentions_vars(formula) => {
                let event = self.compiler.event(name).map_err(|problem| {
                    let ast::Property { vars, states, .. } = self.compiler.property;
                    let known = vars.iter().chain(states).map(|var| var.name.text.as_str());
                    if problem.help.is_some() { problem } else { problem.with_suggestion(&name.text, known) }
                })?;
                Ok(self.atom(Atom::Event(event)))
            }
            Formula::Unary(operator, inner) if *operator != Unary::Minus => {
                let inner = self.temporal(inner)?;
                Ok(match operator {
                    Unary::Not | Unary::Minus => Temporal::not(inner),
                    Unary::Next => Temporal::next(inner),
                    Unary::Always => Temporal::always(inner),
                    Unary::Eventually => Temporal::eventually(inner),
                    Unary::Previously => Temporal::previous(inner),
                    Unary::Once => Temporal::once(inner),
                    Unary::Historically => Temporal::historically(inner),
                    Unary::Start => Temporal::start(inner),
                    Unary::Stop => Temporal::stop(inner),
                })
            }
            Formula::Bounded(bound, inner) => self.bounded(bound, inner),
            Formula::Interval(from, to) => Ok(Temporal::interval(self.temporal(from)?, self.temporal(to)?)),
            Formula::Binary(operator, left, right) => {
                let make = match operator {
                    Binary::And => Temporal::and,
                    Binary::Or => Temporal::or,
                    Binary::Implies => Temporal::implies,
                    Binary::Iff => Temporal::iff,
                    Binary::Until => Temporal::until,
                    Binary::Release => Temporal::release,
                    Binary::WeakUntil => Temporal::weak_until,
                    Binary::Since => Temporal::since,
                    _ => return self.predicate(formula),
                };
                Ok(make(self.temporal(left)?, self.temporal(right)?))
            }
            _ => self.predicate(formula),
        }
    }

    /// `<*>`, `[*]` or `S` with a bound of time.
    fn bounded(&mut self, bound: &ast::Bound, formula: &Formula) -> Result<Temporal, Diagnostic> {
        if !self.is_past {
            return Err(not_bounded(bound.span.clone()));
        }
        if self.masks {
            let message = "time bounds formulas over events only, not over variables";
            let help = "give events guards about the variables, and name the events here";
            return Err(Diagnostic::error(bound.span.clone(), message, "bounded here").with_help(help));
        }
        if self.compiler.property.modifiers.iter().any(|modifier| modifier.text == "suffix") {
            let message = "a `suffix` property has no bounds of time";
            let label = "each suffix would remember another time, without end";
            return Err(Diagnostic::error(bound.span.clone(), message, label));
        }
        let (left, right, is_negated) = match formula {
            Formula::Unary(Unary::Once, inner) => (Temporal::Const(true), self.temporal(inner)?, false),
            Formula::Unary(Unary::Historically, inner) => {
                (Temporal::Const(true), Temporal::not(self.temporal(inner)?), true)
            }
            Formula::Binary(Binary::Since, left, right) => {
                (self.temporal(left)?, self.temporal(right)?, false)
            }
            _ => return Err(not_bounded(bound.span.clone())),
        };
        let limit = match bound.operator {
            Binary::Lt => Bound::LessThan(bound.time),
            Binary::Ge => Bound::AtLeast(bound.time),
            Binary::Gt => Bound::MoreThan(bound.time),
            _ => Bound::AtMost(bound.time),
        };
        let atom = Temporal::decided(self.timed.len() as u32);
        self.timed.push(TimedSince { bound: limit, left, right });
        Ok(if is_negated { Temporal::not(atom) } else { atom })
    }

    fn predicate(&mut self, formula: &Formula) -> Result<Temporal, Diagnostic> {
        let ast::Property { vars, states, .. } = self.compiler.property;
        let scope = Scope { vars, states, params: &[], carried: &[], texts: &[] };
        let condition = scope.condition(formula)?;
        Ok(self.atom(Atom::Predicate(condition)))
    }
}
