//! `foresee trace convert`: from one form of trace to the other.

use std::fs;

use foresee_trace::EventBatch;

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
    let mut batch = EventBatch::default();
    let mut more = input.take_many(&mut batch)?;
    let mut output = Output::new(target, input.source().facts())?;
    let known = input.source().facts().len();
    output.push_all(input.names(), &batch)?;
    while more {
        more = input.take_many(&mut batch)?;
        output.push_all(input.names(), &batch)?;
    }
    let facts = input.source().facts();
    facts[known..].iter().try_for_each(|(key, value)| output.fact(key, value))?;
    output.finish(input.source().names(), &input.source().trust())
}
