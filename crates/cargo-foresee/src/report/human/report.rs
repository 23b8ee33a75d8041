//! Whole reports, one finding, the summary.

use std::fmt::Write as _;

use super::access::{access, block, bytes, creation};
use super::explanation::explanation;
use super::live::observed;
use super::refinement::refinement;
use super::source::Sources;
use super::style::{BAD, QUIET, STRONG};
use crate::engines::PROPERTY;
use crate::number::grouped;
use crate::report::model::{
    BlindStats, CaseVerdict, Certainty, Event, Finding, Kind, KnownStats, Lack, Report, Stats, ValueStats,
};
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
        (Kind::Deadlock, _) => deadlocked(&finding.events),
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
        return refinement(out, found);
    }
    let mut shown: Vec<u64> = Vec::new();
    for event in &finding.events {
        if !shown.contains(&event.index) {
            shown.push(event.index);
            access(out, event, viewpoint, sources);
        }
    }
    creation(out, &finding.events, viewpoint);
    explanation(out, finding, stats, viewpoint);
}

/// Who waits for each other, and for what.
fn deadlocked(waiting: &[Event]) -> String {
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
    for missing in &stats.missing {
        let _ = writeln!(out, "{missing}");
    }
    if stats.blind.blind > 0 {
        let _ = writeln!(out, "{}", blind(&stats.blind));
    }
    if let Some(values) = &stats.values {
        let _ = writeln!(out, "{}", compared(values));
    }
    if stats.analysed < stats.events {
        let _ = writeln!(
            out,
            "prediction looked at the first {} events: give it more with --memory",
            grouped(stats.analysed)
        );
    }
    if stats.undecided > 0 {
        undecided(out, report);
    }
    if stats.suppressed > 0 {
        let findings = if stats.suppressed == 1 { "finding" } else { "findings" };
        let _ = writeln!(out, "{} {findings} suppressed", grouped(stats.suppressed));
    }
    for KnownStats { library, why, findings } in &stats.known {
        let _ = writeln!(
            out,
            "{} of them known of {library}: {why} (--show-known shows what is known)",
            grouped(*findings)
        );
    }
    if stats.interrupted {
        let _ = writeln!(out, "interrupted: this is what was found until then");
    }
    if stats.refused > 0 {
        let _ = writeln!(
            out,
            "{} predictions were dropped because the witness checker refused them: the trace is not a possible run \
             (see `foresee trace validate`), or an engine has a bug",
            grouped(stats.refused)
        );
    }
}

/// How many cases and candidates are left, and what would help.
fn undecided(out: &mut String, report: &Report) {
    let stats = &report.stats;
    let left = |count: u64, one: &str| {
        format!("{} {one}{} could not be decided", grouped(count), if count == 1 { "" } else { "s" })
    };
    let mut candidates = stats.undecided;
    for lack in Lack::ALL {
        let is_open = |case: &&CaseVerdict| case.ok.is_none() && case.undecided == Some(lack);
        let cases = report.cases.iter().flatten().filter(is_open).count() as u64;
        if cases > 0 {
            let _ = writeln!(out, "{} {}", left(cases, "case"), lack.advice());
            candidates = candidates.saturating_sub(cases);
        }
    }
    if candidates == 0 {
        return;
    }
    let left = left(candidates, "candidate");
    let open = || stats.engines.iter().filter(|(_, engine)| engine.undecided > 0);
    let _ = if open().any(|(_, engine)| engine.out_of_time) {
        writeln!(out, "{left} within the time given: give more with --time")
    } else if open().any(|(name, _)| name == PROPERTY) {
        writeln!(out, "{left} {}", Lack::Memory.advice())
    } else {
        writeln!(out, "{left}: they are too many or too long for the engines, however much time there is")
    };
}

/// What comparing the values of reads has shown, and what to do about it.
fn compared(stats: &ValueStats) -> String {
    let compared = grouped(stats.compared);
    if stats.unseen_writes == 0 {
        return format!("{compared} reads were compared with the last one: no write is missing in the trace");
    }
    let unexplained = match stats.unexplained {
        0 => String::new(),
        many => format!(" ({} of them where no such code is known to have run)", grouped(many)),
    };
    let most: Vec<&str> = stats.memory.iter().take(3).map(String::as_str).collect();
    let more = if stats.memory.len() > most.len() { " and others" } else { "" };
    format!(
        "{} of {compared} reads saw another value than the last one, and no write is in the trace: code that is not recorded wrote{unexplained} \
         {}{more}. What rests on that is a candidate; build that code with foresee",
        grouped(stats.unseen_writes),
        most.join(", "),
    )
}

/// How many critical sections were blind, and what to do about it.
fn blind(stats: &BlindStats) -> String {
    let most = stats.code.iter().take(3).map(|code| format!("`{}` ({})", code.name, grouped(code.sections)));
    let most: Vec<String> = most.collect();
    let more = if stats.code.len() > most.len() { " and others" } else { "" };
    format!(
        "{} of {} critical sections ran code that is not recorded, so nothing is predicted by moving them: {}{more}. Build that \
         code with foresee, or say what it does in .config/foresee.toml (`no-effect = [\"NAME\"]`)",
        grouped(stats.blind),
        grouped(stats.sections),
        most.join(", "),
    )
}
