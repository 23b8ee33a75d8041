//! One JSON object: `{"version":1,"findings":[…],"stats":{…}}`.

use foresee_trace::{LocId, Mem, Mode, StrId};
use foresee_witness::judge::{Finding, PredictedRun, RunEvent};
use serde_json::{Map, Value, json};

use super::calls::Frame;
use super::details::Details;
use super::memory::{Memory, Moment};
use super::{Report, Shown};

pub(crate) fn write(report: &Report<'_>) -> String {
    let mut room = MOST_INDICES;
    let findings: Vec<Value> =
        report.findings.iter().map(|shown| finding(report, shown, &mut room)).collect();
    format!("{:#}\n", json!({ "version": 1, "findings": findings, "stats": stats(report) }))
}

/// Witnesses list all their events as long as they have no more than this together; later ones say how many events of
/// the observed run they begin with, and list the rest.
const MOST_INDICES: usize = 5_000_000;

fn finding(report: &Report<'_>, shown: &Shown, room: &mut usize) -> Value {
    let events: Vec<Value> = shown.events.iter().map(|details| event(report, details)).collect();
    let said = shown.finding.statement.as_ref();
    json!({
        "id": shown.id,
        "kind": shown.finding.kind.name(),
        "certainty": shown.finding.certainty().name(),
        "property": said.map(|said| &said.property),
        "category": said.map(|said| &said.category),
        "message": shown.message,
        "engine": shown.finding.engine,
        "instances": shown.finding.instances,
        "schedulable": shown.finding.schedulable,
        "events": events,
        "witness": witness(&shown.finding, room),
        "run": shown.finding.run.as_ref().map(run),
    })
}

/// The run of a predicted property violation as the property sees it.
fn run(run: &PredictedRun) -> Value {
    let values = |values: &[(String, i64)]| -> Map<String, Value> {
        values.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
    };
    let step =
        |step: &RunEvent| json!({ "event": step.event, "moved": step.moved, "values": values(&step.values) });
    json!({
        "model": run.model,
        "initial": values(&run.initial),
        "steps": run.events.iter().map(step).collect::<Vec<_>>(),
        "exhaustive": run.exhaustive,
        "violating_runs": run.runs.map(|(violating, _)| violating),
        "runs": run.runs.map(|(_, all)| all),
    })
}

fn witness(finding: &Finding, room: &mut usize) -> Value {
    let schedule = &finding.witness();
    if schedule.is_empty() {
        return Value::Null;
    }
    if schedule.len() <= *room {
        *room -= schedule.len();
        let events: Vec<u32> = schedule.iter().map(|id| id.0).collect();
        return json!({ "events": events, "checked": true });
    }
    let events: Vec<u32> = schedule.then().iter().map(|id| id.0).collect();
    json!({ "observed_prefix": schedule.observed(), "events": events, "checked": true })
}

fn event(report: &Report<'_>, details: &Details) -> Value {
    let held: Vec<Value> = (details.held.iter())
        .map(|held| {
            json!({
                "lock": report.lock(held.lock),
                "mode": if held.mode == Mode::Shared { "shared" } else { "exclusive" },
                "location": location(report, held.loc),
            })
        })
        .collect();
    let mut value = json!({
        "index": details.index,
        "thread": report.thread(details.thread),
        "op": details.op,
        "target": details.target,
        "location": location(report, details.loc),
        "stack": stack(report, &details.stack),
        "held": held,
    });
    if let Some((mem, what)) = &details.memory {
        value["size"] = json!(mem.size);
        value["memory"] = memory(report, *mem, what);
    }
    if let Some(created) = report.collected.created.get(&details.thread) {
        value["thread_created"] =
            json!({ "by": report.thread(created.by), "location": location(report, created.loc) });
    }
    value
}

fn stack(report: &Report<'_>, frames: &[Frame]) -> Vec<Value> {
    let frame = |frame: &Frame| {
        let mut at = location(report, frame.loc);
        at["function"] = json!(report.names.str(frame.function));
        at
    };
    frames.iter().map(frame).collect()
}

fn memory(report: &Report<'_>, mem: Mem, memory: &Memory) -> Value {
    let moment = |moment: &Moment| {
        json!({
            "thread": report.thread(moment.thread),
            "location": location(report, moment.loc),
            "stack": stack(report, &moment.stack),
        })
    };
    let mut value = match memory {
        Memory::Static { name, offset, size } => {
            json!({ "kind": "static", "name": name, "offset": offset, "size": size })
        }
        Memory::Heap { offset, size, allocated, freed } => json!({
            "kind": "heap",
            "offset": offset,
            "size": size,
            "allocated": moment(allocated),
            "freed": freed.as_ref().map(moment),
        }),
        Memory::Stack { of } => json!({ "kind": "stack", "thread": report.thread(*of) }),
        Memory::Unknown => json!({ "kind": "unknown" }),
    };
    value["address"] = json!(format!("{:#x}", mem.addr));
    value
}

fn location(report: &Report<'_>, loc: LocId) -> Value {
    let at = report.names.location_at(loc);
    let text = |id: StrId| if id == StrId::EMPTY { Value::Null } else { json!(report.names.str(id)) };
    let number = |n: u32| if n == 0 { Value::Null } else { json!(n) };
    json!({ "file": text(at.file), "line": number(at.line), "column": number(at.column), "function": text(at.function) })
}

fn stats(report: &Report<'_>) -> Value {
    let stats = &report.stats;
    let engines: Map<String, Value> = (stats.engines.iter())
        .map(|engine| {
            let value = json!({
                "findings": engine.findings,
                "undecided": engine.undecided,
                "refused": engine.refused,
                "seconds": engine.time.map(|time| time.as_secs_f64()),
            });
            (engine.name.to_owned(), value)
        })
        .collect();
    json!({
        "trace": report.trace,
        "events": stats.events,
        "analysed": stats.partial.unwrap_or(stats.events),
        "engines": engines,
        "undecided": stats.undecided(),
        "refused": stats.refused(),
        "suppressed": stats.suppressed,
        "interrupted": stats.interrupted,
        "damage": stats.damage.as_ref().map(ToString::to_string),
        "missing": stats.missing,
        "seconds": stats.seconds,
    })
}
