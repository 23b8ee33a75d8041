//! What has to be said of a run beside its findings, in every format: what was not looked at, what is not decided, what is not shown.

use crate::engines::PROPERTY;
use crate::number::grouped;
use crate::report::model::{BlindStats, CaseVerdict, KnownStats, Lack, Report, ValueStats};

/// One line for each thing to say, without its end.
pub(crate) fn caveats(report: &Report) -> Vec<String> {
    let stats = &report.stats;
    let mut lines = stats.missing.clone();
    if stats.blind.blind > 0 {
        lines.push(blind(&stats.blind));
    }
    lines.extend(stats.values.as_ref().map(compared));
    if stats.analysed < stats.events {
        let analysed = grouped(stats.analysed);
        lines.push(format!("prediction looked at the first {analysed} events: give it more with --memory"));
    }
    lines.extend(undecided(report));
    if stats.suppressed > 0 {
        let findings = if stats.suppressed == 1 { "finding" } else { "findings" };
        lines.push(format!("{} {findings} suppressed", grouped(stats.suppressed)));
    }
    for KnownStats { library, why, findings } in &stats.known {
        let findings = grouped(*findings);
        lines
            .push(format!("{findings} of them known of {library}: {why} (--show-known shows what is known)"));
    }
    if stats.interrupted {
        lines.push("interrupted: this is what was found until then".to_owned());
    }
    if stats.refused > 0 {
        lines.push(format!(
            "{} predictions were dropped because the witness checker refused them: the trace is not a possible run \
             (see `foresee trace validate`), or an engine has a bug",
            grouped(stats.refused)
        ));
    }
    lines
}

/// How many cases and candidates are left, and what would help.
pub(super) fn undecided(report: &Report) -> Vec<String> {
    let stats = &report.stats;
    let left = |count: u64, one: &str| {
        format!("{} {one}{} could not be decided", grouped(count), if count == 1 { "" } else { "s" })
    };
    let (mut lines, mut candidates) = (Vec::new(), stats.undecided);
    for lack in Lack::ALL {
        let is_open = |case: &&CaseVerdict| case.ok.is_none() && case.undecided == Some(lack);
        let cases = report.cases.iter().flatten().filter(is_open).count() as u64;
        if cases > 0 {
            lines.push(format!("{} {}", left(cases, "case"), lack.advice()));
            candidates = candidates.saturating_sub(cases);
        }
    }
    if candidates == 0 {
        return lines;
    }
    let left = left(candidates, "candidate");
    let open: Vec<_> = stats.engines.iter().filter(|(_, engine)| engine.undecided > 0).collect();
    let names: Vec<String> = open.iter().map(|(name, _)| format!("`{name}`")).collect();
    lines.push(if open.iter().any(|(_, engine)| engine.out_of_time) {
        format!("{left} within the time there was: give more with --time")
    } else if open.iter().any(|(name, _)| name == PROPERTY) {
        format!("{left} {}", Lack::Memory.advice())
    } else {
        format!(
            "{left} by {}, and more time would not help: a violation looks possible, and no schedule was found that proves it or rules it \
             out. A shorter run may be decided",
            names.join(", ")
        )
    });
    lines
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
         code with foresee (in C++, optimised: -O1), or, if it touches nothing that threads share, say so in .config/foresee.toml (`no-effect = [\"NAME\"]`)",
        grouped(stats.blind),
        grouped(stats.sections),
        most.join(", "),
    )
}
