//! `foresee run`: record a program, then check its trace, and the traces of other processes that it started. These are told of
//! if something is found.

use std::path::Path;
use std::process::ExitCode;

use crate::cargo::results::Outcome;
use crate::cli::{RecordOptions, RunArgs};
use crate::commands::check::Check;
use crate::error::CliError;
use crate::recording::{Other, Program, Recorded, program_name, record};

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
    let recorded = record(program, &trace, None)?;
    let whole = Outcome { binary: name.to_owned(), code: recorded.code, ..Outcome::default() };
    let outcome = check_recorded(check, &recorded, &trace, whole)?;
    check.show(&outcome.report)?;
    let programs_own = outcome.failed() && outcome.findings == 0;
    Ok(if programs_own { outcome.code } else { outcome.verdict })
}

/// Checks all traces of a recording. What is found in other processes becomes part of what the program came to.
pub(crate) fn check_recorded(
    check: &Check,
    recorded: &Recorded,
    trace: &Path,
    whole: Outcome,
) -> Result<Outcome, CliError> {
    let process = |other: &Other| Outcome {
        binary: format!("{} (process {})", whole.binary, other.process),
        test: whole.test.clone(),
        ..Outcome::default()
    };
    let mut others = Vec::new();
    for other in &recorded.others {
        others.push(check_one(check, &other.trace, process(other))?);
    }
    others.retain(|other| other.findings > 0);
    let mut whole = check_one(check, trace, whole)?;
    for other in others {
        whole.report = check.document(&[whole.clone(), other.clone()]);
        if whole.findings == 0 {
            whole.verdict = other.verdict;
        }
        whole.findings += other.findings;
        whole.failures.extend(other.failures);
    }
    Ok(whole)
}

fn check_one(check: &Check, trace: &Path, outcome: Outcome) -> Result<Outcome, CliError> {
    let name = outcome.name();
    check.report(trace, &name, &mut |report, verdict| {
        let outcome = Outcome { verdict, ..outcome.clone() };
        Ok(outcome.with(report, check.render(report)))
    })
}
