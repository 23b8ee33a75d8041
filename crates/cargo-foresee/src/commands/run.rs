//! `foresee run`: record a program, then check its trace.

use std::process::ExitCode;

use crate::cli::RunArgs;
use crate::commands::check::Check;
use crate::error::CliError;
use crate::recording::{program_name, record};

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let check = Check::prepare(&args.check)?;
    let temporary =
        tempfile::tempdir().map_err(|why| CliError::output("the folder for temporary files", why))?;
    let trace = args.trace.clone().unwrap_or_else(|| temporary.path().join("run.ft"));
    let of_program = record(&args.record, &trace, None)?;
    let checked = check.run(&trace, &program_name(&args.record.program))?;
    let programs_own = of_program != 0 && !checked.findings;
    Ok(ExitCode::from(if programs_own { of_program } else { checked.code }))
}
