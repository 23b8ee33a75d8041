//! Whole reports, one finding, the summary.

use std::fmt::Write as _;

use super::access::{access, block, bytes, creation};
use super::explanation::explanation;
use super::live::observed;
use super::refinement::refinement;
use super::source::Sources;
use super::style::{BAD, QUIET, STRONG};
use crate::number::grouped;
use crate::report::caveats::caveats;
use crate::report::model::{Certainty, Event, Finding, Kind, Report, Stats};
use crate::report::printable;
use crate::report::results::Results;
use crate::report::viewpoint::Viewpoint;

/// So many findings are shown in full; further ones in a line each.
const IN_FULL: usize = 40;

/// Larger deadlocks are not described by the names of all threads.
const MOST_NAMED: usize = 4;

/// One report after the other, with colour codes; of tests, only those with findings.
pub(crate) fn write(results: Results<'_>, viewpoint: &Viewpoint) -> String {
    match results {
        Results::Run(reports) => reports.iter().map(|report| whole(report, viewpoint)).collect(),
        Results::Tests(tests) => (tests.iter().filter(|test| test.findings() > 0))
            .flat_map(|test| &test.reports)
            .map(|report| whole(report, viewpoint))
            .collect(),
    }
}

fn whole(report: &Report, viewpoint: &Viewpoint) -> String {
    let report = &printable::report(report);
    let mut out = String::new();
    let mut sources = Sources::new(viewpoint.sources());
    for finding in report.findings.iter().take(IN_FULL) {
        in_full(&mut out, finding, &report.stats, viewpoint, &mut sources);
        out.push('\n');
    }
    for finding in report.findings.iter().skip(IN_FULL) {
        let _ = writeln!(out, "{}: {}", finding.id, finding.message);
    }
    summary(&mut out, report);
    out
}

/// One finding, without colours.
pub(crate) fn one(finding: &Finding, stats: &Stats, viewpoint: &Viewpoint) -> String {
    if finding.program.is_some() {
        return observed(finding);
    }
    let finding = &printable::finding(finding);
    let mut out = String::new();
    in_full(&mut out, finding, stats, viewpoint, &mut Sources::new(viewpoint.sources()));
    anstream::adapter::strip_str(&out).to_string()
}

fn in_full(
    out: &mut String,
    finding: &Finding,
    stats: &Stats,
    viewpoint: &Viewpoint,
    sources: &mut Sources<'_>,
) {
    let title = finding.title();
    let what = match (finding.kind, finding.events.first()) {
        (Kind::Race, Some(event)) => {
            let size = event.size.map_or(String::new(), |size| format!(" ({})", bytes(size)));
            format!(" on `{}`{size}", event.target)
        }
        (Kind::Deadlock, _) => {
            let waits = |event: &&Event| !finding.has_stuck_threads() || event.op != "acquire";
            deadlocked(&finding.events.iter().filter(waits).collect::<Vec<_>>())
        }
        (Kind::Property, _) => match (&finding.property, &finding.property_message) {
            (Some(property), Some(reported)) => format!(" of `{property}`: {reported}"),
            _ => String::new(),
        },
        (Kind::Refinement, _) => format!(": {}", finding.message),
        _ => String::new(),
    };
    let _ = writeln!(out, "{BAD}{title}{BAD:#}{STRONG}{what}{STRONG:#}  {QUIET}[{}]{QUIET:#}", finding.id);
    if finding.kind == Kind::Race {
        block(out, &finding.events, viewpoint);
    }
    if let Some(found) = &finding.refinement {
        refinement(out, found, viewpoint);
        if finding.witness.is_some() || finding.reason.is_some() {
            explanation(out, finding, stats, viewpoint);
        }
        return;
    }
    let mut shown: Vec<u64> = Vec::new();
    for event in &finding.events {
        if !shown.contains(&event.index) {
            shown.push(event.index);
            access(out, finding, event, viewpoint, sources);
        }
    }
    creation(out, &finding.events, viewpoint);
    explanation(out, finding, stats, viewpoint);
}

/// Who waits for each other, and for what.
fn deadlocked(waiting: &[&Event]) -> String {
    if waiting.len() > MOST_NAMED {
        return format!(" of {} threads", waiting.len());
    }
    let all = |names: Vec<&str>| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match names.split_last() {
            Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => names.concat(),
        }
    };
    let threads = waiting.iter().map(|event| event.thread.as_str()).collect();
    let locks = waiting.iter().map(|event| event.target.as_str()).collect();
    format!(" of {} over {}", all(threads), all(locks))
}

fn summary(out: &mut String, report: &Report) {
    let stats = &report.stats;
    let mut parts = Vec::new();
    for certainty in Certainty::ALL {
        let count = report.findings.iter().filter(|finding| finding.certainty == certainty).count();
        if count > 0 {
            parts.push(format!("{count} {}", certainty.name()));
        }
    }
    let found = match report.findings.len() {
        0 => "nothing found".to_owned(),
        1 => format!("1 finding ({})", parts.join(", ")),
        n => format!("{n} findings ({})", parts.join(", ")),
    };
    let engines: Vec<&str> = stats.engines.iter().map(|(name, _)| name.as_str()).collect();
    let _ = writeln!(
        out,
        "{STRONG}{found}{STRONG:#} in {} events of {} ({}; {:.1} s)",
        grouped(stats.events),
        stats.trace.as_deref().unwrap_or_default(),
        engines.join(", "),
        stats.seconds
    );
    for caveat in caveats(report) {
        let _ = writeln!(out, "{caveat}");
    }
}
