//! `foresee check CASE.json --engine mttl`: the verdicts of cases of the conformance suite for MTTL, to be compared from outside.
//!
//! As text one line for each verdict, `NAME event thread true`; with `--format json` one document, `{"version": 1, "cases": […], "refused": […]}`: a case has
//! `name`, `verdicts` (`thread`, `event_index`, `value`) and `first_violation`, as in the suite, and `agrees`: whether these are the verdicts that the file has. A case that cannot be run has
//! `error` and no verdicts, and the others are run all the same. A formula to be refused has `name` and `why`, which is `null` if it is not refused.

use std::process::ExitCode;
use std::time::Instant;

use foresee_lattice::knowledge::case::{self, Case, CaseError, CaseVerdict, Refused};
use serde_json::{Value, json};

use crate::cli::CheckArgs;
use crate::engines::MTTL;
use crate::error::{self, CliError, Severity, display_name, without_code};
use crate::report::format::ReportFormat;
use crate::{exit, stdout, whole_file};

/// Whether a case is to be checked, and not a trace.
pub(super) fn is_meant(args: &CheckArgs) -> bool {
    let is_json = args.input.extension().is_some_and(|ending| ending == "json");
    is_json && matches!(&args.options.engine[..], [only] if only == MTTL)
}

/// What a case came to.
struct Result<'c> {
    case: &'c Case,
    verdicts: Vec<CaseVerdict>,
    error: Option<CaseError>,
}

impl Result<'_> {
    fn of(case: &Case, deadline: Option<Instant>) -> Result<'_> {
        match case.run(deadline) {
            Ok(verdicts) => Result { case, verdicts, error: None },
            Err(error) => Result { case, verdicts: Vec::new(), error: Some(error) },
        }
    }

    fn is_out_of_time(&self) -> bool {
        matches!(self.error, Some(CaseError::OutOfTime { .. }))
    }

    fn first_violation(&self) -> Option<&CaseVerdict> {
        self.verdicts.iter().find(|verdict| !verdict.value)
    }

    fn agrees(&self) -> Option<bool> {
        let expected = self.case.verdicts.as_ref().filter(|_| self.error.is_none());
        expected.map(|expected| *expected == self.verdicts)
    }

    fn json(&self) -> Value {
        let place =
            |verdict: &CaseVerdict| json!({ "thread": verdict.thread, "event_index": verdict.event_index });
        let mut json = json!({
            "name": self.case.name,
            "verdicts": self.verdicts,
            "first_violation": self.first_violation().map(place),
            "agrees": self.agrees(),
        });
        if let Some(error) = &self.error {
            json["error"] = error.to_string().into();
        }
        json
    }

    fn text(&self) -> String {
        let name = &self.case.name;
        let line = |verdict: &CaseVerdict| {
            format!("{name} {} {} {}\n", verdict.event_index, verdict.thread, verdict.value)
        };
        let mut text: String = self.verdicts.iter().map(line).collect();
        if self.agrees() == Some(false) {
            text += &format!("{name}: the file has other verdicts\n");
        }
        text
    }
}

pub(super) fn run(args: &CheckArgs) -> std::result::Result<ExitCode, CliError> {
    let name = display_name(&args.input);
    let text = std::fs::read_to_string(&args.input)
        .map_err(|why| CliError::Usage(format!("{name}: cannot read: {}", without_code(&why))))?;
    let suite = case::read(&text).map_err(|why| CliError::Usage(format!("{name}: {why}")))?;
    if suite.cases.is_empty() && suite.refused.is_empty() {
        return Err(CliError::Usage(format!("{name}: there are no cases in it")));
    }
    let deadline = args.options.time.and_then(|time| Instant::now().checked_add(time));
    let results: Vec<Result<'_>> = suite.cases.iter().map(|case| Result::of(case, deadline)).collect();
    for result in &results {
        match &result.error {
            Some(why) if result.is_out_of_time() => {
                error::print(Severity::Warning, &format!("{name}: {why}"));
            }
            Some(why) => error::print(Severity::Error, &format!("{name}: {why}")),
            None if result.verdicts.is_empty() => {
                let why = "no thread that its formula is of does anything: nothing was evaluated";
                error::print(Severity::Warning, &format!("{name}: {}: {why}", result.case.name));
            }
            None => {}
        }
    }
    let output = match args.options.format {
        Some(ReportFormat::Json) => document(&results, &suite.refused),
        None | Some(ReportFormat::Human) => lines(&results, &suite.refused),
        Some(_) => {
            return Err(CliError::Usage("cases are shown as text or with --format json".to_owned()));
        }
    };
    match &args.options.output {
        Some(path) => {
            whole_file::write(path, &output).map_err(|why| CliError::output(path.display(), why))?
        }
        None => stdout::print(&output)?,
    }
    let is_wrong = results.iter().any(|result| result.error.is_some() && !result.is_out_of_time());
    let is_violated = results.iter().any(|result| result.first_violation().is_some());
    Ok(ExitCode::from(if is_wrong {
        exit::BAD_INPUT
    } else if is_violated {
        args.options.exit_code.unwrap_or(exit::FINDINGS)
    } else if results.iter().any(Result::is_out_of_time) {
        exit::UNDECIDED
    } else {
        exit::NOTHING_FOUND
    }))
}

fn document(results: &[Result<'_>], refused: &[Refused]) -> String {
    let cases: Vec<Value> = results.iter().map(Result::json).collect();
    let refused = refused.iter().map(|one| json!({ "name": one.name, "why": case::refusal(one) }));
    let refused: Vec<Value> = refused.collect();
    format!("{:#}\n", json!({ "version": 1, "cases": cases, "refused": refused }))
}

fn lines(results: &[Result<'_>], refused: &[Refused]) -> String {
    let mut text: String = results.iter().map(Result::text).collect();
    for one in refused {
        text += &match case::refusal(one) {
            Some(why) => format!("{} refused: {why}\n", one.name),
            None => format!("{} not refused\n", one.name),
        };
    }
    text
}
