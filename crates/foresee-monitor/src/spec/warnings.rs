//! What is allowed but probably not intended: events nobody uses, parameters that no event binds, names that are nearly or by chance
//! those of built-in events, grammars of nothing, handlers that do nothing, unreachable verdicts, machines with two transitions for one event.

use rustc_hash::FxHashSet;

use super::ast::{self, Content, Formula, Pattern};
use super::diagnostic::Diagnostic;
use crate::formalism::automaton::Automaton;
use crate::formalism::{Categories, Monitor};
use crate::property::{Body, Builtin, Event, Handler, Machine, Property, Source};
use crate::slice::params::ParamSet;
use crate::watch::Setup;

/// Looks for what is probably not intended.
pub(super) fn look(ast: &ast::Property, property: &Property, problems: &mut Vec<Diagnostic>) {
    let mut used = Vec::new();
    ast.bodies.iter().for_each(|body| used_names(&body.content, &mut used));
    let reads_all = |body: &ast::Body| match &body.content {
        Content::Raw(..) => true,
        Content::Fsm(states, _) => {
            let mut transitions = states.iter().flat_map(|state| &state.transitions);
            transitions.any(|(event, _)| event.text == "default")
        }
        _ => false,
    };
    let all_read = ast.bodies.iter().any(reads_all);
    for event in ast.events.iter().filter(|event| !all_read && !used.contains(&event.name.text.as_str())) {
        let message = format!("no body uses the event `{}`", event.name.text);
        let help =
            "it still counts as a step of every body that has begun; remove it if that is not intended";
        problems.push(Diagnostic::warning(event.name.span.clone(), message, "never used").with_help(help));
    }
    unbound_parameters(ast, property, problems);
    unchanged(ast, problems);
    products(ast, property, problems);
    builtin_names(ast, property, problems);
    for body in &ast.bodies {
        match &body.content {
            Content::Cfg(rules) => empty_grammar(rules, problems),
            Content::Srs(rules) => lost_symbols(ast, rules, problems),
            _ => {}
        }
    }
    let is_mttl = |body: &&ast::Body| matches!(body.content, Content::Mttl(_));
    let handlers = (ast.bodies.iter().filter(|body| !is_mttl(body)))
        .zip(property.bodies.iter().map(|body| &body.handlers))
        .chain(ast.bodies.iter().filter(is_mttl).zip(property.mttl.iter().map(|body| &body.handlers)));
    for (body, handlers) in handlers {
        if handlers.is_empty() {
            let message = format!("this `{}` body has no handler", body.formalism.text);
            let known = super::compile::categories(body).join("`, `@");
            let problem =
                Diagnostic::warning(body.formalism.span.clone(), message, "its verdicts are ignored");
            problems.push(problem.with_help(format!("add one of `@{known}`")));
        }
        if let Content::Fsm(states, _) = &body.content {
            nondeterminism(states, problems);
        }
    }
    for handler in &ast.handlers {
        if handler.actions.is_empty() {
            let message = format!("this handler of `@{}` does nothing", handler.category.text);
            let problem =
                Diagnostic::warning(handler.category.span.clone(), message, "its verdicts are ignored");
            problems.push(problem.with_help("add an action, as in `report \"…\";`"));
        }
        let of_bodies = || property.bodies.iter().filter_map(|body| Some((body, position(body, handler)?)));
        let comes = |(body, wanted): (&Body, Categories)| match &body.machine {
            Machine::Automaton(automaton) => {
                reachable(automaton).iter().any(|state| automaton.verdicts_of(*state).meets(wanted))
            }
            _ => true,
        };
        if of_bodies().next().is_some() && !of_bodies().any(comes) {
            let message = format!("the verdict `{}` can never be reached", handler.category.text);
            let label = "no sequence of events leads to this verdict";
            problems.push(Diagnostic::warning(handler.category.span.clone(), message, label));
        }
    }
}

fn unbound_parameters(ast: &ast::Property, property: &Property, problems: &mut Vec<Diagnostic>) {
    for (param, number) in ast.params.iter().zip(0..) {
        if property.events.iter().all(|event| !event.shape.params.contains(&number)) {
            let message = format!("no event binds the parameter `{}`", param.text);
            let help = format!("name it in an event, as in `event use({});`, or remove it", param.text);
            problems.push(Diagnostic::warning(param.span.clone(), message, "never bound").with_help(help));
        }
    }
}

/// A variable of instances that no event changes was perhaps meant to be the program's.
fn unchanged(ast: &ast::Property, problems: &mut Vec<Diagnostic>) {
    let is_changed = |state: &ast::Var| {
        let mut changes = ast.events.iter().flat_map(|event| &event.changes);
        changes.any(|change| change.name.text == state.name.text)
    };
    for ast::Var { name, kind, .. } in ast.states.iter().filter(|state| !is_changed(state)) {
        let message = format!("no event changes `{}`", name.text);
        let help = format!(
            "change it, as in `event e {{ {0} = …; }}`; a variable of the program is `var {0}: {1};`",
            name.text, kind.text
        );
        problems.push(Diagnostic::warning(name.span.clone(), message, "always the same").with_help(help));
    }
}

/// What is combined before an event connects it takes memory for every pair.
fn products(ast: &ast::Property, property: &Property, problems: &mut Vec<Diagnostic>) {
    let plan = |body: &Body| Setup { property, body }.plan_for(&body.machine);
    let combined = property.bodies.iter().find_map(|body| plan(body).combined_unconnected());
    if let Some((one, other)) = combined {
        let names = |set: ParamSet| {
            let quoted = set.iter().map(|param| format!("`{}`", property.params[usize::from(param)]));
            quoted.collect::<Vec<_>>().join(", ")
        };
        let message = format!(
            "each {} is combined with each {}, until an event connects them",
            names(one),
            names(other)
        );
        let help = "the memory grows with the product of their numbers; \
                    `connected property` follows only what events have connected from the beginning";
        let label = "what either did before is part of the property";
        problems.push(Diagnostic::warning(ast.name.span.clone(), message, label).with_help(help));
    }
}

/// An event of the program's own beside a built-in one of its kind is easily taken for one, and one misspelt letter makes it one.
fn builtin_names(ast: &ast::Property, property: &Property, problems: &mut Vec<Diagnostic>) {
    // An event of the program's own about the same object: what else happens to it is probably one, too.
    let is_beside = |event: &Event| {
        let mut own = property.events.iter().filter(|other| matches!(other.source, Source::Named(_)));
        // The thread of `perthread` is not among the parameters as they are written.
        let is_shared =
            |param: &u8| usize::from(*param) < ast.params.len() && event.shape.params.contains(param);
        own.any(|other| other.shape.params.iter().any(is_shared))
    };
    for (written, event) in ast.events.iter().zip(&property.events) {
        let name = written.source.as_ref().map_or(&written.name, |(name, _)| name);
        match &event.source {
            Source::Named(_) => {
                let is_slip = |known: &&str| known.len() > 4 && is_one_slip(&name.text, known);
                if let Some(known) = Builtin::ALL.iter().map(|(known, ..)| *known).find(is_slip) {
                    let message = format!("`{}` is an event of the program's own", name.text);
                    let problem = Diagnostic::warning(name.span.clone(), message, "not a built-in event");
                    problems.push(problem.with_help(format!("did you mean the built-in event `{known}`?")));
                }
            }
            Source::Builtin(_) if written.source.is_none() && is_common(&name.text) && is_beside(event) => {
                let name = &written.name;
                let message = format!("`{}` is the built-in event, not one of the program's own", name.text);
                let label = "happens whenever the program does this, without annotation";
                let help = format!(
                    "write `event {0}(…) = {0}(…);` if that is meant, and choose another name if not",
                    name.text
                );
                problems.push(Diagnostic::warning(name.span.clone(), message, label).with_help(help));
            }
            _ => {}
        }
    }
}

/// Whether programs are likely to have events of this name.
fn is_common(builtin: &str) -> bool {
    ["read", "write", "acquire", "release", "fork", "join"].contains(&builtin)
}

/// Whether one letter too many, too few or another, within a word or at its beginning, makes the difference.
fn is_one_slip(written: &str, known: &str) -> bool {
    let same_start = written.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
    let (written, known) = (&written.as_bytes()[same_start..], &known.as_bytes()[same_start..]);
    match (written, known) {
        ([], _) | (_, []) => false,
        ([_, one @ ..], [_, other @ ..]) => one == other || one == known || written == other,
    }
}

/// A grammar whose first symbol leads to no sequence of events at all.
fn empty_grammar(rules: &[(ast::Name, Vec<Vec<ast::Name>>)], problems: &mut Vec<Diagnostic>) {
    let mut ends: Vec<&str> = Vec::new();
    let is_symbol = |name: &str| rules.iter().any(|(symbol, _)| symbol.text == name);
    loop {
        let ends_now = |part: &ast::Name| !is_symbol(&part.text) || ends.contains(&part.text.as_str());
        let new: Vec<&str> = (rules.iter())
            .filter(|(symbol, _)| !ends.contains(&symbol.text.as_str()))
            .filter(|(_, alternatives)| alternatives.iter().any(|parts| parts.iter().all(ends_now)))
            .map(|(symbol, _)| symbol.text.as_str())
            .collect();
        if new.is_empty() {
            break;
        }
        ends.extend(new);
    }
    if let Some((start, _)) = rules.first()
        && !ends.contains(&start.text.as_str())
    {
        let message = format!("no sequence of events is a `{}`", start.text);
        let label = "every alternative needs the symbol itself, or another that never ends";
        let help = "give it an alternative of events only, or `epsilon`";
        problems.push(Diagnostic::warning(start.span.clone(), message, label).with_help(help));
    }
}

/// What rules make and no rule rewrites is probably misspelt.
fn lost_symbols(ast: &ast::Property, rules: &[ast::SrsRule], problems: &mut Vec<Diagnostic>) {
    let left = || rules.iter().flat_map(|rule| &rule.left).map(|name| name.text.as_str());
    let known: FxHashSet<&str> =
        left().chain(ast.events.iter().map(|event| event.name.text.as_str())).collect();
    let made = rules.iter().flat_map(|rule| match &rule.right {
        ast::SrsRight::Symbols(symbols) => &symbols[..],
        ast::SrsRight::Succeed | ast::SrsRight::Fail => &[],
    });
    let mut told: FxHashSet<&str> = FxHashSet::default();
    for name in made.filter(|name| !known.contains(name.text.as_str())) {
        if told.insert(&name.text) {
            let message = format!("no rule rewrites `{}`, and no event is called so", name.text);
            let problem = Diagnostic::warning(name.span.clone(), message, "stays for ever");
            problems.push(problem.with_suggestion(&name.text, known.iter().copied()));
        }
    }
}

/// The bit of this handler among those of a body.
fn position(body: &Body, handler: &ast::Handler) -> Option<Categories> {
    let same = |own: &Handler| {
        let actions = handler.actions.iter().map(|written| &written.what);
        own.category == handler.category.text && own.actions.iter().eq(actions)
    };
    body.handlers.iter().position(same).map(Categories::only)
}

/// The states that at least one event leads to.
fn reachable(automaton: &Automaton) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut queue = vec![automaton.start()];
    while let Some(state) = queue.pop() {
        for letter in 0..automaton.letters() {
            let to = automaton.next(state, letter);
            if !found.contains(&to) {
                found.push(to);
                queue.push(to);
            }
        }
    }
    found
}

fn nondeterminism(states: &[ast::FsmState], problems: &mut Vec<Diagnostic>) {
    for state in states {
        for (index, (event, to)) in state.transitions.iter().enumerate() {
            let before = state.transitions[..index].iter().find(|(earlier, _)| earlier.text == event.text);
            if let Some((_, first)) = before {
                let message = format!("state `{}` has two transitions for `{}`", state.name.text, event.text);
                let label = format!("never taken: the first one, to `{}`, counts", first.text);
                let span = event.span.start..to.span.end;
                problems.push(Diagnostic::warning(span, message, label));
            }
        }
    }
}

fn used_names<'a>(content: &'a Content, used: &mut Vec<&'a str>) {
    match content {
        Content::Fsm(states, _) => {
            let transitions = states.iter().flat_map(|state| &state.transitions);
            used.extend(transitions.map(|(event, _)| event.text.as_str()));
        }
        Content::Ere(pattern) => used_in_pattern(pattern, used),
        Content::Cfg(rules) => {
            let symbols = rules.iter().flat_map(|(_, alternatives)| alternatives.iter().flatten());
            used.extend(symbols.map(|name| name.text.as_str()));
        }
        Content::Srs(rules) => {
            used.extend(rules.iter().flat_map(|rule| &rule.left).map(|name| name.text.as_str()))
        }
        Content::Formula(formula) | Content::Mttl(formula) => used_in_formula(formula, used),
        Content::Raw(..) => {}
    }
}

fn used_in_pattern<'a>(pattern: &'a Pattern, used: &mut Vec<&'a str>) {
    match pattern {
        Pattern::Empty | Pattern::Epsilon => {}
        Pattern::Event(name) => used.push(&name.text),
        Pattern::Concat(parts) | Pattern::Or(parts) | Pattern::And(parts) => {
            parts.iter().for_each(|part| used_in_pattern(part, used));
        }
        Pattern::Not(inner) | Pattern::Repeat(inner, _) => used_in_pattern(inner, used),
    }
}

fn used_in_formula<'a>(formula: &'a Formula, used: &mut Vec<&'a str>) {
    match formula {
        Formula::Bool(..) | Formula::Number(..) | Formula::Text(..) => {}
        Formula::Name(name) => used.push(&name.text),
        Formula::Unary(_, inner) | Formula::Bounded(_, inner) => used_in_formula(inner, used),
        Formula::Binary(_, left, right) | Formula::Interval(left, right) => {
            used_in_formula(left, used);
            used_in_formula(right, used);
        }
        Formula::At(_, inner) | Formula::Quantified(_, inner) => used_in_formula(inner, used),
        Formula::Call(_, inside) => inside.iter().for_each(|inner| used_in_formula(inner, used)),
    }
}
