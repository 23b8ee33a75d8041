//! Spec files: reading, and reporting what is wrong with them as compilers do.

use std::path::Path;

use foresee_lattice::knowledge::{self, MOST_FORMULAS_INSIDE};
use foresee_monitor::Compiled;
use foresee_monitor::operator::{Binary, Unary};
use foresee_monitor::predicate::{self, Expr, text_number};
use foresee_monitor::property::{self, Event, Property, Source};
use foresee_monitor::spec::diagnostic::{Diagnostic, Severity};

use foresee_symbols::calls::{self, Use, Values, WantedCall};

use crate::error::{self, CliError, without_code};
use crate::{bounded, modules};

/// What becomes of warnings about a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warnings {
    Printed,
    /// They were printed before.
    Known,
}

/// Reads a spec file. Its errors have been printed when this fails, its warnings, if wanted, when it does not.
pub(crate) fn load(path: &Path, warnings: Warnings) -> Result<Compiled, CliError> {
    let text = read(path)?;
    match foresee_monitor::compile_with(&text, &modules::loaded()) {
        Ok(compiled) => {
            if warnings == Warnings::Printed {
                print(path, &text, &compiled.warnings);
            }
            Ok(compiled)
        }
        Err(problems) => Err(refused(path, &text, &problems)),
    }
}

/// Refuses or warns of bodies that only `foresee check` looks at.
pub(crate) fn without_mttl(path: &Path, compiled: &Compiled) -> Result<(), CliError> {
    let Some(left_out) = compiled.properties.iter().find(|property| !property.mttl.is_empty()) else {
        return Ok(());
    };
    let message = format!(
        "{}: `mttl` bodies, as that of `{}`, are checked by `foresee check TRACE --spec {0}` and `foresee run`, not here",
        path.display(),
        left_out.name
    );
    if compiled.properties.iter().all(|property| property.bodies.is_empty()) {
        return Err(CliError::Usage(message));
    }
    error::print(error::Severity::Warning, &message);
    Ok(())
}

/// Refuses formulas about what threads know that cannot be monitored together in a running program.
pub(crate) fn together_inside(properties: &[Property]) -> Result<(), CliError> {
    knowledge::program(properties).map_err(|why| CliError::Usage(why.to_string()))?;
    let formulas = knowledge::bodies(properties).count();
    if formulas <= MOST_FORMULAS_INSIDE {
        return Ok(());
    }
    let message = format!(
        "{formulas} `mttl` bodies; at most {MOST_FORMULAS_INSIDE} can be monitored in a running program"
    );
    Err(CliError::Usage(message))
}

/// What is asked of calls of which nothing is asked but that they happen.
const NO_ARGUMENTS: Values = Values::Arguments(Vec::new());
const NO_RESULT: Values = Values::Returned(Vec::new());

/// The calls that are events of properties.
pub(crate) fn calls(properties: &[Property]) -> Vec<WantedCall> {
    let of_event = |property: &Property, event: &Event| {
        let (functions, values) = match &event.source {
            Source::Enter(functions) => (functions, NO_ARGUMENTS),
            Source::Exit(functions) => (functions, NO_RESULT),
            Source::Arguments(functions, parameters) => {
                (functions, Values::Arguments(parameters.iter().map(parameter).collect()))
            }
            Source::Result(functions, parameters) => {
                (functions, Values::Returned(parameters.iter().map(parameter).collect()))
            }
            Source::Named(_) | Source::Builtin(_) => return None,
        };
        let by = format!("the event `{}` of `{}`", event.name, property.name);
        Some(WantedCall { by, functions: functions.clone(), values, uses: uses(event) })
    };
    let events =
        properties.iter().flat_map(|property| property.events.iter().map(move |event| (property, event)));
    events.filter_map(|(property, event)| of_event(property, event)).collect()
}

/// As what the conditions of an event take each of its values.
fn uses(event: &Event) -> Vec<Use> {
    let mut uses = vec![Use::Any; event.arity];
    event.guard.iter().chain(&event.own_guard).for_each(|guard| note_uses(guard, &mut uses));
    for change in &event.actions {
        note_uses(&change.value, &mut uses);
        // A variable may keep an object, but is never a text.
        note_use(&change.value, Use::Equal, &mut uses);
    }
    uses
}

fn note_uses(condition: &Expr, uses: &mut [Use]) {
    match condition {
        Expr::Number(_) | Expr::Source(_) => {}
        Expr::Unary(operator, inner) => {
            note_uses(inner, uses);
            if *operator == Unary::Minus {
                note_use(inner, Use::Number, uses);
            }
        }
        Expr::Binary(operator, left, right) => {
            for (one, other) in [(left, right), (right, left)] {
                note_uses(one, uses);
                match (operator, &**other) {
                    (Binary::And | Binary::Or | Binary::Implies, _) => {}
                    (Binary::Eq | Binary::Ne, Expr::Number(number)) if is_text(*number) => {
                        note_use(one, Use::Text, uses);
                    }
                    // Nothing is an address, too.
                    (Binary::Eq | Binary::Ne, Expr::Number(0) | Expr::Source(_)) => {}
                    (Binary::Eq | Binary::Ne, _) => note_use(one, Use::Equal, uses),
                    _ => note_use(one, Use::Number, uses),
                }
            }
        }
    }
}

/// Whether a number of a condition stands for a text.
fn is_text(number: i64) -> bool {
    u64::try_from(number).is_ok_and(|number| number >= text_number(0))
}

/// Notes what an argument is taken as.
fn note_use(of: &Expr, how: Use, uses: &mut [Use]) {
    if let Expr::Source(predicate::Source::Arg(position)) = of
        && let Some(place) = uses.get_mut(*position as usize)
    {
        *place = how;
    }
}

fn parameter(parameter: &property::Parameter) -> calls::Parameter {
    match parameter {
        property::Parameter::Position(position) => calls::Parameter::Position(*position),
        property::Parameter::Named(name) => calls::Parameter::Named(name.clone()),
        property::Parameter::Stored(name) => calls::Parameter::Stored(name.clone()),
        property::Parameter::Result => calls::Parameter::Result,
        property::Parameter::Field { of, of_type, path } => calls::Parameter::Field {
            of: Box::new(self::parameter(of)),
            of_type: of_type.clone(),
            path: path.clone(),
        },
    }
}

/// Refuses properties about fields of objects, of which nothing can be said but of the observed run.
pub(crate) fn without_fields(path: &Path, compiled: &Compiled) -> Result<(), CliError> {
    match compiled.properties.iter().find(|property| property.asks_for_fields()) {
        None => Ok(()),
        Some(property) => Err(CliError::Usage(format!(
            "{}: `{}` asks for fields of objects, which observers do not follow; use `foresee run --spec {0}`",
            path.display(),
            property.name
        ))),
    }
}

/// Refuses properties that ask when events happen, which recorded and observed runs do not tell.
pub(crate) fn without_times(path: &Path, properties: &[Property]) -> Result<(), CliError> {
    match properties.iter().find(|property| property.is_timed()) {
        None => Ok(()),
        Some(property) => Err(CliError::Usage(format!(
            "{}: `{}` asks when events happen, which is not recorded; `foresee monitor` holds it against text streams with `#time` lines",
            path.display(),
            property.name
        ))),
    }
}

/// The text of a spec file.
pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    bounded::read_text(path, bounded::SMALL)
        .map_err(|why| CliError::Usage(format!("{}: cannot read: {}", path.display(), without_code(&why))))
}

/// Prints the errors of a spec; the error that it cannot be used.
pub(crate) fn refused(path: &Path, text: &str, problems: &[Diagnostic]) -> CliError {
    print(path, text, problems);
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let what = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
    CliError::Usage(format!("{}: {what} in the spec", path.display()))
}

fn print(path: &Path, text: &str, problems: &[Diagnostic]) {
    for problem in problems {
        let severity = match problem.severity {
            Severity::Error => error::Severity::Error,
            Severity::Warning => error::Severity::Warning,
        };
        error::print_lines(severity, &problem.rendered(&path.display().to_string(), text));
    }
}
