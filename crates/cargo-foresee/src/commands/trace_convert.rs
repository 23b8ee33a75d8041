//! `foresee trace convert`: from one form of trace to the other.

use std::fs;

use crate::cli::ConvertArgs;
use crate::error::CliError;
use crate::input::Input;
use crate::output::{Output, Target};

pub(crate) fn run(args: &ConvertArgs) -> Result<(), CliError> {
    let mut input = Input::open(&args.input)?;
    if let (Ok(from), Ok(to)) = (fs::canonicalize(&args.input), fs::canonicalize(&args.output))
        && from == to
    {
        let name = args.output.display();
        return Err(CliError::Usage(format!("{name}: is input and output; expected two different files")));
    }
    let target = Target::file(&args.output)?;
    copy(&mut input, target)?;
    input.warn_of_damage();
    Ok(())
}

fn copy(input: &mut Input<'_>, target: Target) -> Result<(), CliError> {
    // The facts of a text trace are known when its first event is.
    let mut more = input.advance()?;
    let mut output = Output::new(target, input.source().facts())?;
    let known = input.source().facts().len();
    while more {
        let (names, event) = input.event();
        output.push(names, &event)?;
        more = input.advance()?;
    }
    let facts = input.source().facts();
    facts[known..].iter().try_for_each(|(key, value)| output.fact(key, value))?;
    output.finish(input.source().names(), &input.source().trust())
}
