//! Spec files: reading, and reporting what is wrong with them as compilers do.

use std::path::Path;

use foresee_monitor::Compiled;
use foresee_monitor::property::{self, Event, Property, Source};
use foresee_monitor::spec::diagnostic::{Diagnostic, Severity};

use foresee_symbols::calls::{self, Values, WantedCall};

use crate::bounded;
use crate::error::{self, CliError, without_code};

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
    match foresee_monitor::compile(&text) {
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

/// The calls that properties want the values of.
pub(crate) fn calls(properties: &[Property]) -> Vec<WantedCall> {
    let of_event = |property: &Property, event: &Event| {
        let (functions, values) = match &event.source {
            Source::Arguments(functions, parameters) => {
                (functions, Values::Arguments(parameters.iter().map(parameter).collect()))
            }
            Source::Result(functions, parameters) => {
                (functions, Values::Returned(parameters.iter().map(parameter).collect()))
            }
            Source::Named(_) | Source::Builtin(_) | Source::Enter(_) | Source::Exit(_) => return None,
        };
        let by = format!("the event `{}` of `{}`", event.name, property.name);
        Some(WantedCall { by, functions: functions.clone(), values })
    };
    let events =
        properties.iter().flat_map(|property| property.events.iter().map(move |event| (property, event)));
    events.filter_map(|(property, event)| of_event(property, event)).collect()
}

fn parameter(parameter: &property::Parameter) -> calls::Parameter {
    match parameter {
        property::Parameter::Position(position) => calls::Parameter::Position(*position),
        property::Parameter::Named(name) => calls::Parameter::Named(name.clone()),
        property::Parameter::Stored(name) => calls::Parameter::Stored(name.clone()),
        property::Parameter::Result => calls::Parameter::Result,
    }
}

/// Refuses properties about the values of calls, which are not recorded here.
pub(crate) fn without_calls(path: &Path, compiled: &Compiled) -> Result<(), CliError> {
    match calls(&compiled.properties).first() {
        None => Ok(()),
        Some(WantedCall { by, .. }) => Err(CliError::Usage(format!(
            "{}: {by} needs the arguments or the result of a call, which observed programs do not tell; use `foresee run --spec {0}`",
            path.display()
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
