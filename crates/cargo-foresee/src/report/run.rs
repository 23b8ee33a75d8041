//! A run as a property sees it: who does what, and the values of the property's variables after it.

use std::fmt::Write as _;

use foresee_trace::{EventId, Execution};
use foresee_witness::judge::{PredictedRun, RunEvent};

use super::Report;
use super::human::{BAD, QUIET};
use super::wording::verb;
use crate::number::grouped;

/// More steps than this are too many: the last ones are shown.
const MOST_STEPS: usize = 20;

/// One line per event that the property looks at, one column per variable. What is told is told at the last of them, or at the end of
/// the run.
pub(super) fn table(report: &Report<'_>, execution: &Execution, run: &PredictedRun, at_end: bool) -> String {
    let skipped = run.events.len().saturating_sub(MOST_STEPS);
    let steps = &run.events[skipped..];
    let texts: Vec<String> = steps.iter().map(|step| text(report, execution, step)).collect();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max("at the end".len());
    let mut out = String::new();
    let columns = |values: &[(String, i64)]| {
        let cell = |(name, value): &(String, i64)| format!("  {value:>0$}", name.chars().count());
        values.iter().map(cell).collect::<String>()
    };
    let names: String = run.initial.iter().map(|(name, _)| format!("  {name}")).collect();
    if !names.is_empty() {
        let _ = writeln!(out, "      {QUIET}{:width$}  {names}{QUIET:#}", "");
        let _ = writeln!(out, "      {:<width$}  {}", "at first", columns(&run.initial));
    }
    if skipped > 0 {
        let _ = writeln!(out, "      {QUIET}⋮ {} more{QUIET:#}", grouped(skipped as u64));
    }
    for (nth, (step, text)) in steps.iter().zip(&texts).enumerate() {
        let moved = if step.moved { "←" } else { " " };
        let values = columns(&step.values);
        if nth + 1 == steps.len() && !at_end {
            let _ = writeln!(out, "    {moved} {BAD}{text:<width$} ⚡{values}{BAD:#}");
        } else {
            let _ = writeln!(out, "    {moved} {text:<width$}  {values}");
        }
    }
    if at_end {
        let _ = writeln!(out, "      {BAD}{:<width$} ⚡{BAD:#}", "at the end");
    }
    if run.events.iter().any(|step| step.moved) {
        let _ = writeln!(out, "\n    ← is not where it was in the run you saw.");
    }
    if let Some((violating, all)) = run.runs {
        let (violating, all, model) = (count(violating), count(all), run.model);
        let _ = writeln!(
            out,
            "    {violating} of the {all} runs that these events allow (model {model}) break it."
        );
    } else if !run.exhaustive {
        let _ =
            writeln!(out, "    Not all runs that these events allow (model {}) were looked at.", run.model);
    }
    out
}

fn count(runs: u64) -> String {
    match runs {
        u64::MAX => "very many".to_owned(),
        runs => grouped(runs),
    }
}

fn text(report: &Report<'_>, execution: &Execution, step: &RunEvent) -> String {
    let event = execution.event(EventId(step.event as u32));
    let (thread, op) = (report.thread(event.thread), event.op.name());
    format!("{thread}  {} {}  {}", verb(op), report.target(step.event, &event), report.place(event.loc))
}
