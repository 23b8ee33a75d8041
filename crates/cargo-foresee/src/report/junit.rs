//! JUnit XML: one test case per kind of check, failed if it found something; or one per test of the user's.

use std::fmt::Write as _;

use foresee_trace::is_printable;

use super::caveats::{caveats, undecided};
use super::human;
use super::model::{Finding, Kind, Report, Stats};
use super::results::{Outcome, Results};
use super::viewpoint::Viewpoint;
use crate::engines::engine;

pub(crate) fn write(results: Results<'_>, viewpoint: &Viewpoint) -> String {
    match results {
        Results::Run([report]) => of_kinds(report, viewpoint),
        Results::Run(processes) => suites(processes.iter().map(Case::of_process).collect(), viewpoint),
        Results::Tests(tests) => suites(tests.iter().map(Case::of_test).collect(), viewpoint),
    }
}

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// The kinds that were looked for: a run without findings is reported to be free of them.
fn checked(report: &Report) -> Vec<Kind> {
    if report.cases.is_some() {
        return vec![Kind::Refinement];
    }
    let found: Vec<Kind> =
        report.stats.engines.iter().filter_map(|(name, _)| Some(engine(name)?.finds.into())).collect();
    let looks_for = |kind: &Kind| found.contains(kind);
    [Kind::Race, Kind::Deadlock, Kind::Atomicity].into_iter().filter(looks_for).collect()
}

fn of_kinds(report: &Report, viewpoint: &Viewpoint) -> String {
    let failures = report.findings.iter().filter(|finding| finding.is_alarm()).count();
    let seconds = report.stats.seconds;
    let was_found = |kind: Kind| report.findings.iter().any(|finding| finding.kind == kind);
    let clean: Vec<Kind> = checked(report).into_iter().filter(|&kind| !was_found(kind)).collect();
    let open = open_questions(report);
    // What is not decided has not passed.
    let clean = if open.is_empty() { clean } else { Vec::new() };
    let tests = report.findings.len() + clean.len() + open.len();
    let skipped = report.findings.len() - failures + open.len();
    let suite = escape(report.stats.trace.as_deref().unwrap_or("foresee"));
    let mut out = HEAD.to_owned();
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\" time=\"{seconds:.3}\"");
    let _ = writeln!(out, "<testsuites {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"{suite}\" {counts} errors=\"0\">");
    for kind in clean {
        let _ =
            writeln!(out, "    <testcase name=\"no {}\" classname=\"{suite}\" time=\"0\"/>", kind.title());
    }
    for (name, why) in open {
        let (name, why) = (escape(&name), escape(&why));
        let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"0\">");
        let _ = writeln!(out, "      <skipped message=\"{why}\"/>\n    </testcase>");
    }
    for finding in &report.findings {
        let id = escape(&finding.id);
        let _ = writeln!(out, "    <testcase name=\"{id}\" classname=\"{suite}\" time=\"0\">");
        if finding.is_alarm() {
            failure(&mut out, finding, &report.stats, viewpoint);
        } else {
            let message = escape(&finding.message);
            let _ = writeln!(out, "      <skipped message=\"not proven: {message}\"/>");
        }
        out.push_str("    </testcase>\n");
    }
    said(&mut out, std::slice::from_ref(report), viewpoint);
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// What reports say that is no failure: candidates, and what was not looked at.
fn said(out: &mut String, reports: &[Report], viewpoint: &Viewpoint) {
    let mut text = String::new();
    for report in reports {
        for finding in report.findings.iter().filter(|finding| !finding.is_alarm()) {
            let _ = writeln!(text, "{}", human::one(finding, &report.stats, viewpoint));
        }
        caveats(report).iter().for_each(|caveat| _ = writeln!(text, "{caveat}"));
    }
    if !text.is_empty() {
        let _ = writeln!(out, "    <system-out>{}</system-out>", escape(&text));
    }
}

/// What is undecided, each with what to say of it.
fn open_questions(report: &Report) -> Vec<(String, String)> {
    if report.cases.is_none() {
        return undecided(report).into_iter().map(|why| ("undecided".to_owned(), why)).collect();
    }
    let cases = report.cases.iter().flatten();
    cases
        .filter_map(|case| {
            Some((case.id.clone().unwrap_or_else(|| case.model.clone()), case.open_question()?))
        })
        .collect()
}

/// A test of the user's, or a process.
struct Case<'a> {
    /// The test program.
    suite: &'a str,
    name: &'a str,
    seconds: f64,
    ignored: bool,
    /// Its exit code and what it printed, if it failed by itself.
    failed: Option<(u8, &'a str)>,
    reports: &'a [Report],
}

impl<'a> Case<'a> {
    fn of_process(report: &'a Report) -> Case<'a> {
        let name = report.stats.trace.as_deref().unwrap_or("foresee");
        let reports = std::slice::from_ref(report);
        Case { suite: name, name, seconds: report.stats.seconds, ignored: false, failed: None, reports }
    }

    fn of_test(test: &'a Outcome) -> Case<'a> {
        Case {
            suite: &test.binary,
            name: test.test.as_deref().unwrap_or(&test.binary),
            seconds: test.seconds,
            ignored: test.ignored,
            failed: test.failed().then_some((test.code, test.printed.as_str())),
            reports: &test.reports,
        }
    }

    fn has_failed(&self) -> bool {
        self.failed.is_some() || self.reports.iter().any(Report::has_alarm)
    }

    fn write(&self, out: &mut String, viewpoint: &Viewpoint) {
        let (name, suite) = (escape(self.name), escape(self.suite));
        let _ = writeln!(
            out,
            "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"{:.3}\">",
            self.seconds
        );
        if self.ignored {
            out.push_str("      <skipped/>\n");
        }
        if let Some((code, printed)) = self.failed {
            let printed = escape(printed);
            let _ = writeln!(
                out,
                "      <failure message=\"the test failed (exit code {code})\" type=\"test\">{printed}</failure>"
            );
        }
        for report in self.reports {
            for finding in report.findings.iter().filter(|finding| finding.is_alarm()) {
                failure(out, finding, &report.stats, viewpoint);
            }
        }
        said(out, self.reports, viewpoint);
        out.push_str("    </testcase>\n");
    }
}

/// One suite per test program, with its tests; cases of a suite follow each other.
fn suites(cases: Vec<Case<'_>>, viewpoint: &Viewpoint) -> String {
    let counts = |cases: &[Case<'_>]| {
        let failures = cases.iter().filter(|case| case.has_failed()).count();
        let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
        format!("tests=\"{}\" failures=\"{failures}\" time=\"{seconds:.3}\"", cases.len())
    };
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "<testsuites {}>", counts(&cases));
    for suite in cases.chunk_by(|a, b| a.suite == b.suite) {
        let name = suite.first().map_or("", |case| case.suite);
        let _ = writeln!(out, "  <testsuite name=\"{}\" {} errors=\"0\">", escape(name), counts(suite));
        suite.iter().for_each(|case| case.write(&mut out, viewpoint));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn failure(out: &mut String, finding: &Finding, stats: &Stats, viewpoint: &Viewpoint) {
    let (kind, message) = (finding.kind.name(), escape(&finding.message));
    let text = escape(&human::one(finding, stats, viewpoint));
    let _ = writeln!(out, "      <failure message=\"{message}\" type=\"{kind}\">{text}</failure>");
}

/// Text in XML; what XML 1.0 cannot hold, or a terminal should not get, is replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if is_printable(c) && c != '\u{fffe}' && c != '\u{ffff}' => out.push(c),
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out
}
