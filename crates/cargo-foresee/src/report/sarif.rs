//! SARIF 2.1.0, for code-scanning dashboards and editors.

use foresee_trace::{LocId, StrId};
use foresee_witness::judge::{Certainty, FindingKind};
use serde_json::{Value, json};

use super::calls::Place;
use super::details::Details;
use super::memory::Memory;
use super::{Report, Shown, title};

pub(crate) fn write(report: &Report<'_>) -> String {
    let results: Vec<Value> = report.findings.iter().map(|shown| result(report, shown)).collect();
    format!("{:#}\n", log(results))
}

/// The document for these results.
pub(crate) fn log(results: Vec<Value>) -> Value {
    let rules: Vec<Value> = [
        FindingKind::Race,
        FindingKind::Deadlock,
        FindingKind::Atomicity,
        FindingKind::Property,
        FindingKind::Refinement,
    ]
    .into_iter()
    .map(|kind| {
        let name = title(kind, Certainty::Predicted).replace("predicted ", "");
        json!({ "id": kind.name(), "name": kind.name(), "shortDescription": { "text": name } })
    })
    .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "foresee",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    })
}

fn result(report: &Report<'_>, shown: &Shown) -> Value {
    let level = if shown.finding.certainty() == Certainty::Candidate { "note" } else { "error" };
    let locations: Vec<Value> =
        shown.events.iter().take(1).filter_map(|event| location(report, event.loc, &event.target)).collect();
    let related: Vec<Value> = (shown.events.iter().skip(1))
        .filter_map(|event| location(report, event.loc, &event.target))
        .chain(shown.events.first().and_then(|event| allocation(report, event)))
        .collect();
    let flow: Vec<Value> = shown
        .finding
        .witness()
        .iter()
        .skip(shown.finding.witness().len().saturating_sub(MOST_STEPS))
        .filter_map(|id| {
            let execution = report.execution?;
            let event = execution.event(id);
            let text = format!("{}: {}", report.thread(event.thread), event.op.name());
            Some(json!({ "location": location(report, event.loc, &text)? }))
        })
        .collect();
    let mut result = json!({
        "ruleId": shown.finding.kind.name(),
        "level": level,
        "message": { "text": shown.message },
        "locations": locations,
        "relatedLocations": related,
        "properties": shown.finding.statement.as_ref().map(|said| json!({
            "property": said.property,
            "category": said.category,
        })),
        "partialFingerprints": { "foresee/v1": fingerprint(report, shown) },
    });
    if !flow.is_empty() {
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": flow }] }]);
    }
    result
}

/// Longer code flows help nobody and choke viewers; their end is what counts.
const MOST_STEPS: usize = 200;

/// Where the memory of an event was allocated.
fn allocation(report: &Report<'_>, event: &Details) -> Option<Value> {
    let Some((_, Memory::Heap { size, allocated, .. })) = &event.memory else { return None };
    let text = format!("heap block of {size} bytes, allocated by `{}`", report.thread(allocated.thread));
    let Place::Line(loc) = allocated.place(report.names) else { return None };
    location(report, loc, &text)
}

fn location(report: &Report<'_>, loc: LocId, text: &str) -> Option<Value> {
    let at = report.names.location_at(loc);
    if at.file == StrId::EMPTY && at.line == 0 {
        return None;
    }
    let file = if at.file == StrId::EMPTY {
        report.trace.as_str()
    } else {
        report.viewpoint.file(report.names.str(at.file))
    };
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if at.line != 0 {
        physical["region"] = json!({ "startLine": at.line });
        if at.column != 0 {
            physical["region"]["startColumn"] = json!(at.column);
        }
    }
    Some(json!({ "physicalLocation": physical, "message": { "text": text } }))
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(byte as char)
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The same finding in another run has the same fingerprint: kind and places.
fn fingerprint(report: &Report<'_>, shown: &Shown) -> String {
    let mut places: Vec<String> =
        shown.events.iter().map(|event| report.viewpoint.location(report.names, event.loc)).collect();
    places.sort();
    format!("{}|{}", shown.finding.kind.name(), places.join("|"))
}
