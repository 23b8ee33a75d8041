//! What a recording says of itself, for properties: the first value of each variable of its program, and whether it is ever negative; and which calls have records of their own.

use foresee_monitor::property::{Property, Source};
use foresee_trace::raw::{CALLS_OF, INITIAL_VALUE_OF, UNSIGNED};
use foresee_trace::{Facts, VariablePattern};

/// What is known of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstValue {
    pub(super) value: i64,
    pub(super) is_unsigned: bool,
}

/// What is known of all, by name.
pub(super) struct FirstValues<'f>(Vec<(&'f str, FirstValue)>);

impl<'f> FirstValues<'f> {
    pub(super) fn of(facts: &'f Facts) -> FirstValues<'f> {
        let first = |(name, value): &'f (String, String)| {
            let name = name.strip_prefix(INITIAL_VALUE_OF)?;
            let number = value.strip_suffix(UNSIGNED);
            let first =
                FirstValue { value: number.unwrap_or(value).parse().ok()?, is_unsigned: number.is_some() };
            Some((name, first))
        };
        FirstValues(facts.iter().filter_map(first).collect())
    }

    /// Of the variable that a property calls so.
    pub(super) fn get(&self, name: &str) -> Option<FirstValue> {
        let pattern = VariablePattern::new(name);
        let whole = self.0.iter().find(|(name, _)| pattern.is_whole(name));
        whole.or_else(|| self.0.iter().find(|(name, _)| pattern.matches(name))).map(|(_, first)| *first)
    }
}

/// The properties, with what a recording says of their variables, where they do not say it themselves, and with the calls that have records of their own.
pub fn as_recorded(properties: &[Property], facts: &Facts) -> Vec<Property> {
    let of_program = FirstValues::of(facts);
    let mut properties = properties.to_vec();
    for event in properties.iter_mut().flat_map(|property| &mut property.events) {
        exactly(&mut event.source, facts);
    }
    for var in properties.iter_mut().flat_map(|property| &mut property.vars) {
        if let Some(first) = of_program.get(&var.name) {
            var.initial = var.initial.or(Some(first.value));
            var.is_unsigned |= first.is_unsigned;
        }
    }
    properties
}

/// Calls without values are taken from the records of hooks, where the run was recorded for the property: these have every call. What instrumented code tells by itself, as older traces and those that were recorded for
/// nothing have it, lacks calls that were inlined and those of functions that access no memory.
fn exactly(source: &mut Source, facts: &Facts) {
    let are_recorded = |functions: &[String], how: &str| {
        let is_recorded = |function: &String| {
            facts.iter().any(|(name, value)| value == how && name.strip_prefix(CALLS_OF) == Some(function))
        };
        functions.iter().all(is_recorded)
    };
    match source {
        Source::Enter(functions) if are_recorded(functions, "enter") => {
            *source = Source::Arguments(std::mem::take(functions), Vec::new());
        }
        Source::Exit(functions) if are_recorded(functions, "exit") => {
            *source = Source::Result(std::mem::take(functions), Vec::new());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_taken_from_hooks_where_these_were() {
        let facts = vec![
            (format!("{CALLS_OF}f"), "enter".to_owned()),
            (format!("{CALLS_OF}f"), "exit".to_owned()),
            (format!("{CALLS_OF}g"), "enter".to_owned()),
        ];
        let of = |mut source: Source| {
            exactly(&mut source, &facts);
            source
        };
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.to_owned()).collect() };
        let both = names(&["f", "g"]);
        assert_eq!(of(Source::Enter(both.clone())), Source::Arguments(both.clone(), Vec::new()));
        assert_eq!(of(Source::Exit(both.clone())), Source::Exit(both));
        assert_eq!(of(Source::Exit(names(&["f"]))), Source::Result(names(&["f"]), Vec::new()));
        assert_eq!(of(Source::Enter(names(&["h"]))), Source::Enter(names(&["h"])));
    }

    #[test]
    fn facts_say_what_variables_are_at_first() {
        let fact = |name: &str, value: &str| (format!("{INITIAL_VALUE_OF}{name}"), value.to_owned());
        let facts = vec![fact("a::x", "-3"), fact("y", &format!("200{UNSIGNED}")), fact("z", "?")];
        let known = FirstValues::of(&facts);
        assert_eq!(known.get("x"), Some(FirstValue { value: -3, is_unsigned: false }));
        assert_eq!(known.get("y"), Some(FirstValue { value: 200, is_unsigned: true }));
        assert_eq!(known.get("z"), None);
    }
}
