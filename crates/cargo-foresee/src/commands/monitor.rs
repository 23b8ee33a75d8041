//! `foresee monitor`: properties over a stream of events as they come, without prediction.

use std::process::ExitCode;

use foresee_monitor::property::Property;
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::spec::ast::Action;
use foresee_monitor::watch::Verdict;
use foresee_trace::{BEGINNING, Event, Names};
use serde_json::{Value, json};

use crate::cli::{MonitorArgs, ReportFormat};
use crate::error::{self, CliError, Severity, display_name};
use crate::feed::Feed;
use crate::input::Input;
use crate::report::details::target;
use crate::{exit, specs};

/// A verdict, kept until the event has been handled.
struct Heard {
    property: usize,
    body: usize,
    handlers: Vec<usize>,
    domain: ParamSet,
    values: Vec<u64>,
}

/// What a handler had to say.
struct Said {
    property: usize,
    category: String,
    message: String,
    index: u64,
    event: Value,
}

pub(crate) fn run(args: &MonitorArgs) -> Result<ExitCode, CliError> {
    if !matches!(args.format, ReportFormat::Human | ReportFormat::Json) {
        return Err(CliError::Usage("`foresee monitor` tells in the forms human and json".to_owned()));
    }
    let compiled = specs::load(&args.spec)?;
    let properties = &compiled.properties;
    let mut feeds: Vec<Feed<'_>> = properties.iter().map(Feed::new).collect();
    let mut input = Input::open(&args.events)?;
    let name = display_name(&args.events);
    let (mut heard, mut said) = (Vec::new(), Vec::new());
    let (mut counted, mut index, mut more) = (0_u64, 0_u64, true);
    while more {
        more = input.advance()?;
        let (names, event) = input.event();
        for (number, feed) in feeds.iter_mut().enumerate() {
            let mut hear = |verdict: Verdict<'_>| heard.push(Heard::of(number, &verdict));
            // After the last event, the end of the program is one more.
            let fed = if more { feed.event(names, &event, &mut hear) } else { feed.end(&mut hear) };
            let property = &properties[number].name;
            fed.map_err(|why| CliError::Usage(format!("{name}: event {index}: {property}: {why}")))?;
        }
        for verdict in heard.drain(..) {
            let property = &properties[verdict.property];
            for &handler in &verdict.handlers {
                let handler = &property.bodies[verdict.body].handlers[handler];
                counted += 1;
                more &= !handler.actions.contains(&Action::Abort);
                for action in &handler.actions {
                    if let Action::Report(text, _) = action {
                        let message = filled(text, property, &verdict, names, &event, &name);
                        let event = event_json(names, &event, index);
                        let category = handler.category.clone();
                        said.push(Said { property: verdict.property, category, message, index, event });
                    }
                }
            }
        }
        index += u64::from(more);
        show_new(args, properties, &mut said, &input)?;
    }
    input.warn_of_damage();
    if input.source().facts().iter().any(|(key, _)| key == BEGINNING) {
        let message =
            format!("{name}: the beginning of the run is missing: what properties say is not certain");
        error::print(Severity::Warning, &message);
    }
    if args.format == ReportFormat::Json {
        crate::print(document(properties, &said, index, counted, &name).as_bytes())?;
    } else {
        let verdicts = if counted == 1 { "1 verdict".to_owned() } else { format!("{counted} verdicts") };
        error::print(Severity::Note, &format!("{verdicts} in {index} events of {name}"));
    }
    Ok(ExitCode::from(if counted > 0 { exit::FINDINGS } else { exit::NOTHING_FOUND }))
}

impl Heard {
    fn of(property: usize, verdict: &Verdict<'_>) -> Heard {
        Heard {
            property,
            body: verdict.body,
            handlers: verdict.categories.indices().collect(),
            domain: verdict.domain,
            values: verdict.values.to_vec(),
        }
    }
}

/// People read along; the document for machines comes at the end.
fn show_new(
    args: &MonitorArgs,
    properties: &[Property],
    said: &mut Vec<Said>,
    input: &Input<'_>,
) -> Result<(), CliError> {
    if args.format == ReportFormat::Json || said.is_empty() {
        return Ok(());
    }
    input.end_progress();
    for one in said.drain(..) {
        let property = &properties[one.property].name;
        let line = format!("event {}: {property} ({}): {}\n", one.index, one.category, one.message);
        crate::print(line.as_bytes())?;
    }
    Ok(())
}

/// The message with the values in place of `{name}`.
fn filled(
    text: &str,
    property: &Property,
    verdict: &Heard,
    names: &Names,
    event: &Event<'_>,
    trace: &str,
) -> String {
    let mut message = text.to_owned();
    for (place, with) in [
        ("{loc}", names.location_text(event.loc)),
        ("{thread}", names.thread_name(event.thread).to_owned()),
        ("{trace}", trace.to_owned()),
    ] {
        message = message.replace(place, &with);
    }
    for (position, parameter) in property.params.iter().enumerate() {
        let known = verdict.domain.contains(ParamSet::only(position as u8));
        let value = verdict
            .values
            .get(position)
            .filter(|_| known)
            .map_or("?".to_owned(), |value| format!("@{value:x}"));
        message = message.replace(&format!("{{{parameter}}}"), &value);
    }
    message
}

fn event_json(names: &Names, event: &Event<'_>, index: u64) -> Value {
    json!({
        "index": index,
        "thread": names.thread_name(event.thread),
        "op": event.op.name(),
        "target": target(names, &event.op),
        "location": names.location_text(event.loc),
    })
}

fn document(properties: &[Property], said: &[Said], events: u64, verdicts: u64, trace: &str) -> String {
    let findings: Vec<Value> = (said.iter().enumerate())
        .map(|(number, one)| {
            json!({
                "id": format!("property-{}", number + 1),
                "kind": "property",
                "certainty": "observed",
                "property": properties[one.property].name,
                "category": one.category,
                "message": one.message,
                "events": [one.event],
                "witness": null,
            })
        })
        .collect();
    let stats = json!({ "trace": trace, "events": events, "verdicts": verdicts });
    format!("{:#}\n", json!({ "version": 1, "findings": findings, "stats": stats }))
}
