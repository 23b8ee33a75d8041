//! `foresee run`: record a program, then check its trace, and the traces of other processes that it started. These are reported
//! if something is found. With `FORESEE_OBSERVER`, what the program itself does is also sent to an observer.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use foresee_symbols::calls::WantedCall;

use crate::cli::{RecordOptions, RunArgs};
use crate::commands::check::Check;
use crate::commands::monitored;
use crate::config;
use crate::error::{self, CliError, Severity};
use crate::live;
use crate::observer::{self, secret, teller::Meeting};
use crate::output::Target;
use crate::recording::{Other, Program, Reading, Recorded, Recording, program_name};
use crate::report::results::{Outcome, Results};
use crate::scratch::Scratch;
use crate::unrecorded;

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let check = Check::prepare_run(&args.check, args.record.timeout)?;
    let RecordOptions { program: line, timeout, watch, extent } = &args.record;
    let extent = config::extent(extent)?;
    unrecorded::check_branches(line, &extent)?;
    let variables = &check.variables();
    let calls = &check.calls();
    let inside = &check.inside()?;
    let (timeout, asks_who_knows) = (*timeout, check.asks_who_knows());
    let rest = Program::default();
    let program = Program { line, timeout, watch, variables, calls, inside, asks_who_knows, extent, ..rest };
    let name = program_name(program.line);
    if !args.monitor.is_empty() {
        return monitored::run(&program, &args.monitor, &name, &check).map(ExitCode::from);
    }
    record_and_check(&program, &name, args.trace.as_deref(), &check, secret()).map(ExitCode::from)
}

/// Records the program and checks it beside, keeps its trace if asked to, and shows what was found; the exit code for both. An observer may ask for
/// the secret.
pub(crate) fn record_and_check(
    program: &Program<'_>,
    name: &str,
    trace: Option<&Path>,
    check: &Check,
    secret: Option<String>,
) -> Result<u8, CliError> {
    let temporary = Scratch::new()?;
    let trace = trace.map_or_else(|| temporary.path().join("run.ft"), Path::to_owned);
    let whole = Outcome { binary: name.to_owned(), ..Outcome::default() };
    let observer =
        if program.extent.keep_last.is_none() { Meeting::of(name, secret) } else { unobserved(name) };
    if let Some(observer) = &observer {
        error::print(Severity::Note, &format!("{name} is observed by {}", observer.address()));
    }
    let mut variables = program.variables.to_vec();
    variables.extend(observer.iter().flat_map(Meeting::variables));
    variables.sort_unstable();
    variables.dedup();
    let calls: Vec<WantedCall> =
        program.calls.iter().cloned().chain(observer.iter().flat_map(Meeting::calls)).collect();
    let program = &Program { variables: &variables, calls: &calls, ..program.clone() };
    let recording = Recording::prepare(program, &trace)?;
    let (code, checked) = if program.extent.keep_last.is_some() {
        // What is kept is known at the end.
        (recording.run(Reading::Afterwards)?, None)
    } else {
        let teller = observer.as_ref().map(Meeting::teller);
        live::beside(&recording, Target::file(&trace)?, teller, check.time(), |live| {
            check.report_live(live, &trace, name)
        })?
    };
    let outcome = match checked {
        Some((report, verdict)) => Outcome { verdict, reports: vec![report], ..whole },
        None => {
            let packing = recording.pack(Target::file(&trace)?, None, check.time())?;
            check_one(check, &trace, packing, whole)?
        }
    };
    let others = recording.pack_others(None, check.time())?;
    let outcome = with_others(check, &others, Outcome { code, ..outcome })?;
    check.show(Results::Run(&outcome.reports))?;
    let programs_own = outcome.failed() && !outcome.has_alarm();
    Ok(if programs_own { outcome.code } else { outcome.verdict })
}

/// A run of which only the end is kept cannot be observed while it goes on.
fn unobserved(name: &str) -> Option<Meeting> {
    if observer::is_wanted() {
        error::print(
            Severity::Note,
            &format!("{name} runs unobserved: only its end is recorded (--keep-last)"),
        );
    }
    None
}

/// Checks all traces of a recording.
pub(crate) fn check_recorded(
    check: &Check,
    recorded: &Recorded,
    trace: &Path,
    whole: Outcome,
) -> Result<Outcome, CliError> {
    with_others(check, &recorded.others, check_one(check, trace, recorded.packing, whole)?)
}

/// Checks the traces of other processes. The reports with findings become part of what the program came to.
fn with_others(check: &Check, others: &[Other], mut whole: Outcome) -> Result<Outcome, CliError> {
    for other in others {
        let found = check_one(check, &other.trace, other.packing, of_process(&whole, other))?;
        if found.findings() > 0 {
            if !whole.has_alarm() {
                whole.verdict = found.verdict;
            }
            whole.reports.extend(found.reports);
        }
    }
    Ok(whole)
}

fn of_process(whole: &Outcome, other: &Other) -> Outcome {
    Outcome {
        binary: format!("{} (process {})", whole.binary, other.process),
        test: whole.test.clone(),
        ..Outcome::default()
    }
}

/// Checks a trace, which it took so long to pack: that counts.
fn check_one(check: &Check, trace: &Path, packing: Duration, outcome: Outcome) -> Result<Outcome, CliError> {
    let now = Instant::now();
    let started = now.checked_sub(packing).unwrap_or(now);
    let (report, verdict) = check.report(trace, &outcome.name(), started)?;
    Ok(Outcome { verdict, reports: vec![report], ..outcome })
}
