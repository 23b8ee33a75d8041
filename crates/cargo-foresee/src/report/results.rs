//! What a document is about: one run, or many tests.

use serde::{Deserialize, Serialize};

use super::model::{Report, Stats};

/// What there is to show.
#[derive(Clone, Copy)]
pub(crate) enum Results<'a> {
    /// One trace, or one run: the report of the program, then those of other processes in which something was found.
    Run(&'a [Report]),
    /// Test programs, or their tests.
    Tests(&'a [Outcome]),
}

/// What one program or test came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The program.
    pub(crate) binary: String,
    /// The test, if it is one of several in its program.
    pub(crate) test: Option<String>,
    /// Not run, as its author wants.
    pub(crate) ignored: bool,
    /// The exit code of the program itself.
    pub(crate) code: u8,
    /// The exit code that says what was found in it.
    pub(crate) verdict: u8,
    pub(crate) seconds: f64,
    /// What a failed test printed.
    pub(crate) printed: String,
    /// Suppressions that nothing in this process's programs needed.
    pub(crate) unused: Vec<String>,
    /// Its own report, then those of other processes in which something was found.
    pub(crate) reports: Vec<Report>,
}

impl Outcome {
    pub(crate) fn failed(&self) -> bool {
        self.code != 0
    }

    /// How many findings, in all its processes.
    pub(crate) fn findings(&self) -> usize {
        self.reports.iter().map(|report| report.findings.len()).sum()
    }

    /// Whether something was found that counts.
    pub(crate) fn has_alarm(&self) -> bool {
        self.reports.iter().any(Report::has_alarm)
    }

    /// How the test is called where there are tests of several programs.
    pub(crate) fn name(&self) -> String {
        match &self.test {
            Some(test) => format!("{} of {}", test, self.binary),
            None => self.binary.clone(),
        }
    }
}

impl Results<'_> {
    /// All of it as one report. Where there are several, each finding says where it was found, and ids are given anew.
    pub(crate) fn merged(self) -> Report {
        match self {
            Results::Run([report]) => report.clone(),
            Results::Run(reports) => {
                let parts = reports.iter().map(|report| (report, report.stats.trace.as_deref(), None));
                merge(parts, Stats::default())
            }
            Results::Tests(tests) => {
                let count =
                    |wanted: fn(&Outcome) -> bool| tests.iter().filter(|&one| wanted(one)).count() as u64;
                let stats = Stats {
                    tests: Some(count(|test| !test.ignored)),
                    failed: Some(count(Outcome::failed)),
                    ..Stats::default()
                };
                let parts = tests.iter().flat_map(|test| {
                    test.reports.iter().map(|report| (report, Some(&*test.binary), test.test.as_deref()))
                });
                merge(parts, stats)
            }
        }
    }
}

/// Puts reports together, each with the program and the test that it is about.
fn merge<'a>(
    parts: impl Iterator<Item = (&'a Report, Option<&'a str>, Option<&'a str>)>,
    mut stats: Stats,
) -> Report {
    let mut findings = Vec::new();
    for (report, binary, test) in parts {
        stats.add(&report.stats);
        for mut finding in report.findings.iter().cloned() {
            finding.binary = binary.map(str::to_owned);
            finding.test = test.map(str::to_owned);
            findings.push(finding);
        }
    }
    let mut merged = Report::new(findings, stats);
    merged.number();
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::{EngineStats, Finding, Kind, Named};

    fn finding(kind: Kind) -> Finding {
        Finding { kind, ..Finding::of_property("monitor", "P", "match", String::new(), None) }
    }

    fn report(kinds: &[Kind], stats: Stats) -> Report {
        Report::new(kinds.iter().map(|&kind| finding(kind)).collect(), stats)
    }

    #[test]
    fn statistics_are_summed() {
        let engines = |findings, seconds| {
            Named(vec![("hb".to_owned(), EngineStats { findings, seconds, ..EngineStats::default() })])
        };
        let one = |trace: &str, events, interrupted, engines| Stats {
            trace: Some(trace.to_owned()),
            events,
            interrupted,
            engines,
            seconds: 0.5,
            missing: vec!["the end".to_owned()],
            ..Stats::default()
        };
        let reports = [
            report(&[], one("a", 3, false, engines(1, None))),
            report(&[], one("b", 4, true, engines(2, Some(0.25)))),
        ];
        let sum = Results::Run(&reports).merged().stats;
        assert_eq!((sum.events, sum.seconds, sum.interrupted, &sum.trace), (7, 1.0, true, &None));
        assert_eq!((sum.engines, sum.missing), (engines(3, Some(0.25)), vec!["the end".to_owned()]));
        assert_eq!(Results::Run(&reports[..1]).merged(), reports[0], "what is alone stays as it is");
    }

    #[test]
    fn merged_findings_say_where_they_are_from() {
        let test = |name: &str, kinds: &[Kind], code| Outcome {
            binary: "all".to_owned(),
            test: Some(name.to_owned()),
            code,
            reports: vec![report(kinds, Stats::default())],
            ..Outcome::default()
        };
        let ignored = Outcome { ignored: true, ..Outcome::default() };
        let tests = [test("a", &[Kind::Race, Kind::Deadlock], 0), test("b", &[Kind::Race], 9), ignored];
        let merged = Results::Tests(&tests).merged();
        let all: Vec<_> = (merged.findings.iter())
            .map(|f| (f.id.as_str(), f.binary.as_deref(), f.test.as_deref()))
            .collect();
        let expected = [
            ("race-1", Some("all"), Some("a")),
            ("deadlock-1", Some("all"), Some("a")),
            ("race-2", Some("all"), Some("b")),
        ];
        assert_eq!(all, expected);
        assert_eq!((merged.stats.tests, merged.stats.failed), (Some(2), Some(1)));
    }
}
