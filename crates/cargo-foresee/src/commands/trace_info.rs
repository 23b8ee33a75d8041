//! `foresee trace info`: what is in a trace, for people or as JSON.

use std::fmt::Write as _;

use foresee_trace::Gap;
use foresee_trace::validate::{Summary, Validator, Verdict};
use serde_json::{Map, Value, json};

use crate::cli::{Format, InfoArgs};
use crate::error::{CliError, display_name};
use crate::input::Input;
use crate::number::{bytes, grouped};
use crate::report::printable::in_json;
use crate::stdout;

pub(crate) fn run(args: &InfoArgs) -> Result<(), CliError> {
    let mut input = Input::open(&args.input)?;
    let mut summary = Summary::default();
    let mut validator = Validator::new();
    let mut index = 0;
    while input.advance()? {
        let event = input.event();
        let names = input.names();
        summary.event(names, &event);
        validator.event(names, index, &event);
        index += 1;
    }
    input.warn_of_damage();
    let verdict = validator.finish();
    let name = display_name(&args.input);
    let text = match args.format {
        Format::Human => human(&name, &input, &summary, &verdict),
        Format::Json => in_json(&format!("{:#}\n", as_json(&name, &input, &summary, &verdict))),
    };
    stdout::print(&text)
}

/// How many bytes the trace has; of a piped text, as many as were read.
fn size(input: &Input<'_>) -> u64 {
    let (read, total) = input.source().progress();
    input.source().file_info().map(|info| info.bytes).or(total).unwrap_or(read)
}

fn per_event(bytes: u64, events: u64) -> f64 {
    if events == 0 { 0.0 } else { bytes as f64 / events as f64 }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn human(name: &str, input: &Input<'_>, summary: &Summary, verdict: &Verdict) -> String {
    let mut text = String::new();
    let events = summary.events();
    let form = match input.source().file_info() {
        Some(info) => format!("binary trace, format version {}", info.version),
        // Only text has lines.
        None if input.source().line().is_some() => "text trace".to_owned(),
        None => "raw trace".to_owned(),
    };
    let size = size(input);
    let _ = writeln!(text, "{name}: {form}, {}", bytes(size));

    let variables = summary.variables();
    let about = if variables.exact { "" } else { "about " };
    let valid = match verdict.problem_count {
        0 => "yes".to_owned(),
        n => format!("no: {} problems; see `foresee trace validate`", grouped(n)),
    };
    let trust = input.source().trust();
    let whole = match input.source().damage() {
        Some(damage) => format!("no: {damage}"),
        None if trust.is_whole() => "yes".to_owned(),
        None => "no".to_owned(),
    };
    let synchronisation = summary.synchronisation();
    let rows = [
        ("events", format!("{} ({:.2} bytes each)", grouped(events), per_event(size, events))),
        ("threads", grouped(summary.threads())),
        ("locks", grouped(summary.locks())),
        ("variables", format!("{about}{}", grouped(variables.number))),
        ("locations", grouped(summary.locations())),
        (
            "synchronisation",
            format!("{} ({:.1} %)", grouped(synchronisation), percent(synchronisation, events)),
        ),
        ("possible run", valid),
        ("whole", whole),
    ];
    for (what, value) in rows {
        let _ = writeln!(text, "  {what:<16} {value}");
    }

    let _ = writeln!(text, "\noperations");
    let width = grouped(events).len();
    for (kind, count) in summary.kinds() {
        let _ = writeln!(text, "  {kind:<16} {:>width$} {:>6.1} %", grouped(count), percent(count, events));
    }
    if !trust.is_whole() {
        let _ = writeln!(text, "\nmissing");
        trust.gaps().iter().for_each(|gap| {
            let _ = writeln!(text, "  {gap}");
        });
    }
    let facts = input.source().facts();
    if !facts.is_empty() {
        let _ = writeln!(text, "\nrecorded");
        for (key, value) in facts {
            let _ = writeln!(text, "  {key:<16} {}", value.replace('\n', "\n                   "));
        }
    }
    text
}

fn as_json(name: &str, input: &Input<'_>, summary: &Summary, verdict: &Verdict) -> Value {
    let events = summary.events();
    let variables = summary.variables();
    let operations: Map<String, Value> =
        summary.kinds().map(|(kind, count)| (kind.to_owned(), json!(count))).collect();
    let facts: Map<String, Value> =
        input.source().facts().iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let binary = input.source().file_info().map(
        |info| json!({ "version": info.version, "blocks": info.blocks, "event_bytes": info.event_bytes }),
    );
    let damage = input
        .source()
        .damage()
        .map(|damage| json!({ "offset": damage.offset, "what": damage.what, "delivered": damage.delivered }));
    json!({
        "version": 1,
        "file": name,
        "form": if binary.is_some() { "binary" } else { "text" },
        "binary": binary,
        "bytes": size(input),
        "events": events,
        "bytes_per_event": per_event(size(input), events),
        "threads": summary.threads(),
        "locks": summary.locks(),
        "variables": { "count": variables.number, "exact": variables.exact },
        "locations": summary.locations(),
        "synchronisation": summary.synchronisation(),
        "operations": operations,
        "problems": verdict.problem_count,
        "damage": damage,
        "missing": input.source().trust().gaps().iter().map(Gap::to_string).collect::<Vec<_>>(),
        "facts": facts,
    })
}
