//! `foresee record`: run a program and keep its trace.
//!
//! What the program writes is packed while it runs, as `foresee run` does. If the raw trace is to be kept, or is the end of the run alone, that has to wait for the end.

use std::process::ExitCode;

use crate::cli::{RecordArgs, RecordOptions};
use crate::config;
use crate::error::{self, CliError, Severity};
use crate::live::{self, Live};
use crate::observer;
use crate::output::Target;
use crate::recording::{Program, Recording, record};
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
    if raw.is_some() || program.extent.keep_last.is_some() {
        return record(&program, &args.output, raw.as_deref(), None)
            .map(|recorded| ExitCode::from(recorded.code));
    }
    let recording = Recording::prepare(&program, &args.output)?;
    let target = || Target::file(&args.output);
    let (code, packed) = live::beside(&recording, target()?, None, None, Live::read_all)?;
    if packed.is_none() {
        recording.pack(target()?, None, None)?;
    }
    recording.pack_others(None, None)?;
    Ok(ExitCode::from(code))
}
