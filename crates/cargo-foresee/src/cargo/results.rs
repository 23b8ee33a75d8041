//! What runners found, and one document of it all.
//!
//! A runner leaves one file for each program or test it ran. When cargo has ended, whoever started it collects them: for the
//! exit code, and for the document that `--format` asks for.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::ReportFormat;
use crate::error::CliError;
use crate::report::junit::{Case, Failure};
use crate::report::{Report, human, junit, sarif};

/// What one program or test came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The test program.
    pub(crate) binary: String,
    /// The test, if it is one of several in its program.
    pub(crate) test: Option<String>,
    /// Not run, as its author wants.
    pub(crate) ignored: bool,
    /// The exit code of the program itself.
    pub(crate) code: u8,
    /// The exit code that says what was found in it.
    pub(crate) verdict: u8,
    /// How many findings.
    pub(crate) findings: usize,
    pub(crate) seconds: f64,
    /// The report in the form that was asked for.
    pub(crate) report: String,
    /// The findings, for JUnit.
    pub(crate) failures: Vec<Failure>,
    /// What a failed test printed.
    pub(crate) printed: String,
    /// Suppressions that nothing in this runner's programs needed.
    pub(crate) unused: Vec<String>,
}

impl Outcome {
    /// Takes from a report what will be needed of it.
    pub(crate) fn with(mut self, report: &Report<'_>, rendered: String) -> Outcome {
        self.findings = report.findings.len();
        self.report = rendered;
        self.failures = (report.findings.iter())
            .map(|shown| Failure {
                kind: shown.finding.kind.name().to_owned(),
                message: shown.message.clone(),
                text: human::one(report, shown),
            })
            .collect();
        self
    }

    pub(crate) fn failed(&self) -> bool {
        self.code != 0
    }

    /// How the test is called where there are tests of several programs.
    pub(crate) fn name(&self) -> String {
        match &self.test {
            Some(test) => format!("{} of {}", test, self.binary),
            None => self.binary.clone(),
        }
    }

    /// Leaves it for [`collect`].
    pub(crate) fn save(&self, folder: &Path) -> Result<(), CliError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}-{number:06}.json", std::process::id()));
        let text = serde_json::to_vec(self).unwrap_or_default();
        std::fs::write(&path, text).map_err(|why| CliError::output(path.display(), why))
    }
}

/// All outcomes, by program and test.
pub(crate) fn collect(folder: &Path) -> Vec<Outcome> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    let read = |path: &PathBuf| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
    let mut all: Vec<Outcome> = paths.iter().filter_map(read).collect();
    all.sort_by(|a, b| (&a.binary, &a.test).cmp(&(&b.binary, &b.test)));
    all
}

/// Suppressions that none of them needed.
pub(crate) fn unused_suppressions(outcomes: &[Outcome]) -> Vec<String> {
    let Some((first, rest)) = outcomes.split_first() else { return Vec::new() };
    let in_all = |line: &&String| rest.iter().all(|outcome| outcome.unused.contains(line));
    first.unused.iter().filter(in_all).cloned().collect()
}

/// One document over all of them.
pub(crate) fn document(outcomes: &[Outcome], format: ReportFormat) -> String {
    match format {
        ReportFormat::Human => {
            outcomes.iter().filter(|one| one.findings > 0).map(|one| one.report.as_str()).collect()
        }
        ReportFormat::Json => format!("{:#}\n", json_document(outcomes)),
        ReportFormat::Sarif => format!("{:#}\n", sarif_document(outcomes)),
        ReportFormat::Junit => junit::of_tests(outcomes.iter().map(|outcome| Case {
            suite: &outcome.binary,
            name: outcome.test.as_deref().unwrap_or(&outcome.binary),
            seconds: outcome.seconds,
            ignored: outcome.ignored,
            failed: outcome.failed().then_some((outcome.code, outcome.printed.as_str())),
            findings: &outcome.failures,
        })),
    }
}

/// The reports that can be read, each with what it is about.
fn parsed(outcomes: &[Outcome]) -> impl Iterator<Item = (&Outcome, Value)> {
    outcomes.iter().filter_map(|outcome| Some((outcome, serde_json::from_str(&outcome.report).ok()?)))
}

fn json_document(outcomes: &[Outcome]) -> Value {
    let mut findings = Vec::new();
    let mut stats = json!({});
    for (outcome, mut report) in parsed(outcomes) {
        let found = report.get_mut("findings").and_then(Value::as_array_mut);
        for mut finding in found.map(std::mem::take).unwrap_or_default() {
            finding["test"] = json!(outcome.test);
            finding["binary"] = json!(outcome.binary);
            findings.push(finding);
        }
        add(&mut stats, report.get("stats").unwrap_or(&Value::Null));
    }
    stats["trace"] = Value::Null;
    stats["tests"] = json!(outcomes.iter().filter(|outcome| !outcome.ignored).count());
    stats["failed"] = json!(outcomes.iter().filter(|outcome| outcome.failed()).count());
    json!({ "version": 1, "findings": findings, "stats": stats })
}

/// Numbers are summed, what holds of one holds of all, and of texts the first is kept.
fn add(sum: &mut Value, one: &Value) {
    match (sum, one) {
        (Value::Object(sum), Value::Object(one)) => {
            for (key, value) in one {
                add(sum.entry(key).or_insert(Value::Null), value);
            }
        }
        (sum @ Value::Null, one) => *sum = one.clone(),
        (Value::Bool(sum), Value::Bool(one)) => *sum |= one,
        (Value::Number(sum), Value::Number(one)) => {
            if let (Some(a), Some(b)) = (sum.as_u64(), one.as_u64()) {
                *sum = (a + b).into();
            } else if let (Some(a), Some(b)) = (sum.as_f64(), one.as_f64()) {
                *sum = serde_json::Number::from_f64(a + b).unwrap_or(0.into());
            }
        }
        _ => {}
    }
}

fn sarif_document(outcomes: &[Outcome]) -> Value {
    let mut results = Vec::new();
    for (outcome, mut report) in parsed(outcomes) {
        let found = report.pointer_mut("/runs/0/results").and_then(Value::as_array_mut);
        for mut result in found.map(std::mem::take).unwrap_or_default() {
            result["properties"] = json!({ "test": outcome.test, "binary": outcome.binary });
            results.push(result);
        }
    }
    sarif::log(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_summed() {
        let mut sum = json!({});
        for one in [
            json!({"events": 3, "seconds": 0.5, "engines": {"hb": {"findings": 1}}, "interrupted": false}),
            json!({"events": 4, "seconds": 0.25, "engines": {"hb": {"findings": 2}}, "interrupted": true}),
        ] {
            add(&mut sum, &one);
        }
        let expected =
            json!({"events": 7, "seconds": 0.75, "engines": {"hb": {"findings": 3}}, "interrupted": true});
        assert_eq!(sum, expected);
    }

    #[test]
    fn a_suppression_is_unused_if_nobody_used_it() {
        let one = |unused: &[&str]| Outcome {
            unused: unused.iter().map(|&line| line.to_owned()).collect(),
            ..Outcome::default()
        };
        assert_eq!(unused_suppressions(&[one(&["race:a", "race:b"]), one(&["race:b"])]), ["race:b"]);
    }
}
