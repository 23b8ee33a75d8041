//! A compiled property as Rust code that builds it: automata and grammars as static tables, the rest as plain values.

use foresee_monitor::formalism::Monitor as _;
use foresee_monitor::formalism::automaton::Automaton;
use foresee_monitor::formalism::cfg::{Cfg, Symbol};
use foresee_monitor::predicate::{Expr, Source as Number};
use foresee_monitor::property::{
    Action, Atom, Body, Carried, Event, Handler, Letters, Machine, Modifiers, Parameter, Property, Source,
    Var,
};

use crate::template::quoted;

/// An expression for the property, or nothing if a body has no table, or instances remember values.
pub(super) fn property(property: &Property) -> Option<String> {
    // What is about the knowledge of threads has a module of its own, and texts are refused.
    let Property {
        name,
        params,
        modifiers,
        events,
        vars,
        bodies,
        state: _,
        texts: _,
        threads: _,
        locals: _,
        mttl: _,
    } = property;
    if property.remembers() {
        return None;
    }
    let event_count = events.len();
    let bodies: Option<Vec<String>> = bodies.iter().map(|one| body(one, event_count)).collect();
    let Modifiers { full_binding, suffix, perthread, connected, unsynchronized } = modifiers;
    Some(format!(
        "__foresee::Property {{
            name: {}, params: {}, events: {}, vars: {}, state: ::std::vec![], texts: ::std::vec![], bodies: {},
            modifiers: __foresee::Modifiers {{
                full_binding: {full_binding}, suffix: {suffix}, perthread: {perthread}, connected: {connected},
                unsynchronized: {unsynchronized},
            }},
            threads: ::std::vec![], locals: ::std::vec![], mttl: ::std::vec![],
        }}",
        string(name),
        list(params.iter().map(|param| string(param))),
        list(events.iter().map(event)),
        list(vars.iter().map(var)),
        list(bodies?.into_iter()),
    ))
}

fn string(text: &str) -> String {
    format!("::std::string::String::from({})", quoted(text))
}

fn strings(texts: &[String]) -> String {
    list(texts.iter().map(|text| string(text)))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("::std::vec![{}]", separated(items))
}

fn separated(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn optional(value: Option<String>) -> String {
    value.map_or("::core::option::Option::None".to_owned(), |value| {
        format!("::core::option::Option::Some({value})")
    })
}

fn parameters(parameters: &[Parameter]) -> String {
    list(parameters.iter().map(|parameter| {
        let which = match parameter {
            Parameter::Position(position) => format!("Position({position})"),
            Parameter::Named(name) => format!("Named({})", string(name)),
            Parameter::Stored(name) => format!("Stored({})", string(name)),
            // Such properties are refused.
            Parameter::Result | Parameter::Field { .. } => "Result".to_owned(),
        };
        format!("__foresee::Parameter::{which}")
    }))
}

fn event(event: &Event) -> String {
    let source = match &event.source {
        Source::Named(name) => format!("Named({})", string(name)),
        Source::Enter(functions) => format!("Enter({})", strings(functions)),
        Source::Exit(functions) => format!("Exit({})", strings(functions)),
        Source::Arguments(functions, values) => {
            format!("Arguments({}, {})", strings(functions), parameters(values))
        }
        Source::Result(functions, values) => {
            format!("Result({}, {})", strings(functions), parameters(values))
        }
        Source::Builtin(builtin) => format!("Builtin(__foresee::Builtin::{builtin:?})"),
    };
    let carried = event.carried.iter().map(|carried| match carried {
        Carried::Arg(position) => format!("__foresee::Carried::Arg({position})"),
        Carried::Thread => "__foresee::Carried::Thread".to_owned(),
    });
    format!(
        "__foresee::Event {{
            name: {}, source: __foresee::Source::{source}, arity: {},
            shape: __foresee::EventShape {{ params: {}, creation: {} }}, carried: {}, guard: {},
            own_guard: ::core::option::Option::None, actions: ::std::vec![],
        }}",
        string(&event.name),
        event.arity,
        list(event.shape.params.iter().map(u8::to_string)),
        event.shape.creation,
        list(carried),
        optional(event.guard.as_ref().map(expression)),
    )
}

fn var(var: &Var) -> String {
    let initial = optional(var.initial.map(|value| format!("{value}_i64")));
    format!("__foresee::Var {{ name: {}, initial: {initial}, is_unsigned: false }}", string(&var.name))
}

fn body(body: &Body, events: usize) -> Option<String> {
    let machine = match &body.machine {
        Machine::Automaton(machine) => automaton(machine),
        Machine::Cfg(cfg) => grammar(cfg, events, &body.handlers),
        Machine::Past(_) | Machine::Timed(_) | Machine::Srs(_) | Machine::Raw(_) => return None,
    };
    let letters = match &body.letters {
        Letters::Events => "Events".to_owned(),
        Letters::Atoms(atoms) => {
            let atoms = atoms.iter().map(|atom| match atom {
                Atom::Event(event) => format!("__foresee::Atom::Event({event})"),
                Atom::Predicate(condition) => {
                    format!("__foresee::Atom::Predicate({})", expression(condition))
                }
            });
            format!("Atoms({})", list(atoms))
        }
    };
    Some(format!(
        "__foresee::Body {{
            name: {}, formalism: {}, letters: __foresee::Letters::{letters}, machine: {machine}, handlers: {}, states: {},
        }}",
        optional(body.name.as_deref().map(string)),
        string(&body.formalism),
        list(body.handlers.iter().map(handler)),
        list(body.states.iter().map(|state| string(state))),
    ))
}

fn automaton(automaton: &Automaton) -> String {
    let (letters, states) = (automaton.letters(), automaton.states() as u32);
    debug_assert_eq!(automaton.start(), 0, "only a running automaton is primed");
    let next = (0..states).flat_map(|state| (0..letters).map(move |letter| automaton.next(state, letter)));
    let verdicts = (0..states).map(|state| automaton.verdicts_of(state).0);
    format!(
        "{{
            static NEXT: &[u32] = &[{}];
            static VERDICTS: &[u64] = &[{}];
            __foresee::automaton({letters}, NEXT, VERDICTS)
        }}",
        separated(next.map(|state| state.to_string())),
        separated(verdicts.map(|bits| bits.to_string())),
    )
}

fn grammar(cfg: &Cfg, events: usize, handlers: &[Handler]) -> String {
    let grammar = cfg.grammar();
    let symbol = |symbol: &Symbol| match symbol {
        Symbol::Event(event) => format!("__foresee::Symbol::Event({event})"),
        Symbol::Rule(rule) => format!("__foresee::Symbol::Rule({rule})"),
    };
    let rules = grammar.rules.iter();
    let rules = rules.map(|(left, right)| format!("({left}, &[{}])", separated(right.iter().map(symbol))));
    format!(
        "{{
            static RULES: &[(u32, &[__foresee::Symbol])] = &[{}];
            __foresee::grammar({events}, {}, RULES, &[{}])
        }}",
        separated(rules),
        grammar.symbols,
        separated(handlers.iter().map(|handler| quoted(&handler.category))),
    )
}

fn handler(handler: &Handler) -> String {
    let action = |action: &Action| match action {
        Action::Report(text) => format!("Report({})", string(text)),
        Action::Reset => "Reset".to_owned(),
        Action::Count => "Count".to_owned(),
        Action::Abort => "Abort".to_owned(),
        Action::Call(name) => format!("Call({})", string(name)),
        Action::Recover(name) => format!("Recover({})", string(name)),
    };
    let actions = handler.actions.iter().map(|one| format!("__foresee::Action::{}", action(one)));
    let (category, actions) = (string(&handler.category), list(actions));
    format!("__foresee::Handler {{ category: {category}, actions: {actions} }}")
}

fn expression(expr: &Expr) -> String {
    let boxed = |inner: &Expr| format!("::std::boxed::Box::new({})", expression(inner));
    let inner = match expr {
        Expr::Number(number) => format!("Number({number}_i64)"),
        Expr::Source(Number::Var(var)) => format!("Source(__foresee::Number::Var({var}))"),
        Expr::Source(Number::Arg(arg)) => format!("Source(__foresee::Number::Arg({arg}))"),
        Expr::Source(Number::Thread) => "Source(__foresee::Number::Thread)".to_owned(),
        Expr::Source(Number::State(state)) => format!("Source(__foresee::Number::State({state}))"),
        Expr::Source(Number::Param(param)) => format!("Source(__foresee::Number::Param({param}))"),
        Expr::Unary(operator, inner) => format!("Unary(__foresee::Unary::{operator:?}, {})", boxed(inner)),
        Expr::Binary(operator, left, right) => {
            format!("Binary(__foresee::Binary::{operator:?}, {}, {})", boxed(left), boxed(right))
        }
    };
    format!("__foresee::Expr::{inner}")
}
