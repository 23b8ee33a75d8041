//! SARIF 2.1.0, for code-scanning dashboards and editors.

use serde_json::{Map, Value, json};

use super::caveats::caveats;
use super::model::{CaseVerdict, Certainty, Event, Finding, Kind, Location, Memory, Row, Stats};
use super::printable::in_json;
use super::results::Results;
use super::viewpoint::Viewpoint;

pub(crate) fn write(results: Results<'_>, viewpoint: &Viewpoint) -> String {
    let report = results.merged();
    let layout = Layout { stats: &report.stats, viewpoint };
    let open = report.cases.iter().flatten().filter_map(open_question);
    let results: Vec<Value> =
        report.findings.iter().map(|finding| layout.result(finding)).chain(open).collect();
    let rules: Vec<Value> = (Kind::ALL.iter())
        .map(|kind| json!({ "id": kind.name(), "name": kind.name(), "shortDescription": { "text": kind.title() } }))
        .collect();
    let notifications: Vec<Value> = caveats(&report)
        .into_iter()
        .map(|caveat| json!({ "level": "note", "message": { "text": caveat } }))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "foresee",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notifications }],
            "results": results,
        }],
    });
    in_json(&format!("{log:#}\n"))
}

/// Longer code flows help nobody and choke viewers; their end is what counts.
const MOST_STEPS: usize = 200;

struct Layout<'a> {
    stats: &'a Stats,
    viewpoint: &'a Viewpoint,
}

impl Layout<'_> {
    fn result(&self, finding: &Finding) -> Value {
        let level = if finding.certainty == Certainty::Candidate { "note" } else { "error" };
        let location = |event: &Event| self.location(&event.location, &event.target);
        let locations: Vec<Value> = finding.events.iter().take(1).filter_map(location).collect();
        let related: Vec<Value> = (finding.events.iter().skip(1).filter_map(location))
            .chain(finding.events.first().and_then(|event| self.allocation(event)))
            .collect();
        let mut result = json!({
            "ruleId": finding.kind.name(),
            "level": level,
            "message": { "text": finding.message },
            "locations": locations,
            "relatedLocations": related,
            "partialFingerprints": { "foresee/v1": self.fingerprint(finding) },
        });
        let properties = properties(finding);
        if !properties.is_empty() {
            result["properties"] = Value::Object(properties);
        }
        let flow = self.flow(finding);
        if !flow.is_empty() {
            result["codeFlows"] = json!([{ "threadFlows": [{ "locations": flow }] }]);
        }
        result
    }

    /// The witness, step by step: those of its story, or what a property sees of it.
    fn flow(&self, finding: &Finding) -> Vec<Value> {
        let step = |thread: &str, op: &str, location: &Location| {
            Some(json!({ "location": self.location(location, &format!("{thread}: {op}"))? }))
        };
        if let Some(run) = &finding.run {
            let last = &run.steps[run.steps.len().saturating_sub(MOST_STEPS)..];
            return last.iter().filter_map(|one| step(&one.thread, &one.op, &one.location)).collect();
        }
        let rows = finding.story.iter().flat_map(|story| &story.rows);
        rows.filter_map(|row| match row {
            Row::Step(one) => step(&one.thread, &one.op, &one.location),
            Row::Passed(_) => None,
        })
        .collect()
    }

    /// Where the memory of an event was allocated.
    fn allocation(&self, event: &Event) -> Option<Value> {
        let Some(Memory::Heap { size, allocated, .. }) = &event.memory else { return None };
        let text = format!("heap block of {size} bytes, allocated by `{}`", allocated.thread);
        self.location(allocated.origin.as_ref()?, &text)
    }

    fn location(&self, location: &Location, text: &str) -> Option<Value> {
        let file = match (&location.file, location.line) {
            (Some(file), _) => self.viewpoint.file(file),
            (None, Some(_)) => self.stats.trace.as_deref()?,
            (None, None) => return None,
        };
        let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
        if let Some(line) = location.line {
            physical["region"] = json!({ "startLine": line });
            if let Some(column) = location.column {
                physical["region"]["startColumn"] = json!(column);
            }
        }
        Some(json!({ "physicalLocation": physical, "message": { "text": text } }))
    }

    /// The same finding in another run has the same fingerprint: kind and places.
    fn fingerprint(&self, finding: &Finding) -> String {
        let mut places: Vec<String> =
            finding.events.iter().map(|event| self.viewpoint.text(&event.location)).collect();
        places.sort();
        format!("{}|{}", finding.kind.name(), places.join("|"))
    }
}

/// A case that is undecided: evaluated, and not enough is known to say whether there is a problem.
fn open_question(case: &CaseVerdict) -> Option<Value> {
    let name = case.id.as_deref().unwrap_or(&case.model);
    Some(json!({
        "ruleId": Kind::Refinement.name(),
        "kind": "open",
        "level": "none",
        "message": { "text": format!("{name}: {}", case.open_question()?) },
    }))
}

/// What belongs to a finding beyond what SARIF has fields for.
fn properties(finding: &Finding) -> Map<String, Value> {
    let all = [
        ("property", &finding.property),
        ("category", &finding.category),
        ("test", &finding.test),
        ("binary", &finding.binary),
        ("program", &finding.program),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value.as_ref()?)))).collect()
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
