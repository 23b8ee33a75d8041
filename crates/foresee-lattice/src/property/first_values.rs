//! What a recording says of the variables of its program: the first value of each, and whether it is ever negative.

use foresee_monitor::property::Property;
use foresee_trace::raw::{INITIAL_VALUE_OF, UNSIGNED};
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

/// The properties, with what a recording says of their variables, where they do not say it themselves.
pub fn with_first_values(properties: &[Property], facts: &Facts) -> Vec<Property> {
    let of_program = FirstValues::of(facts);
    let mut properties = properties.to_vec();
    for var in properties.iter_mut().flat_map(|property| &mut property.vars) {
        if let Some(first) = of_program.get(&var.name) {
            var.initial = var.initial.or(Some(first.value));
            var.is_unsigned |= first.is_unsigned;
        }
    }
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

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
