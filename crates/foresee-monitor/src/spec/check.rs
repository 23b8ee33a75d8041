//! From the syntax tree to properties: looks names up, compiles the bodies, and reports what is wrong or probably not intended.

use super::ast::{self, Content};
use super::calls;
use super::compile::BodyCompiler;
use super::condition::{Scope, THREAD};
use super::diagnostic::{Diagnostic, Severity, Span};
use super::duplicates::duplicates;
use super::fields;
use super::mttl::{self, MttlScope};
use super::raw_monitors::RawMonitors;
use super::texts;
use super::warnings;
use crate::mttl::Local;
use crate::predicate::{self, Expr};
use crate::property::{
    Assignment, Builtin, Carried, Event, Modifiers, MttlBody, Property, Source, StateVar, Var,
};
use crate::slice::params::{EventShape, PARAM_LIMIT};

/// Checks and compiles properties. Those with errors are left out of the result.
pub fn check(properties: &[ast::Property], monitors: &RawMonitors) -> (Vec<Property>, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let names: Vec<&ast::Name> = properties.iter().map(|property| &property.name).collect();
    duplicates(&names, "property", &mut problems);
    let mut compiled = Vec::new();
    for property in properties {
        let property = &fields::spread(property, &mut problems);
        let texts = texts::of(property);
        let mut checker = Checker { property, monitors, texts, problems: Vec::new() };
        compiled.extend(checker.check());
        problems.extend(checker.problems);
    }
    (compiled, problems)
}

struct Checker<'a> {
    property: &'a ast::Property,
    monitors: &'a RawMonitors,
    texts: Vec<String>,
    problems: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn check(&mut self) -> Option<Property> {
        let ast = self.property;
        let modifiers = self.modifiers();
        let mut params: Vec<String> = ast.params.iter().map(|param| param.text.clone()).collect();
        if modifiers.perthread {
            params.push(format!("{THREAD} (perthread)"));
        }
        let fits = params.len() <= PARAM_LIMIT;
        if !fits {
            let label = format!("at most {PARAM_LIMIT}, the thread of `perthread` included");
            self.error(ast.name.span.clone(), "too many parameters", &label);
        }
        duplicates(&ast.params.iter().collect::<Vec<_>>(), "parameter", &mut self.problems);
        self.check_names();
        let named = ast.threads.iter().flat_map(|threads| &threads.names);
        duplicates(&named.collect::<Vec<_>>(), "thread", &mut self.problems);
        let vars = ast.vars.iter().map(|var| self.var(var)).collect();
        let state = ast.states.iter().map(|state| self.state(state)).collect();
        self.check_states(modifiers);
        let locals = ast.locals.iter().map(|local| self.local(local)).collect();
        if !fits {
            return None;
        }
        let events: Vec<Event> = ast.events.iter().filter_map(|event| self.event(event, modifiers)).collect();
        if ast.bodies.is_empty() {
            self.error(
                ast.name.span.clone(),
                "this property has no body",
                "expected a body such as `ere: …`",
            );
        }
        if self.has_errors() {
            return None;
        }
        let compiler = BodyCompiler { property: ast, events: &events, monitors: self.monitors };
        let mut bodies = Vec::new();
        let mut mttl = Vec::new();
        let mut scope = MttlScope::new(ast, mttl::threads(ast));
        for body in &ast.bodies {
            if let Content::Mttl(formula) = &body.content {
                let name = body.name.as_ref().map(|name| name.text.clone());
                match scope.whole(formula) {
                    Ok(formula) => {
                        mttl.push(MttlBody { name, mttl: formula, handlers: compiler.handlers(body) });
                    }
                    Err(problem) => self.problems.push(problem),
                }
                continue;
            }
            match compiler.compile(body) {
                Ok(body) => bodies.push(body),
                Err(problems) => self.problems.extend(problems),
            }
        }
        let MttlScope { threads, warnings, .. } = scope;
        self.problems.extend(warnings);
        self.check_threads();
        compiler.check_handlers(&mut self.problems);
        if self.has_errors() {
            return None;
        }
        let name = ast.name.text.clone();
        let texts = std::mem::take(&mut self.texts);
        let property =
            Property { name, params, modifiers, events, vars, state, texts, bodies, threads, locals, mttl };
        warnings::look(ast, &property, &mut self.problems);
        Some(property)
    }

    /// No two events or variables have the same name.
    fn check_names(&mut self) {
        let ast = self.property;
        let before = self.problems.len();
        let events = ast.events.iter().map(|event| &event.name);
        let named =
            events.clone().chain(ast.vars.iter().chain(&ast.states).chain(&ast.locals).map(|var| &var.name));
        duplicates(&named.collect::<Vec<_>>(), "event or variable", &mut self.problems);
        for problem in &mut self.problems[before..] {
            if let Some(event) = events.clone().find(|event| event.span == problem.span) {
                problem.help = Some(format!(
                    "one event of the program can be several: `event other(…) = {}(…);`",
                    event.text
                ));
            }
        }
    }

    fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    fn error(&mut self, span: Span, message: &str, label: &str) {
        self.problems.push(Diagnostic::error(span, message, label));
    }

    fn modifiers(&mut self) -> Modifiers {
        let mut modifiers = Modifiers::default();
        for name in &self.property.modifiers {
            match name.text.as_str() {
                "full-binding" => modifiers.full_binding = true,
                "suffix" => modifiers.suffix = true,
                "perthread" => modifiers.perthread = true,
                "connected" => modifiers.connected = true,
                _ => modifiers.unsynchronized = true,
            }
        }
        modifiers
    }

    fn var(&mut self, var: &ast::Var) -> Var {
        if !matches!(var.kind.text.as_str(), "int" | "bool") {
            let message = format!("variables have the type `int` or `bool`, not `{}`", var.kind.text);
            let problem = Diagnostic::error(var.kind.span.clone(), message, "expected `int` or `bool`");
            self.problems.push(problem.with_suggestion(&var.kind.text, ["int", "bool"]));
        }
        Var { name: var.name.text.clone(), initial: var.initial, is_unsigned: false }
    }

    fn state(&mut self, state: &ast::Var) -> StateVar {
        let Var { name, initial, .. } = self.var(state);
        StateVar { name, initial: initial.unwrap_or(0) }
    }

    /// Variables of instances are for bodies over events, and copies of instances would have copies of them.
    fn check_states(&mut self, modifiers: Modifiers) {
        let ast = self.property;
        let Some(first) = ast.states.first() else { return };
        if modifiers.suffix {
            let message =
                format!("a `suffix` property has no variables of its own, as `{}` is", first.name.text);
            let label = "each suffix would have its own, without end";
            let problem = Diagnostic::error(first.name.span.clone(), message, label);
            self.problems.push(problem.with_help("leave `suffix` out, and `reset` on the verdict"));
        }
        if ast.bodies.iter().all(|body| matches!(body.content, Content::Mttl(_))) && !ast.bodies.is_empty() {
            let message = format!("`{}` is of no use to `mttl` bodies", first.name.text);
            let problem =
                Diagnostic::error(first.name.span.clone(), message, "events change it, and there are none");
            self.problems.push(problem.with_help("variables of threads are declared with `local`"));
        }
    }

    fn local(&mut self, local: &ast::Var) -> Local {
        let Var { name, initial, .. } = self.var(local);
        Local { name, initial: initial.unwrap_or(0) }
    }

    /// Threads and locals are for `mttl` bodies, and `mttl` bodies have no other parameters.
    fn check_threads(&mut self) {
        let ast = self.property;
        let is_mttl = |body: &ast::Body| matches!(body.content, Content::Mttl(_));
        let declared = ast.threads.iter().flat_map(|threads| &threads.names);
        let declared = declared.chain(ast.locals.iter().map(|local| &local.name));
        if let (false, Some(name)) = (ast.bodies.iter().any(is_mttl), declared.into_iter().next()) {
            let message = format!("`{}` is of use to `mttl` bodies only", name.text);
            let problem = Diagnostic::error(name.span.clone(), message, "this property has no `mttl` body");
            let help =
                format!("the thread of an event is its value `{THREAD}`, as in `event lock(l, {THREAD});`");
            self.problems.push(problem.with_help(help));
        }
        if let (Some(body), Some(param)) = (ast.bodies.iter().find(|body| is_mttl(body)), ast.params.first())
        {
            let message = "a property with an `mttl` body has no parameters but its threads";
            let problem =
                Diagnostic::error(param.span.clone(), message, "declare threads with `thread i, j;`");
            self.problems.push(
                problem.with_help(format!("move `{}` into a property of its own", body.formalism.text)),
            );
        }
    }

    fn event(&mut self, event: &ast::Event, modifiers: Modifiers) -> Option<Event> {
        let (source, carried_args) = self.source(event)?;
        let names: Vec<&ast::Name> = names_of(carried_args);
        let is_call =
            matches!(source, Source::Enter(_) | Source::Exit(_) | Source::Arguments(..) | Source::Result(..));
        duplicates(&names, "value of this event", &mut self.problems);
        for name in
            names_of(&event.args).iter().filter(|name| !names.iter().any(|this| this.text == name.text))
        {
            let message = format!("the event after `=` does not carry `{}`", name.text);
            let known = names.iter().map(|name| name.text.as_str());
            let problem = Diagnostic::error(name.span.clone(), message, "not among the values after `=`");
            self.problems.push(problem.with_suggestion(&name.text, known));
        }
        // Of a call only what is asked for is recorded; other events have all their values.
        let carried: Vec<&str> = match is_call {
            true => names.iter().map(|name| name.text.as_str()).filter(|name| *name != THREAD).collect(),
            false => values_of(carried_args).collect(),
        };
        let bound = |name: &str| {
            let param = self.property.params.iter().position(|param| param.text == name)?;
            let from = carried.iter().position(|arg| *arg == name);
            Some((param as u8, from.map_or(Carried::Thread, |position| Carried::Arg(position as u32))))
        };
        let mut binding: Vec<(u8, Carried)> =
            event_names(event).filter_map(|name| bound(&name.text)).collect();
        if modifiers.perthread {
            binding.push((self.property.params.len() as u8, Carried::Thread));
        }
        let ast::Property { vars, states, params, .. } = self.property;
        let texts = std::mem::take(&mut self.texts);
        let scope = Scope { vars, states, params, carried: &carried, texts: &texts };
        let guard = event
            .guard
            .as_ref()
            .and_then(|guard| scope.condition(guard).map_err(|problem| self.problems.push(problem)).ok());
        let mut actions = Vec::new();
        for change in &event.changes {
            match self.change(change, &scope) {
                Ok(action) => actions.push(action),
                Err(problem) => self.problems.push(problem),
            }
        }
        self.texts = texts;
        if let (true, Some(written), true) =
            (modifiers.suffix, &event.guard, guard.as_ref().is_some_and(Expr::asks_instance))
        {
            let message = "a `suffix` property has no guards about what instances remember";
            let label = "each suffix would remember something else, without end";
            self.error(written.span(), message, label);
        }
        let (own_guard, guard) = match guard {
            Some(guard) if guard.asks_instance() => (Some(guard), None),
            guard => (None, guard),
        };
        Some(Event {
            name: event.name.text.clone(),
            source,
            arity: carried.len(),
            shape: EventShape {
                params: binding.iter().map(|(param, _)| *param).collect(),
                creation: event.creation,
            },
            carried: binding.iter().map(|(_, carried)| *carried).collect(),
            guard,
            own_guard,
            actions,
        })
    }

    /// What the event is in the program, and the values it carries there.
    fn source<'e>(&mut self, event: &'e ast::Event) -> Option<(Source, &'e [ast::Arg])> {
        let (name, args) =
            event.source.as_ref().map_or((&event.name, &event.args), |(name, args)| (name, args));
        if matches!(name.text.as_str(), "enter" | "exit") {
            let source = calls::source(name, args);
            let source = source.map_err(|problem| self.problems.push(problem)).ok()?;
            return Some((source, args));
        }
        if let Some(problem) = calls::stray(name, args) {
            self.problems.push(problem);
            return None;
        }
        let builtin = Builtin::ALL.iter().find(|(known, ..)| *known == name.text);
        match builtin {
            Some((known, builtin, arity)) => {
                let given = values_of(args).count();
                // `read` and `write` can also hand out the value.
                let values = matches!(builtin, Builtin::Read | Builtin::Write) && given == 2;
                if given != *arity && !values {
                    let message = format!("the built-in event `{known}` carries {arity} values, not {given}");
                    self.error(name.span.clone(), &message, "`thread` may be named as well");
                }
                Some((Source::Builtin(*builtin), args))
            }
            None => Some((Source::Named(name.text.clone()), args)),
        }
    }

    /// What an event does to a variable of instances.
    fn change(&self, change: &ast::Change, scope: &Scope<'_>) -> Result<Assignment, Diagnostic> {
        let name = &change.name;
        let Some(state) = scope.states.iter().position(|state| state.name.text == name.text) else {
            let message = format!("`{}` is no `state` variable of this property", name.text);
            let problem =
                Diagnostic::error(name.span.clone(), message, "events change those, and nothing else");
            let known = scope.states.iter().map(|state| state.name.text.as_str());
            let problem = problem.with_suggestion(&name.text, known);
            let help = problem
                .help
                .clone()
                .unwrap_or_else(|| format!("declare it: `state {}: int = 0;`", name.text));
            return Err(problem.with_help(help));
        };
        let is_bool = scope.states[state].kind.text == "bool";
        let value = match (&change.value, change.operator) {
            (value, None) if is_bool => scope.condition(value)?,
            (ast::Formula::Text(..), None) => scope.number_of_text(&change.value)?,
            (value, None) => scope.number(value)?,
            (_, Some(operator)) if is_bool => {
                let message = format!("nothing is added to `{}`, which is true or false", name.text);
                let label = format!("expected `=`, not `{}=`", operator.text());
                return Err(Diagnostic::error(name.span.clone(), message, label));
            }
            (value, Some(operator)) => {
                let before = Expr::Source(predicate::Source::State(state as u32));
                Expr::Binary(operator, Box::new(before), Box::new(scope.number(value)?))
            }
        };
        Ok(Assignment { state: state as u32, value })
    }
}

fn names_of(args: &[ast::Arg]) -> Vec<&ast::Name> {
    args.iter().filter_map(ast::Arg::bound).collect()
}

/// What an event that is no call carries, in order, the thread left out.
fn values_of(args: &[ast::Arg]) -> impl Iterator<Item = &str> {
    let names = args.iter().filter_map(|arg| match arg {
        ast::Arg::Name(name) => Some(name.text.as_str()),
        _ => None,
    });
    names.filter(|name| *name != THREAD)
}

fn event_names(event: &ast::Event) -> impl Iterator<Item = &ast::Name> {
    let mut names = names_of(&event.args);
    if let Some((_, args)) = &event.source
        && event.args.is_empty()
    {
        names = names_of(args);
    }
    names.into_iter()
}
