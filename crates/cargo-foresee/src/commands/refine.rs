//! `foresee refine`: histories and refinement logs against their specifications.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use foresee_refine::linear::Limits;
use foresee_refine::named::Structure;
use foresee_refine::read;
use foresee_refine::refine::Mode;

use super::refine_trace::{self, TraceChecked};
use crate::cli::{Consistency, RefineArgs, Views};
use crate::commands::check;
use crate::config::Settings;
use crate::error::{CliError, display_name, without_code};
use crate::exit;
use crate::report::build::refinement::{self, Checked, Question};
use crate::report::model::{CaseVerdict, EngineStats, Finding, Lack, Named, Report, Stats};
use crate::report::results::Results;

pub(crate) fn run(args: &RefineArgs) -> Result<ExitCode, CliError> {
    let started = Instant::now();
    let name = display_name(&args.input);
    let wrong = |why: &dyn std::fmt::Display| CliError::Usage(format!("{name}: {why}"));
    let limits = Limits {
        memory: args
            .memory
            .map_or(Limits::default().memory, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
        deadline: args.time.and_then(|time| started.checked_add(time)),
    };
    let said = args.model.as_deref().map(str::parse::<Structure>).transpose();
    let said = said.map_err(|why| CliError::Usage(why.to_string()))?;
    if refine_trace::is_trace(&args.input) {
        return trace(args, said, name, started, limits);
    }
    let bytes = bytes_of(&args.input, &name)?;
    let cases = read::read(&bytes, said).map_err(|why| wrong(&why))?;
    let views = views(args);
    let consistency = match args.consistency {
        Consistency::Linearizable => foresee_refine::named::Consistency::Linearizable,
        Consistency::Sequential => foresee_refine::named::Consistency::Sequential,
    };
    let mut verdicts = Vec::new();
    let mut findings = Vec::new();
    let (mut events, mut undecided) = (0, 0);
    for case in &cases {
        let named = |why: &dyn std::fmt::Display| match &case.id {
            Some(id) => wrong(&format!("{id}: {why}")),
            None => wrong(why),
        };
        let checked =
            refinement::check(case, Question { consistency, views }, limits).map_err(|why| named(&why))?;
        let Checked { verdict, finding, events: own } = checked;
        events += own;
        undecided += u64::from(verdict.ok.is_none());
        findings.extend(finding);
        verdicts.push(verdict);
    }
    let counts = Counts { events, undecided, refused: 0 };
    report(args, name, started, verdicts, findings, counts)
}

fn views(args: &RefineArgs) -> Mode {
    match args.views {
        Views::Commits => Mode::View,
        Views::Quiescence => Mode::Quiescent,
    }
}

/// The operations of a recorded program.
fn trace(
    args: &RefineArgs,
    said: Option<Structure>,
    name: String,
    started: Instant,
    limits: Limits,
) -> Result<ExitCode, CliError> {
    let Some(structure) = said else {
        let message =
            format!("{name}: a trace does not say what its operations are of: expected --model MODEL");
        return Err(CliError::Usage(message));
    };
    let TraceChecked { checked, undecided, refused } =
        refine_trace::check(&args.input, structure, views(args), limits)?;
    let Checked { mut verdict, finding, events } = checked;
    // Runs that did not happen are looked at for a while; that more could be is only said where the user set the time.
    if undecided > 0 && args.time.is_some() {
        verdict.undecided.get_or_insert(Lack::Time);
    }
    let counts = Counts { events, undecided: undecided + u64::from(verdict.ok.is_none()), refused };
    report(args, name, started, vec![verdict], finding.into_iter().collect(), counts)
}

struct Counts {
    events: u64,
    undecided: u64,
    refused: u64,
}

fn report(
    args: &RefineArgs,
    name: String,
    started: Instant,
    verdicts: Vec<CaseVerdict>,
    findings: Vec<Finding>,
    Counts { events, undecided, refused }: Counts,
) -> Result<ExitCode, CliError> {
    let is_undecided = verdicts.iter().any(|verdict| verdict.undecided.is_some());
    // What is left and is no case is runs that did not happen, which are looked at until the time is over.
    let cases = verdicts.iter().filter(|verdict| verdict.ok.is_none()).count() as u64;
    let out_of_time =
        undecided > cases || verdicts.iter().any(|verdict| verdict.undecided == Some(Lack::Time));
    let seconds = started.elapsed().as_secs_f64();
    let engine = EngineStats {
        findings: findings.len() as u64,
        undecided,
        out_of_time,
        refused,
        seconds: Some(seconds),
    };
    let stats = Stats {
        trace: Some(name),
        events,
        analysed: events,
        engines: Named(vec![(refinement::ENGINE.to_owned(), engine)]),
        undecided,
        seconds,
        ..Stats::default()
    };
    let mut report = Report::new(findings, stats);
    report.cases = Some(verdicts);
    report.number();
    let mut settings = Settings::default();
    (settings.format, settings.output) = (args.format, args.output.clone());
    check::write(Results::Run(std::slice::from_ref(&report)), &settings)?;
    Ok(ExitCode::from(match (report.has_alarm(), is_undecided) {
        (true, _) => args.exit_code.unwrap_or(exit::FINDINGS),
        (false, false) => exit::NOTHING_FOUND,
        (false, true) => exit::UNDECIDED,
    }))
}

fn bytes_of(path: &Path, name: &str) -> Result<Vec<u8>, CliError> {
    let read = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    read.map_err(|why| CliError::Usage(format!("{name}: cannot read: {}", without_code(&why))))
}
