//! The module of a property: its monitor, a function for each event, one for each variable.

use foresee_monitor::property::{Builtin, Event, Property, Source};
use foresee_monitor::spec::ast;
use proc_macro::TokenStream;

use super::tables;
use crate::template::{parsed, quoted};

/// The module of the property at this position of the spec.
pub(super) fn written(property: &Property, ast: &ast::Property, source: &str, nth: usize) -> TokenStream {
    let name = identifier(&snake_case(&property.name));
    let events: String = property.events.iter().map(declared).collect();
    let sharing = match property.modifiers {
        modifiers if modifiers.perthread => "PerThread",
        modifiers if modifiers.unsynchronized => "OneThread",
        _ => "Locked",
    };
    let make = tables::property(property)
        .unwrap_or_else(|| format!("__foresee::compiled({}, {nth})", quoted(source)));
    let event_functions =
        (0..).zip(&ast.events).map(|(index, event)| event_function(index, event, &property.events[index]));
    let functions: String = event_functions.chain((0..).zip(&property.vars).map(var_function)).collect();
    let doc = quoted(&format!("The property `{}`: a function for each of its events.", property.name));
    let property_name = quoted(&property.name);
    parsed(&format!(
        "#[doc = {doc}]
        #[allow(dead_code, non_snake_case, unreachable_pub, clippy::all)]
        pub mod {name} {{
            use ::foresee::monitor_private as __foresee;

            /// What runs the property.
            pub static MONITOR: ::foresee::Monitor = ::foresee::Monitor::new(__foresee::Declaration {{
                property: {property_name},
                events: &[{events}],
                sharing: __foresee::Sharing::{sharing},
                make: || {make},
            }});
            ::foresee::monitor_private::inventory::submit! {{ ::foresee::monitor_private::Registered(&MONITOR) }}
            {functions}
        }}"
    ))
}

/// The module of a property about what threads know.
pub(super) fn knowledge(property: &Property, source: &str, nth: usize) -> TokenStream {
    let name = identifier(&snake_case(&property.name));
    let doc = quoted(&format!("The property `{}`, about what threads know of each other.", property.name));
    let (property_name, source) = (quoted(&property.name), quoted(source));
    parsed(&format!(
        "#[doc = {doc}]
        #[allow(dead_code, non_snake_case, unreachable_pub, clippy::all)]
        pub mod {name} {{
            /// What runs the property.
            pub static MONITOR: ::foresee::KnowledgeMonitor =
                ::foresee::KnowledgeMonitor::new({property_name}, {source}, {nth});
            ::foresee::monitor_private::inventory::submit! {{
                ::foresee::monitor_private::RegisteredKnowledge(&MONITOR)
            }}
        }}"
    ))
}

fn declared(event: &Event) -> String {
    let reporter = match event.source {
        Source::Builtin(Builtin::EndProgram) => "EndProgram",
        Source::Builtin(Builtin::EndThread) => "EndThread",
        Source::Builtin(Builtin::EndObject) => "EndObject",
        _ => "Program",
    };
    // What `event!` calls it; the functions are called as the property does.
    let name = match &event.source {
        Source::Named(name) => name,
        _ => &event.name,
    };
    let (name, arity) = (quoted(name), event.arity);
    format!(
        "__foresee::Declared {{ name: {name}, arity: {arity}, reporter: __foresee::Reporter::{reporter} }},"
    )
}

fn event_function(index: usize, event: &ast::Event, compiled: &Event) -> String {
    let carried = event.source.as_ref().map_or(&event.args, |(_, args)| args);
    // A call is given what is asked for; other events all their values.
    let is_call = !matches!(compiled.source, Source::Named(_) | Source::Builtin(_));
    let name = |(nth, arg): (usize, &ast::Arg)| match arg.bound() {
        Some(name) => Some(name.text.clone()),
        None => (!is_call).then(|| format!("unused_{nth}")),
    };
    let names: Vec<String> =
        carried.iter().enumerate().filter_map(name).filter(|name| name != "thread").collect();
    // Each with a lifetime of its own: numbers have none.
    let lifetimes: String = (0..names.len()).map(|nth| format!("'a{nth},")).collect();
    let arg =
        |(nth, name): (usize, &String)| format!("{}: impl ::foresee::IntoArg<'a{nth}>,", identifier(name));
    let args: String = names.iter().enumerate().map(arg).collect();
    let keys: String =
        names.iter().map(|name| format!("__foresee::Key::of({}),", identifier(name))).collect();
    // What comes with a source of its own is recorded where it comes from.
    let recorded = if event.source.is_some() {
        String::new()
    } else {
        let converted =
            |name: &String| format!("let {0} = ::foresee::IntoArg::into_arg({0});", identifier(name));
        let values: String = names.iter().map(|name| format!(", {}", identifier(name))).collect();
        let converted: String = names.iter().map(converted).collect();
        format!("{converted} ::foresee::__recorded_event!({} {values});", quoted(&event.name.text))
    };
    let doc = quoted(&format!("The event `{}({})`.", event.name.text, names.join(", ")));
    let name = identifier(&event.name.text);
    format!(
        "#[doc = {doc}]
        #[inline]
        #[track_caller]
        pub fn {name}<{lifetimes}>({args}) {{
            {recorded}
            MONITOR.event({index}, [{keys}]);
        }}"
    )
}

fn var_function((index, var): (usize, &foresee_monitor::property::Var)) -> String {
    let name = identifier(&format!("set_{}", var.name.to_lowercase()));
    let doc = quoted(&format!("The variable `{}` gets this value.", var.name));
    format!(
        "#[doc = {doc}]
        #[track_caller]
        pub fn {name}(value: impl ::foresee::IntoLocal) {{
            MONITOR.assign({index}, ::foresee::IntoLocal::into_local(value) as i64);
        }}"
    )
}

/// A name that Rust takes, whatever it means there.
fn identifier(name: &str) -> String {
    if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        return format!("{name}_");
    }
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

/// The words of Rust that can be names only with `r#`.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// `UnsafeIterator` as modules are called: `unsafe_iterator`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let ends_word = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        let ends_acronym = before.is_some_and(char::is_uppercase)
            && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (ends_word || ends_acronym) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
