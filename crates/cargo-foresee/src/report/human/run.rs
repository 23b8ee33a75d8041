//! A run as a property sees it: who does what, and the values of the property's variables after it.

use std::fmt::Write as _;

use super::style::{BAD, QUIET};
use crate::number::grouped;
use crate::report::model::{Named, Run, Step};
use crate::report::viewpoint::Viewpoint;
use crate::report::wording::verb;

/// More steps than this are too many: the last ones are shown.
const MOST_STEPS: usize = 20;

/// One line per event that the property looks at, one column per variable. The property reports at the last of them, or at the
/// end of the run.
pub(super) fn table(run: &Run, at_end: bool, viewpoint: &Viewpoint) -> String {
    let skipped = run.steps.len().saturating_sub(MOST_STEPS);
    let steps = &run.steps[skipped..];
    let texts: Vec<String> = steps.iter().map(|step| text(step, viewpoint)).collect();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max("at the end".len());
    let mut out = String::new();
    let columns = |values: &Named<i64>| {
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
        let moved = if step.moved == Some(true) { "←" } else { " " };
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
    if run.steps.iter().any(|step| step.moved == Some(true)) {
        let _ = writeln!(out, "\n    ← is not where it was in the run you saw.");
    }
    if let Some((violating, all)) = run.violating_runs.zip(run.runs) {
        let (violating, all, model) = (count(violating), count(all), &run.model);
        let _ = writeln!(
            out,
            "    {violating} of the {all} runs that these events allow (model {model}) break it."
        );
    } else if run.exhaustive == Some(false) {
        let _ =
            writeln!(out, "    Not all runs that these events allow (model {}) were explored.", run.model);
    }
    out
}

fn count(runs: u64) -> String {
    match runs {
        u64::MAX => "very many".to_owned(),
        runs => grouped(runs),
    }
}

fn text(step: &Step, viewpoint: &Viewpoint) -> String {
    format!(
        "{}  {} {}  {}",
        step.thread,
        verb(&step.op, &step.target),
        step.target,
        viewpoint.place(&step.location)
    )
}
