//! `foresee record`: run a program and keep its trace.

use std::process::ExitCode;

use crate::cli::{RecordArgs, RecordOptions};
use crate::config;
use crate::error::{self, CliError, Severity};
use crate::observer;
use crate::recording::{Program, record};
use crate::unrecorded;

pub(crate) fn run(args: &RecordArgs) -> Result<ExitCode, CliError> {
    let raw = args.keep_raw.then(|| args.output.with_extension("raw"));
    let RecordOptions { program: line, timeout, watch, extent } = &args.options;
    let extent = config::extent(extent)?;
    unrecorded::check_branches(line, &extent)?;
    let program = Program { line, timeout: *timeout, watch, extent, ..Program::default() };
    if observer::is_wanted() {
        let note = "FORESEE_OBSERVER is set, but `foresee record` only records: the program is not observed";
        error::print(Severity::Note, &note);
    }
    record(&program, &args.output, raw.as_deref(), None).map(|recorded| ExitCode::from(recorded.code))
}
