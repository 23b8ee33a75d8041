//! What an observer has found, for people and machines.

use std::fmt::Write as _;

use foresee_lattice::online::{OnlineFinding, RunStep, Witness};
use foresee_witness::judge::Certainty;
use serde_json::{Value, json};

use super::server::{Results, Summary, printable};
use crate::error::{self, Severity};
use crate::number::grouped;

/// Something found in a program.
pub(crate) struct Finding {
    pub(crate) program: String,
    pub(crate) found: OnlineFinding,
    /// The recording of the program may be wrong.
    pub(crate) in_doubt: bool,
}

impl Finding {
    fn certainty(&self) -> &'static str {
        match self.found.certainty() {
            _ if self.in_doubt => "candidate",
            Certainty::Observed => "observed",
            Certainty::Predicted => "predicted",
            Certainty::Candidate => "candidate",
        }
    }
}

/// Tells it at once.
pub(super) fn tell(finding: &Finding) {
    error::print_lines(Severity::Warning, &text(finding));
}

/// The run, one line per step.
fn text(finding: &Finding) -> String {
    let Finding { program, found, .. } = finding;
    let (property, category) = (&found.property, &found.category);
    let certainty = finding.certainty();
    let mut out = format!("{program}: {certainty} {category} of {property}: {}", printable(&found.message));
    let which = match found.certainty() {
        Certainty::Observed => "the run that is observed",
        _ => "a run that the program can do as well (causality hb)",
    };
    let all = if found.whole { "" } else { ", its last steps" };
    let _ = write!(out, "\n  in {which}{all}:");
    let named = |values: &[(String, i64)]| {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        values.join(", ")
    };
    if !found.initial.is_empty() {
        let _ = write!(out, "\n      before: {}", named(&found.initial));
    }
    let width = |of: fn(&RunStep) -> &str| {
        found.steps.iter().map(|step| printable(of(step)).chars().count()).max().unwrap_or(0)
    };
    let (threads, whats) = (width(|step| &step.thread), width(|step| &step.what));
    for (nth, step) in found.steps.iter().enumerate() {
        let (thread, what) = (printable(&step.thread), printable(&step.what));
        let place = printable(&step.place);
        let _ = write!(out, "\n  {:>4}  {thread:threads$}  {what:whats$}  {place}", nth + 1);
        if !step.values.is_empty() {
            let _ = write!(out, "  ({})", named(&step.values));
        }
    }
    if let Some(witness) = &found.witness {
        let steps = witness.events().len();
        let _ = write!(
            out,
            "\n  checked: these {steps} steps keep what the program's clocks say, and the property says so of them"
        );
        out += "\n  For a schedule of all events, record the program: foresee run --spec";
    }
    out
}

/// How a session went, in a line.
pub(super) fn summary(summary: &Summary) -> String {
    let Summary { program, how, events, cuts, findings, exhaustive, left_out, refused } = summary;
    let runs = if *exhaustive { "all runs that hb allows" } else { "not all runs that hb allows" };
    let findings = match findings {
        0 => "nothing found".to_owned(),
        1 => "1 finding".to_owned(),
        more => format!("{more} findings"),
    };
    let (events, cuts) = (grouped(*events), grouped(*cuts));
    let mut line = format!("{program} {how}: {findings} in {events} relevant events, {cuts} cuts, {runs}");
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

/// Everything, as one object.
pub(crate) fn document(results: &Results) -> String {
    let finding = |(number, finding): (usize, &Finding)| {
        let found = &finding.found;
        let values = |values: &[(String, i64)]| -> Value {
            values
                .iter()
                .map(|(name, value)| (name.clone(), json!(value)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let step = |step: &RunStep| {
            json!({
                "index": step.number,
                "thread": step.thread,
                "op": step.what,
                "place": step.place,
                "values": values(&step.values),
            })
        };
        // By the numbers that the steps have, and by threads and positions in them.
        let witness = |witness: &Witness| {
            let events: Vec<u32> = found.steps.iter().map(|step| step.number).collect();
            json!({ "events": events, "after": witness.after(), "positions": witness.events(), "checked": true })
        };
        let steps: Vec<Value> = found.steps.iter().map(step).collect();
        json!({
            "id": format!("property-{}", number + 1),
            "kind": "property",
            "certainty": finding.certainty(),
            "program": finding.program,
            "property": found.property,
            "category": found.category,
            "message": found.message,
            "events": steps.last().into_iter().collect::<Vec<_>>(),
            "run": { "model": "hb", "initial": values(&found.initial), "steps": steps, "whole": found.whole },
            "witness": found.witness.as_ref().map(witness),
        })
    };
    let findings: Vec<Value> = results.findings.iter().enumerate().map(finding).collect();
    let session = |summary: &Summary| {
        json!({
            "program": summary.program,
            "end": summary.how,
            "events": summary.events,
            "cuts": summary.cuts,
            "findings": summary.findings,
            "exhaustive": summary.exhaustive,
            "left_out": summary.left_out,
            "refused": summary.refused,
        })
    };
    let sessions: Vec<Value> = results.sessions.iter().map(session).collect();
    let stats = json!({ "sessions": sessions, "dropped": results.dropped });
    format!("{:#}\n", json!({ "version": 1, "findings": findings, "stats": stats }))
}
