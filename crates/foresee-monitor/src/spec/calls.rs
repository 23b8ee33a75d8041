//! Events that are calls of functions: `enter("f" | "g", …)` and `exit("f", …) returning …`.
//!
//! Without values they are what every recording has. With values, the functions' arguments and results are recorded for the properties
//! that name them, so here is decided what can be asked for; whether the program has such functions and parameters is known when it is
//! run.

use super::ast::{ANYTHING, Arg, Name};
use super::condition::THREAD;
use super::diagnostic::Diagnostic;
use crate::property::{Parameter, Source};

/// What the event `name(args)` is, `name` being `enter` or `exit`.
pub(super) fn source(name: &Name, args: &[Arg]) -> Result<Source, Diagnostic> {
    let (functions, values) = split(name, args)?;
    if functions.iter().any(|function| function.trim().is_empty()) {
        let problem = Diagnostic::error(name.span.clone(), "a function has a name", "this one is empty");
        return Err(problem.with_help(format!("write `{}(\"NAME\", …)`", name.text)));
    }
    let values: Vec<&Arg> = values.into_iter().filter(|arg| !is_thread(arg)).collect();
    if name.text == "exit" {
        return of_exit(functions, &values);
    }
    if let Some(Arg::Returned(result)) = values.last() {
        let message = "what a function returns is not known when it is entered";
        let problem = Diagnostic::error(result.span.clone(), message, "no result yet");
        return Err(problem.with_help(format!("write `exit(…) returning {}`", result.text)));
    }
    if let Some(Arg::Stored(parameter, _)) = values.iter().find(|value| matches!(value, Arg::Stored(..))) {
        let message = format!("what `{}` points to may change until the function returns", parameter.text);
        let problem = Diagnostic::error(parameter.span.clone(), message, "not known when it is entered");
        return Err(problem.with_help(format!("write `exit(…, *{} as …)`", parameter.text)));
    }
    let parameters = parameters(&values)?;
    Ok(match parameters.is_empty() {
        true => Source::Enter(functions),
        false => Source::Arguments(functions, parameters),
    })
}

/// The parameters that are asked for.
fn parameters(values: &[&Arg]) -> Result<Vec<Parameter>, Diagnostic> {
    let mut parameters = Vec::new();
    let mut by_name = false;
    for (position, value) in (0..).zip(values) {
        match value {
            Arg::Of(parameter, _) => {
                by_name = true;
                parameters.push(Parameter::Named(parameter.text.clone()));
            }
            Arg::Stored(parameter, _) => {
                by_name = true;
                parameters.push(Parameter::Stored(parameter.text.clone()));
            }
            Arg::Name(value) if by_name => {
                let message = format!("which parameter is `{}`?", value.text);
                let label = "behind parameters with names there are no positions";
                let problem = Diagnostic::error(value.span.clone(), message, label);
                return Err(problem.with_help(format!("write `PARAMETER as {}`", value.text)));
            }
            Arg::Name(value) if value.text != ANYTHING => parameters.push(Parameter::Position(position)),
            Arg::Returned(_) => parameters.push(Parameter::Result),
            Arg::Field(field, _) => parameters.push(Parameter::Field {
                of: Box::new(field.parameter.clone()),
                of_type: field.of_type.clone(),
                path: field.path.clone(),
            }),
            _ => {}
        }
    }
    Ok(parameters)
}

fn of_exit(functions: Vec<String>, values: &[&Arg]) -> Result<Source, Diagnostic> {
    if let [.., Arg::Returned(result)] = values
        && result.text == ANYTHING
    {
        let message = "a result that is not asked for";
        let problem = Diagnostic::error(result.span.clone(), message, "expected a name");
        return Err(
            problem.with_help("write `exit(…)` alone for functions that are left, with or without a result")
        );
    }
    let parameters = parameters(values)?;
    Ok(match parameters.is_empty() {
        true => Source::Exit(functions),
        false => Source::Result(functions, parameters),
    })
}

/// The functions, and what else is written.
fn split<'a>(name: &Name, args: &'a [Arg]) -> Result<(Vec<String>, Vec<&'a Arg>), Diagnostic> {
    let mut functions: Option<Vec<String>> = None;
    let mut values = Vec::new();
    for (position, arg) in args.iter().enumerate() {
        match arg {
            Arg::Functions(these) if position > 0 => {
                let span = these.first().map_or(0..0, |(_, span)| span.clone());
                let message = format!("`{}` takes its functions first", name.text);
                let problem = Diagnostic::error(span, message, "not where functions are expected");
                return Err(problem.with_help(format!("several are written `{}(\"f\" | \"g\")`", name.text)));
            }
            Arg::Functions(these) => {
                functions = Some(these.iter().map(|(function, _)| function.clone()).collect());
            }
            value => values.push(value),
        }
    }
    let Some(functions) = functions else {
        let label = "expected the function's name in quotes";
        let problem =
            Diagnostic::error(name.span.clone(), format!("`{}` needs a function", name.text), label);
        return Err(problem.with_help(format!("write `{}(\"function\")`", name.text)));
    };
    Ok((functions, values))
}

fn is_thread(arg: &Arg) -> bool {
    matches!(arg, Arg::Name(name) if name.text == THREAD)
}

/// What only calls have, at another event.
pub(super) fn stray(name: &Name, args: &[Arg]) -> Option<Diagnostic> {
    args.iter().find_map(|arg| match arg {
        Arg::Functions(functions) => {
            let span = functions.first().map_or(0..0, |(_, span)| span.clone());
            Some(Diagnostic::error(span, "only `enter` and `exit` take a text", "expected a name"))
        }
        Arg::Of(parameter, _) | Arg::Stored(parameter, _) => {
            let message = format!("`{}` is no call: it has no parameters with names", name.text);
            Some(Diagnostic::error(parameter.span.clone(), message, "only `enter` has parameters"))
        }
        Arg::Returned(result) => {
            let message = format!("`{}` returns nothing", name.text);
            Some(Diagnostic::error(result.span.clone(), message, "only `exit` has a result"))
        }
        Arg::Name(_) | Arg::Field(..) => None,
    })
}
