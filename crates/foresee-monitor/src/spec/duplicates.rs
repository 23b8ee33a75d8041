//! Names that are declared twice.

use rustc_hash::FxHashSet;

use super::ast;
use super::diagnostic::Diagnostic;

/// Reports every name that was used before.
pub(super) fn duplicates(names: &[&ast::Name], what: &str, problems: &mut Vec<Diagnostic>) {
    let mut known = FxHashSet::default();
    for name in names {
        if !known.insert(name.text.as_str()) {
            let message = format!("there is already a {what} called `{}`", name.text);
            problems.push(Diagnostic::error(name.span.clone(), message, "used twice"));
        }
    }
}
