//! The texts that a property compares values with, each once.
//!
//! Values are numbers, and a text is one as well: its [number](crate::predicate::text_number) goes by its position among the
//! property's texts. Whoever feeds a property with texts gives these the same numbers.

use super::ast::{Formula, Property};

/// The texts in the guards and changes of a property's events, in the order in which they stand there.
pub(super) fn of(property: &Property) -> Vec<String> {
    let mut texts = Vec::new();
    for event in &property.events {
        event.guard.iter().for_each(|guard| collect(guard, &mut texts));
        event.changes.iter().for_each(|change| collect(&change.value, &mut texts));
    }
    texts
}

fn collect(formula: &Formula, texts: &mut Vec<String>) {
    match formula {
        Formula::Text(text, _) if !texts.contains(text) => texts.push(text.clone()),
        Formula::Text(..) | Formula::Bool(..) | Formula::Number(..) | Formula::Name(_) => {}
        Formula::Unary(_, inner)
        | Formula::Bounded(_, inner)
        | Formula::At(_, inner)
        | Formula::Quantified(_, inner) => {
            collect(inner, texts);
        }
        Formula::Binary(_, left, right) | Formula::Interval(left, right) => {
            collect(left, texts);
            collect(right, texts);
        }
        Formula::Call(_, inside) => inside.iter().for_each(|inner| collect(inner, texts)),
    }
}
