//! `foresee check CASE.json --engine mttl`: the verdicts of cases of the conformance suite for MTTL, to be compared from outside.
//!
//! As text one line for each verdict, `NAME event thread true`; with `--format json` one document, `{"version": 1, "cases": […], "refused": […]}`: a case has
//! `name`, `verdicts` (`thread`, `event_index`, `value`) and `first_violation`, as in the suite, and `agrees`: whether these are the verdicts that the file has. A
//! formula to be refused has `name` and `why`, which is `null` if it is not refused.

use std::process::ExitCode;

use foresee_lattice::knowledge::case::{self, Case, CaseVerdict, Refused};
use serde_json::{Value, json};

use crate::cli::CheckArgs;
use crate::engines::MTTL;
use crate::error::{CliError, display_name, without_code};
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
}

impl Result<'_> {
    fn first_violation(&self) -> Option<&CaseVerdict> {
        self.verdicts.iter().find(|verdict| !verdict.value)
    }

    fn agrees(&self) -> Option<bool> {
        self.case.verdicts.as_ref().map(|expected| *expected == self.verdicts)
    }

    fn json(&self) -> Value {
        let place =
            |verdict: &CaseVerdict| json!({ "thread": verdict.thread, "event_index": verdict.event_index });
        json!({
            "name": self.case.name,
            "verdicts": self.verdicts,
            "first_violation": self.first_violation().map(place),
            "agrees": self.agrees(),
        })
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
    let wrong = |why: case::CaseError| CliError::Usage(format!("{name}: {why}"));
    let suite = case::read(&text).map_err(wrong)?;
    let mut results = Vec::new();
    for case in &suite.cases {
        results.push(Result { case, verdicts: case.run().map_err(wrong)? });
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
    let is_violated = results.iter().any(|result| result.first_violation().is_some());
    let found = args.options.exit_code.unwrap_or(exit::FINDINGS);
    Ok(ExitCode::from(if is_violated { found } else { exit::NOTHING_FOUND }))
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
