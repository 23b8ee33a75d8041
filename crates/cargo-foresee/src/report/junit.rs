//! JUnit XML: one test case per kind of check, failed if it found something.

use std::fmt::Write as _;

use foresee_predict::finding::Kind;

use super::{Report, human};

pub(crate) fn write(report: &Report<'_>) -> String {
    let failures = report.findings.len();
    let seconds = report.stats.seconds;
    let clean: Vec<Kind> = [Kind::Race, Kind::Deadlock, Kind::Atomicity]
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
