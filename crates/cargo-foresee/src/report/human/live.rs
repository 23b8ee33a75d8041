//! What `monitor` and `observe` print while they work: a line for each verdict, a few for each run.

use std::fmt::Write as _;

use crate::number::grouped;
use crate::report::model::{Finding, Named, SessionStats, Step};
use crate::report::printable;

/// A verdict in a line; `at` says where the input has its event.
pub(crate) fn verdict(finding: &Finding, at: &str) -> String {
    let finding = &printable::finding(finding);
    let property = finding.property.as_deref().unwrap_or_default();
    let category = finding.category.as_deref().unwrap_or_default();
    format!("{at}: {property} ({category}): {}\n", finding.message)
}

/// What was found in an observed program: the run, one line per step.
pub(crate) fn observed(finding: &Finding) -> String {
    let finding = &printable::finding(finding);
    let program = finding.program.as_deref().unwrap_or_default();
    let property = finding.property.as_deref().unwrap_or_default();
    let category = finding.category.as_deref().unwrap_or_default();
    let certainty = finding.certainty.name();
    let mut out = format!("{program}: {certainty} {category} of {property}: {}", short(&finding.message));
    let Some(run) = &finding.run else { return out };
    let which = match finding.witness {
        None => "the run that is observed",
        Some(_) => "a run that the program can do as well (causality hb)",
    };
    let all = if run.whole { "" } else { ", its last steps" };
    let _ = write!(out, "\n  in {which}{all}:");
    let named = |values: &Named<i64>| {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        values.join(", ")
    };
    if !run.initial.is_empty() {
        let _ = write!(out, "\n      before: {}", named(&run.initial));
    }
    let width = |of: fn(&Step) -> &str| {
        run.steps.iter().map(|step| short(of(step)).chars().count()).max().unwrap_or(0)
    };
    let (threads, ops) = (width(|step| &step.thread), width(|step| &step.op));
    for (nth, step) in run.steps.iter().enumerate() {
        let (thread, op) = (short(&step.thread), short(&step.op));
        let place = short(&step.place);
        let _ = write!(out, "\n  {:>4}  {thread:threads$}  {op:ops$}  {place}", nth + 1);
        if !step.values.is_empty() {
            let _ = write!(out, "  ({})", named(&step.values));
        }
    }
    if let Some(witness) = &finding.witness {
        let steps = witness.len();
        let _ = write!(
            out,
            "\n  checked: these {steps} steps agree with the program's clocks, and with what the property reports"
        );
        out += "\n  For a schedule of all events, record the program: foresee run --spec";
    }
    out
}

/// How the observation of a program went, in a line.
pub(crate) fn session(session: &SessionStats) -> String {
    let SessionStats { program, end, events, cuts, findings, exhaustive, left_out, refused } = session;
    let runs = if *exhaustive { "all runs that hb allows" } else { "not all runs that hb allows" };
    let findings = match findings {
        0 => "nothing found".to_owned(),
        1 => "1 finding".to_owned(),
        more => format!("{more} findings"),
    };
    let (events, cuts) = (grouped(*events), grouped(*cuts));
    let mut line = format!("{program} {end}: {findings} in {events} relevant events, {cuts} cuts, {runs}");
    if *left_out > 0 {
        let bindings = if *left_out == 1 { "binding" } else { "bindings" };
        let _ = write!(line, "; {} {bindings} of parameters left out (see --memory)", grouped(*left_out));
    }
    if *refused > 0 {
        let runs = if *refused == 1 { "run" } else { "runs" };
        let _ = write!(line, "; {} {runs} refused by the check, a bug of foresee", grouped(*refused));
    }
    line
}

/// A text of a program that may be anybody's, fit for a line of a terminal.
pub(crate) fn short(text: &str) -> String {
    foresee_trace::printable(text).chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(short("a\x1b[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
