//! JUnit XML: one test case per kind of check, failed if it found something; or one per test of the user's.

use std::fmt::Write as _;

use foresee_witness::judge::FindingKind;
use serde::{Deserialize, Serialize};

use super::{Report, human};

pub(crate) fn write(report: &Report<'_>) -> String {
    let failures = report.findings.len();
    let seconds = report.stats.seconds;
    let clean: Vec<FindingKind> = [FindingKind::Race, FindingKind::Deadlock, FindingKind::Atomicity]
        .into_iter()
        .filter(|&kind| report.findings.iter().all(|shown| shown.finding.kind != kind))
        .collect();
    let tests = failures + clean.len();
    let suite = escape(&report.trace);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites tests=\"{tests}\" failures=\"{failures}\" time=\"{seconds:.3}\">");
    let _ = writeln!(
        out,
        "  <testsuite name=\"{suite}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds:.3}\">"
    );
    for kind in clean {
        let _ = writeln!(out, "    <testcase name=\"no {}\" classname=\"{suite}\" time=\"0\"/>", kind.name());
    }
    for shown in &report.findings {
        let kind = shown.finding.kind.name();
        let _ =
            writeln!(out, "    <testcase name=\"{}\" classname=\"{suite}\" time=\"0\">", escape(&shown.id));
        let _ = writeln!(
            out,
            "      <failure message=\"{}\" type=\"{kind}\">{}</failure>",
            escape(&shown.message),
            escape(&human::one(report, shown))
        );
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// A finding, as far as it is told here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) text: String,
}

/// One of the user's tests.
pub(crate) struct Case<'a> {
    /// The test program.
    pub(crate) suite: &'a str,
    pub(crate) name: &'a str,
    pub(crate) seconds: f64,
    pub(crate) ignored: bool,
    /// Its exit code and what it printed, if it failed by itself.
    pub(crate) failed: Option<(u8, &'a str)>,
    pub(crate) findings: &'a [Failure],
}

impl Case<'_> {
    fn has_failed(&self) -> bool {
        self.failed.is_some() || !self.findings.is_empty()
    }

    fn write(&self, out: &mut String) {
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
        for Failure { kind, message, text } in self.findings {
            let (message, text) = (escape(message), escape(text));
            let _ = writeln!(out, "      <failure message=\"{message}\" type=\"{kind}\">{text}</failure>");
        }
        out.push_str("    </testcase>\n");
    }
}

/// One suite per test program, with its tests; cases of a suite follow each other.
pub(crate) fn of_tests<'a>(cases: impl Iterator<Item = Case<'a>>) -> String {
    let cases: Vec<Case<'_>> = cases.collect();
    let counts = |cases: &[Case<'_>]| {
        let failures = cases.iter().filter(|case| case.has_failed()).count();
        let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
        format!("tests=\"{}\" failures=\"{failures}\" time=\"{seconds:.3}\"", cases.len())
    };
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites {}>", counts(&cases));
    for suite in cases.chunk_by(|a, b| a.suite == b.suite) {
        let name = suite.first().map_or("", |case| case.suite);
        let _ = writeln!(out, "  <testsuite name=\"{}\" {} errors=\"0\">", escape(name), counts(suite));
        suite.iter().for_each(|case| case.write(&mut out));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// Text in XML; what XML 1.0 cannot hold is replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if (c as u32) < 0x20 || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
