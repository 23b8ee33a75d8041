//! `foresee refine`: histories and refinement logs against their specifications.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use foresee_refine::linear::Limits;
use foresee_refine::named::Structure;
use foresee_refine::read::{self, Case, Subject};
use foresee_refine::refine::Mode;

use super::refine_trace::{self, TraceChecked};
use crate::cli::{Consistency, RefineArgs, Views};
use crate::commands::check;
use crate::config::Settings;
use crate::error::{self, CliError, Severity, display_name, without_code};
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
    if cases.iter().all(|case| case.subject.is_empty()) {
        return Err(wrong(&"no operation in it: nothing was checked"));
    }
    cases.iter().for_each(|case| warn_of(case, &name));
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

/// What of a case was not looked at.
fn warn_of(case: &Case, name: &str) {
    let of = case.id.as_ref().map_or(String::new(), |id| format!("{id}: "));
    let warn = |what: &str| error::print(Severity::Warning, &format!("{name}: {of}{what}"));
    case.remarks.iter().for_each(|remark| warn(remark));
    if case.subject.is_empty() {
        warn("no operation in it: nothing was checked");
    }
    if let Subject::Log { structure, log } = &case.subject
        && !structure.has_view()
        && log.has_writes()
    {
        warn(&format!("its writes are not looked at: of `{}` only results are compared", structure.name()));
    }
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
    // Runs that did not happen are looked at for a while.
    if undecided > 0 {
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
    let is_undecided = is_undecided(&verdicts, args.time.is_some());
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

/// Whether something is left that counts: a case; or runs that did not happen, where the user set the time for them.
fn is_undecided(verdicts: &[CaseVerdict], has_time: bool) -> bool {
    verdicts.iter().any(|verdict| verdict.undecided.is_some() && (verdict.ok.is_none() || has_time))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_were_not_looked_at_count_where_the_user_set_the_time() {
        let verdict = |ok: Option<bool>, undecided: Option<Lack>| CaseVerdict {
            id: None,
            model: "queue".to_owned(),
            ok,
            first: None,
            io: None,
            view: None,
            blocks: None,
            linearizable: None,
            undecided,
        };
        let of = |ok, undecided| [false, true].map(|time| is_undecided(&[verdict(ok, undecided)], time));
        assert_eq!(of(Some(true), None), [false, false]);
        assert_eq!(of(Some(true), Some(Lack::Time)), [false, true]);
        assert_eq!(of(None, Some(Lack::Memory)), [true, true]);
        // Whoever reads the report learns of it in any case.
        assert!(verdict(Some(true), Some(Lack::Time)).open_question().is_some());
    }
}
