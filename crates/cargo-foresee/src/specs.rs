//! Spec files: reading, and telling what is wrong with them as compilers do.

use std::fmt::Write as _;
use std::path::Path;

use foresee_monitor::Compiled;
use foresee_monitor::spec::diagnostic::{Diagnostic, Severity};

use crate::error::{self, CliError, without_code};

/// What becomes of warnings about a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warnings {
    Told,
    /// Somebody has told them before.
    Known,
}

/// Reads a spec file. What is wrong with it has been told when this fails; so have warnings, if wanted, when it does not.
pub(crate) fn load(path: &Path, warnings: Warnings) -> Result<Compiled, CliError> {
    let text = read(path)?;
    match foresee_monitor::compile(&text) {
        Ok(compiled) => {
            if warnings == Warnings::Told {
                tell(path, &text, &compiled.warnings);
            }
            Ok(compiled)
        }
        Err(problems) => Err(refused(path, &text, &problems)),
    }
}

/// The text of a spec file.
pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path)
        .map_err(|why| CliError::Usage(format!("{}: cannot read: {}", path.display(), without_code(&why))))
}

/// Tells what is wrong with a spec, and why it cannot be used.
pub(crate) fn refused(path: &Path, text: &str, problems: &[Diagnostic]) -> CliError {
    tell(path, text, problems);
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let what = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
    CliError::Usage(format!("{}: {what} in the spec", path.display()))
}

fn tell(path: &Path, text: &str, problems: &[Diagnostic]) {
    for problem in problems {
        let severity = match problem.severity {
            Severity::Error => error::Severity::Error,
            Severity::Warning => error::Severity::Warning,
        };
        error::print_lines(severity, &rendered(path, text, problem));
    }
}

/// The message, the line with the place marked, and what to do.
fn rendered(path: &Path, text: &str, problem: &Diagnostic) -> String {
    let (line, column) = problem.position(text);
    let source = text.lines().nth(line - 1).unwrap_or_default();
    let width = line.to_string().len();
    let marked = text.get(problem.span.clone()).unwrap_or_default();
    let within_line = marked.lines().next().unwrap_or_default().chars().count().max(1);
    let mut out = problem.message.clone();
    let mut push = |text: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(text);
    };
    push(format_args!("\n {:width$} ┌─ {}:{line}:{column}", "", path.display()));
    push(format_args!("\n {line} │ {source}"));
    let (blank, marks) = (" ".repeat(column - 1), "^".repeat(within_line));
    push(format_args!("\n {:width$} │ {blank}{marks} {}", "", problem.label));
    if let Some(help) = &problem.help {
        push(format_args!("\n {:width$} = help: {help}", ""));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_shown_where_they_are() {
        let text = "property P {\n    event a;\n}\n";
        let problem = Diagnostic::error(23..24, "what is `a`?", "not this").with_help("use `b`");
        let shown = rendered(Path::new("x.rv"), text, &problem);
        let expected =
            "what is `a`?\n   ┌─ x.rv:2:11\n 2 │     event a;\n   │           ^ not this\n   = help: use `b`";
        assert_eq!(shown, expected);
    }
}
