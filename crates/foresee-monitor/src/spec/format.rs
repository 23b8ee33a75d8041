//! One agreed style for spec files.
//!
//! Declarations are written anew from the syntax tree; bodies keep the line breaks their author chose, because a machine
//! or a formula is laid out to be read, and only their indentation is set. Comments stay before what they stood before, with the
//! blank line after them if there was one: a header is not the comment of the first property.
//! Formatting twice changes nothing, and formatting never changes what a spec means: a file with mistakes is left alone.

use super::ast::{Arg, Body, Change, Event, FieldVar, Formula, Handler, Property, Threads, Var};
use super::diagnostic::{Diagnostic, Span};
use super::lexer::Comment;
use super::parser::{Parsed, parse};
use crate::property::Action;

const INDENT: &str = "    ";

/// The file in the agreed style, or what is wrong with it.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let Parsed { properties, comments, problems } = parse(source);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut writer = Writer { source, comments: &comments, out: String::new() };
    for (nth, property) in properties.iter().enumerate() {
        if nth > 0 {
            writer.out.push('\n');
        }
        writer.property(property);
    }
    writer.comments_before(source.len(), "");
    Ok(writer.out)
}

struct Writer<'a> {
    source: &'a str,
    comments: &'a [Comment],
    out: String,
}

/// Something of a property, and where it stood.
enum Item<'a> {
    Event(&'a Event),
    Vars(&'static str, Vec<&'a Var>),
    Field(&'a FieldVar),
    Threads(&'a Threads),
    Body(&'a Body),
    Handler(&'a Handler),
}

impl Writer<'_> {
    fn property(&mut self, property: &Property) {
        self.comments_before(property.span.start, "");
        let modifiers: String = property.modifiers.iter().map(|name| format!("{} ", name.text)).collect();
        self.out.push_str(&format!("{modifiers}property {}", property.name.text));
        if !property.params.is_empty() {
            let params: Vec<&str> = property.params.iter().map(|param| param.text.as_str()).collect();
            self.out.push_str(&format!("({})", params.join(", ")));
        }
        self.out.push_str(" {\n");
        for (at, item) in items(property) {
            self.comments_before(at, INDENT);
            match item {
                Item::Event(event) => self.line(&event_text(event)),
                Item::Vars(word, vars) => self.line(&vars_text(word, &vars)),
                Item::Field(FieldVar { name, object, field }) => {
                    self.line(&format!("var {}({}): {};", name.text, object.text, field.text));
                }
                Item::Threads(threads) => self.line(&threads_text(threads)),
                Item::Body(body) => self.body(body),
                Item::Handler(handler) => self.line(&handler_text(handler)),
            }
        }
        self.comments_before(property.span.end, INDENT);
        self.out.push_str("}\n");
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(INDENT);
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes the comments that begin before this position and were not written yet.
    fn comments_before(&mut self, position: usize, indent: &str) {
        while let Some((first, rest)) = self.comments.split_first() {
            if first.span.start >= position {
                break;
            }
            self.comments = rest;
            self.out.push_str(indent);
            self.out.push_str(first.text.trim_end());
            self.out.push('\n');
            let after = self.source.get(first.span.end..).unwrap_or_default();
            let next = after.trim_start();
            let blank = after[..after.len() - next.len()].matches('\n').count() > 1;
            if blank && !next.is_empty() && !next.starts_with('}') {
                self.out.push('\n');
            }
        }
    }

    /// The body as it was written, comments included, its lines aligned below what follows the colon.
    fn body(&mut self, body: &Body) {
        let text = self.source.get(body.span.clone()).unwrap_or_default();
        let (head, rest) = text.split_once(':').unwrap_or((text, ""));
        let head: Vec<&str> = head.split_whitespace().collect();
        let head = format!("{}:", head.join(" "));
        let mut lines = rest.lines().map(str::trim).filter(|line| !line.is_empty());
        let below = " ".repeat(head.len() + 1);
        let first = lines.next().unwrap_or_default();
        self.line(format!("{head} {first}").trim_end());
        for line in lines {
            self.line(&format!("{below}{line}"));
        }
        self.skip_comments_in(&body.span);
    }

    fn skip_comments_in(&mut self, span: &Span) {
        let written = self.comments.iter().take_while(|comment| comment.span.start < span.end).count();
        self.comments = &self.comments[written..];
    }
}

/// All items of a property in the order in which they were written.
fn items(property: &Property) -> Vec<(usize, Item<'_>)> {
    let mut items: Vec<(usize, Item<'_>)> = Vec::new();
    items.extend(property.events.iter().map(|event| (event.name.span.start, Item::Event(event))));
    items.extend(property.bodies.iter().map(|body| (body.span.start, Item::Body(body))));
    items.extend(
        property.handlers.iter().map(|handler| (handler.category.span.start, Item::Handler(handler))),
    );
    for threads in &property.threads {
        let at = threads.names.first().map_or(0, |name| name.span.start);
        items.push((at, Item::Threads(threads)));
    }
    let vars = property.vars.iter().map(|var| ("var", var));
    let states = property.states.iter().map(|state| ("state", state));
    let locals = property.locals.iter().map(|local| ("local", local));
    for (word, var) in vars.chain(states).chain(locals) {
        match items.last_mut() {
            Some((_, Item::Vars(_, vars)))
                if vars.last().is_some_and(|last| last.kind.span == var.kind.span) =>
            {
                vars.push(var);
            }
            _ => items.push((var.name.span.start, Item::Vars(word, vec![var]))),
        }
    }
    items.extend(property.fields.iter().map(|field| (field.name.span.start, Item::Field(field))));
    items.sort_by_key(|(at, _)| *at);
    items
}

fn args_text(args: &[Arg]) -> String {
    let arg = |arg: &Arg| match arg {
        Arg::Name(name) => Some(name.text.clone()),
        Arg::Functions(functions) => {
            let quoted: Vec<String> = functions.iter().map(|(function, _)| quoted(function)).collect();
            Some(quoted.join(" | "))
        }
        Arg::Of(parameter, name) => Some(format!("{} as {}", parameter.text, name.text)),
        Arg::Stored(parameter, name) => Some(format!("*{} as {}", parameter.text, name.text)),
        Arg::Returned(_) | Arg::Field(..) => None,
    };
    let within: Vec<String> = args.iter().filter_map(arg).collect();
    let within = if within.is_empty() { String::new() } else { format!("({})", within.join(", ")) };
    match args.last() {
        Some(Arg::Returned(name)) => format!("{within} returning {}", name.text),
        _ => within,
    }
}

fn event_text(event: &Event) -> String {
    let creation = if event.creation { "creation " } else { "" };
    let source = event.source.as_ref().map(|(name, args)| format!(" = {}{}", name.text, args_text(args)));
    let guard = event.guard.as_ref().map(|guard| format!(" when {}", formula_text(guard, false)));
    let (source, guard) = (source.unwrap_or_default(), guard.unwrap_or_default());
    let change = |change: &Change| {
        let operator = change.operator.map_or("", |operator| operator.text());
        format!("{} {operator}= {};", change.name.text, formula_text(&change.value, false))
    };
    let changes: Vec<String> = event.changes.iter().map(change).collect();
    let end = if changes.is_empty() { ";".to_owned() } else { format!(" {{ {} }}", changes.join(" ")) };
    format!("{creation}event {}{}{source}{guard}{end}", event.name.text, args_text(&event.args))
}

fn threads_text(threads: &Threads) -> String {
    let names: Vec<&str> = threads.names.iter().map(|name| name.text.as_str()).collect();
    let pattern = threads.pattern.as_ref().map(|(pattern, _)| format!(": {}", quoted(pattern)));
    format!("thread {}{};", names.join(", "), pattern.unwrap_or_default())
}

fn vars_text(word: &str, vars: &[&Var]) -> String {
    let names: Vec<&str> = vars.iter().map(|var| var.name.text.as_str()).collect();
    let kind = vars.first().map_or("int", |var| var.kind.text.as_str());
    let initial = vars.first().and_then(|var| var.initial);
    let initial = initial.map(|value| match (kind, value) {
        ("bool", value) => format!(" = {}", value != 0),
        (_, value) => format!(" = {value}"),
    });
    format!("{word} {}: {kind}{};", names.join(", "), initial.unwrap_or_default())
}

fn handler_text(handler: &Handler) -> String {
    let action = |action: &Action| match action {
        Action::Report(text) => format!("report {};", quoted(text)),
        Action::Reset => "reset;".to_owned(),
        Action::Count => "count;".to_owned(),
        Action::Abort => "abort;".to_owned(),
        Action::Call(name) => format!("call {};", quoted(name)),
        Action::Recover(name) => format!("recover {};", quoted(name)),
    };
    let body = handler.body.as_ref().map(|body| format!("@{}", body.text)).unwrap_or_default();
    let actions: Vec<String> = handler.actions.iter().map(|written| action(&written.what)).collect();
    let inside = if actions.is_empty() { String::new() } else { format!(" {} ", actions.join(" ")) };
    format!("{body}@{} {{{inside}}}", handler.category.text)
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

/// A guard, with parentheses around every operator inside another: plain and unmistakable.
fn formula_text(formula: &Formula, inside: bool) -> String {
    match formula {
        Formula::Bool(value, _) => value.to_string(),
        Formula::Number(number, _) => number.to_string(),
        Formula::Text(text, _) => quoted(text),
        Formula::Name(name) => name.text.clone(),
        Formula::Unary(operator, inner) => format!("{}{}", operator.text(), formula_text(inner, true)),
        Formula::Interval(from, to) => {
            format!("[{}, {})", formula_text(from, false), formula_text(to, false))
        }
        Formula::Bounded(bound, inner) => {
            let bound = format!("[{} {}ns]", bound.operator.text(), bound.time);
            match &**inner {
                Formula::Unary(operator, inner) => {
                    format!("{}{bound} {}", operator.text(), formula_text(inner, true))
                }
                Formula::Binary(operator, left, right) => {
                    let (left, right) = (formula_text(left, true), formula_text(right, true));
                    format!("({left} {}{bound} {right})", operator.text())
                }
                other => formula_text(other, inside),
            }
        }
        Formula::At(thread, inner) => format!("@{}({})", thread.text, formula_text(inner, false)),
        Formula::Quantified(quantified, inner) => {
            let word = if quantified.all { "forall" } else { "exists" };
            let except = quantified.except.as_ref().map(|other| format!(" != {}", other.text));
            let (name, except) = (&quantified.name.text, except.unwrap_or_default());
            format!("({word} {name}{except}: {})", formula_text(inner, false))
        }
        Formula::Call(name, inside) => {
            let inside: Vec<String> = inside.iter().map(|inner| formula_text(inner, false)).collect();
            format!("{}({})", name.text, inside.join(", "))
        }
        Formula::Binary(operator, left, right) => {
            let text =
                format!("{} {} {}", formula_text(left, true), operator.text(), formula_text(right, true));
            if inside { format!("({text})") } else { text }
        }
    }
}
