//! `foresee trace dump`: a trace, or a part of it, as text.

use crate::cli::DumpArgs;
use crate::error::{CliError, display_name};
use crate::input::Input;
use crate::output::{Output, Target};

pub(crate) fn run(args: &DumpArgs) -> Result<(), CliError> {
    let mut input = Input::open(&args.input)?;
    input.skip(args.from)?;
    let mut left = args.count.unwrap_or(u64::MAX);
    let mut more = left > 0 && input.advance()?;
    let mut output = Output::new(Target::Stdout, input.source().facts())?;
    while more {
        let event = input.event();
        let names = input.names();
        if args.thread.as_ref().is_none_or(|thread| names.thread_name(event.thread) == thread) {
            output.push(names, &event)?;
        }
        left -= 1;
        more = left > 0 && input.advance()?;
    }
    output.finish(input.source().names(), &input.source().trust())?;
    input.warn_of_damage();
    known_thread(&input, args)
}

/// A thread that the trace does not name is a mistake, not an empty answer.
fn known_thread(input: &Input<'_>, args: &DumpArgs) -> Result<(), CliError> {
    let names = input.source().names();
    let Some(thread) = &args.thread else { return Ok(()) };
    if args.count.is_some() || names.threads().iter().any(|&name| names.str(name) == thread) {
        return Ok(());
    }
    let path = display_name(&args.input);
    Err(CliError::Usage(format!(
        "{path}: no thread is called `{thread}`; expected one of those in the trace"
    )))
}
