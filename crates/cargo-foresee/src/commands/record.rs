//! `foresee record`: run a program and keep its trace.

use std::process::ExitCode;

use crate::cli::RecordArgs;
use crate::error::CliError;
use crate::recording::record;

pub(crate) fn run(args: &RecordArgs) -> Result<ExitCode, CliError> {
    let raw = args.keep_raw.then(|| args.output.with_extension("raw"));
    record(&args.options, &args.output, raw.as_deref()).map(ExitCode::from)
}
