//! `foresee run`: record a program, then check its trace.

use std::path::Path;
use std::process::ExitCode;

use crate::cli::{RecordOptions, RunArgs};
use crate::commands::check::Check;
use crate::error::CliError;
use crate::recording::{Program, program_name, record};

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let check = Check::prepare(&args.check)?;
    let RecordOptions { program: line, timeout, watch } = &args.record;
    let program = Program { line, timeout: *timeout, watch, ..Program::default() };
    let name = program_name(program.line);
    record_and_check(&program, &name, args.trace.as_deref(), &check).map(ExitCode::from)
}

/// Records the program, keeps its trace if asked to, and shows what is in it; the exit code for both.
pub(crate) fn record_and_check(
    program: &Program<'_>,
    name: &str,
    trace: Option<&Path>,
    check: &Check,
) -> Result<u8, CliError> {
    let temporary =
        tempfile::tempdir().map_err(|why| CliError::output("the folder for temporary files", why))?;
    let trace = trace.map_or_else(|| temporary.path().join("run.ft"), Path::to_owned);
    let of_program = record(program, &trace, None)?;
    let checked = check.run(&trace, name)?;
    let programs_own = of_program != 0 && !checked.findings;
    Ok(if programs_own { of_program } else { checked.code })
}
