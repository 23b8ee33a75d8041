//! `foresee refine`: histories and refinement logs against their specifications.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use foresee_refine::linear::Limits;
use foresee_refine::named::Model;
use foresee_refine::read;

use crate::cli::{Consistency, RefineArgs};
use crate::commands::check;
use crate::config::Settings;
use crate::error::{CliError, display_name, without_code};
use crate::exit;
use crate::report::build::refinement::{self, Checked};
use crate::report::model::{EngineStats, Named, Report, Stats};
use crate::report::results::Results;

pub(crate) fn run(args: &RefineArgs) -> Result<ExitCode, CliError> {
    let started = Instant::now();
    let name = display_name(&args.input);
    let wrong = |why: &dyn std::fmt::Display| CliError::Usage(format!("{name}: {why}"));
    let model = args.model.as_deref().map(str::parse::<Model>).transpose();
    let model = model.map_err(|why| CliError::Usage(why.to_string()))?;
    let bytes = bytes_of(&args.input, &name)?;
    let cases = read::read(&bytes, model).map_err(|why| wrong(&why))?;
    let limits = Limits {
        memory: args
            .memory
            .map_or(Limits::default().memory, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
        deadline: args.time.and_then(|time| started.checked_add(time)),
    };
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
        let checked = refinement::check(case, consistency, limits).map_err(|why| named(&why))?;
        let Checked { verdict, finding, events: own } = checked;
        events += own;
        undecided += u64::from(verdict.ok.is_none());
        findings.extend(finding);
        verdicts.push(verdict);
    }
    let seconds = started.elapsed().as_secs_f64();
    let engine =
        EngineStats { findings: findings.len() as u64, undecided, refused: 0, seconds: Some(seconds) };
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
    Ok(ExitCode::from(match (report.findings.is_empty(), undecided) {
        (false, _) => args.exit_code.unwrap_or(exit::FINDINGS),
        (true, 0) => exit::NOTHING_FOUND,
        (true, _) => exit::UNDECIDED,
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
