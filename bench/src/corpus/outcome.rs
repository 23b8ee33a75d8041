//! What foresee says of an entry: its JSON documents, as far as the table needs them.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::Failed;
use super::entry::{Entry, Expected};

/// One entry's results.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) tests: u64,
    pub(crate) failed: u64,
    pub(crate) events: u64,
    /// What no engine could decide, and what the witness checker refused.
    pub(crate) undecided: u64,
    pub(crate) refused: u64,
    /// Left out by suppressions.
    suppressed: usize,
    pub(crate) findings: Vec<Finding>,
    /// What foresee had to warn of: a run that is not possible, or doubted, or incomplete. Each is a bug of ours.
    pub(crate) warnings: Vec<String>,
    /// Of a suite.
    pub(crate) recall: Recall,
}

/// What a suite's tests expect, and what was found of it.
#[derive(Default)]
pub(crate) struct Recall {
    /// How many tests expect a race, and in how many one was found.
    pub(crate) expected: usize,
    pub(crate) found: usize,
    /// Tests that were missed, not built or broken, and the reason that their entry has; without one it is a failure.
    pub(crate) exceptions: Vec<String>,
    pub(crate) unexplained: usize,
}

impl Recall {
    pub(crate) fn add(&mut self, what: &str, test: &str, reason: Option<&str>) {
        self.unexplained += usize::from(reason.is_none());
        self.exceptions.push(format!("{what}: {test} ({})", reason.unwrap_or("unexplained")));
    }
}

/// One finding.
pub(crate) struct Finding {
    pub(crate) kind: String,
    pub(crate) certainty: String,
    /// Where it was found.
    pub(crate) test: String,
    message: String,
    /// Of each event: `FILE:LINE FUNCTION on TARGET`.
    pub(crate) places: Vec<String>,
}

impl Outcome {
    /// Of `cargo foresee test`, from the document over all tests.
    pub(crate) fn of_tests(document: &Path) -> Result<Outcome, Failed> {
        let mut outcome = Outcome::default();
        let stats = &outcome.add(document)?["stats"];
        outcome.tests = stats["tests"].as_u64().unwrap_or(0);
        outcome.failed = stats["failed"].as_u64().unwrap_or(0);
        Ok(outcome)
    }

    /// Adds what was found in one trace or in several; the whole document.
    pub(crate) fn add(&mut self, document: &Path) -> Result<Value, Failed> {
        let text = std::fs::read(document).map_err(|why| format!("{}: {why}", document.display()))?;
        let document: Value = serde_json::from_slice(&text)?;
        let number = |name: &str| document["stats"][name].as_u64().unwrap_or(0);
        self.events += number("events");
        self.undecided += number("undecided");
        self.refused += number("refused");
        self.suppressed += usize::try_from(number("suppressed"))?;
        self.findings.extend(document["findings"].as_array().into_iter().flatten().map(Finding::of));
        Ok(document)
    }

    /// With the warnings in what was printed.
    pub(crate) fn with_warnings(mut self, log: &Path) -> Result<Outcome, Failed> {
        self.warnings = warnings(&String::from_utf8_lossy(&std::fs::read(log)?));
        Ok(self)
    }

    /// `2 predicted race, 1 observed race`.
    pub(crate) fn by_kind(&self) -> String {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry((&finding.kind, &finding.certainty)).or_default() += 1;
        }
        let parts: Vec<String> =
            counts.iter().map(|((kind, certainty), count)| format!("{count} {certainty} {kind}")).collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    }

    /// How many are right, by their entry or by a suppression.
    pub(crate) fn explained(&self, entry: &Entry) -> usize {
        self.suppressed + self.findings.len() - self.unexplained(entry).count()
    }

    /// Those that no entry explains.
    pub(crate) fn unexplained<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(|&finding| !entry.expected().iter().any(|one| one.explains(finding)))
    }

    /// Expected findings that did not come up. They depend on the schedule: this is no failure.
    pub(crate) fn missing<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a Expected> {
        entry.expected().iter().filter(|&one| !self.findings.iter().any(|finding| one.explains(finding)))
    }
}

impl Finding {
    pub(crate) fn of(value: &Value) -> Finding {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let place = |event: &Value| {
            let at = &event["location"];
            let line = at["line"].as_u64().unwrap_or(0);
            let target = text(&event["target"]);
            format!("{}:{line} {} on {target}", text(&at["file"]), text(&at["function"]))
        };
        Finding {
            kind: text(&value["kind"]),
            certainty: text(&value["certainty"]),
            test: format!("{} of {}", text(&value["test"]), text(&value["binary"])),
            message: text(&value["message"]),
            places: value["events"].as_array().into_iter().flatten().map(place).collect(),
        }
    }
}

/// Those that foresee printed. That a suppression was not needed this time depends on the schedule, and is none.
fn warnings(log: &str) -> Vec<String> {
    let ours = log.lines().filter_map(|line| Some(line.split_once("foresee: warning: ")?.1));
    ours.filter(|text| !text.contains("suppression")).map(str::to_owned).collect()
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} in {}: {}", self.certainty, self.kind, self.test, self.message)?;
        self.places.iter().try_for_each(|place| write!(f, "\n      {place}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_foresee_warns_of_counts() {
        let log = "warning: unused variable\nforesee: warning: a: not a possible run\nforesee: note: hm\n\
                   foresee: warning: suppression `race:x` was not used\n";
        assert_eq!(warnings(log), ["a: not a possible run"]);
    }
}
