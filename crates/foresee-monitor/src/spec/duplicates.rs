//! Names that are declared twice.

use super::ast;
use super::diagnostic::Diagnostic;

/// Reports every name that was used before.
pub(super) fn duplicates(names: &[&ast::Name], what: &str, problems: &mut Vec<Diagnostic>) {
    for (index, name) in names.iter().enumerate() {
        if names[..index].iter().any(|earlier| earlier.text == name.text) {
            let message = format!("there is already a {what} called `{}`", name.text);
            problems.push(Diagnostic::error(name.span.clone(), message, "used twice"));
        }
    }
}
