//! `foresee monitor`: properties over a stream of events as they come, without prediction.

use std::process::ExitCode;

use foresee_lattice::property::{Feed, Occasion, says};
use foresee_monitor::property::{Action, Property, Source};
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::spec::diagnostic::closest;
use foresee_monitor::watch::Verdict;
use foresee_trace::{Event, LocId, Names, Op, Spoils};
use serde_json::{Value, json};

use crate::cli::{MonitorArgs, ReportFormat};
use crate::error::{self, CliError, Severity, display_name};
use crate::input::Input;
use crate::number::grouped;
use crate::report::details::target;
use crate::{exit, specs};

/// A verdict of a handler, kept until the event has been handled.
struct Heard {
    property: usize,
    body: usize,
    handler: usize,
    domain: ParamSet,
    values: Vec<u64>,
}

/// What a handler had to say.
struct Said<'p> {
    property: &'p Property,
    category: &'p str,
    message: String,
    /// The event; `None` at the end of the run.
    at: Option<(u64, Value)>,
}

/// What happened on the way.
#[derive(Default)]
struct Stats {
    events: u64,
    verdicts: u64,
    /// Named events that no property knows.
    unknown: u64,
    /// Events with too few or too many values, by property.
    misfits: u64,
}

/// Why an event is not as the properties want it.
enum Fault {
    Unknown(String),
    Misfit(String),
}

pub(crate) fn run(args: &MonitorArgs) -> Result<ExitCode, CliError> {
    if !matches!(args.format, ReportFormat::Human | ReportFormat::Json) {
        return Err(CliError::Usage("`foresee monitor` tells in the forms human and json".to_owned()));
    }
    let compiled = specs::load(&args.spec, specs::Warnings::Told)?;
    let mut feeds: Vec<Feed<'_>> = compiled.properties.iter().map(Feed::new).collect();
    let mut input = Input::open(&args.events)?;
    let trace = display_name(&args.events);
    let (mut stats, mut heard, mut told) = (Stats::default(), Vec::new(), Vec::new());
    let mut aborted = false;
    while !aborted && input.advance()? {
        let (names, event) = input.event();
        let fed = feed(&mut feeds, names, &event, &mut heard);
        if let Err(fault) = fed {
            if args.strict {
                return Err(refused(&fault, &feeds, &input, &trace, stats.events));
            }
            match fault {
                Fault::Unknown(_) => stats.unknown += 1,
                Fault::Misfit(_) => stats.misfits += 1,
            }
        }
        if !heard.is_empty() {
            let occasion = Occasion { names, thread: Some(event.thread), loc: event.loc, trace: &trace };
            let at = || Some((stats.events, event_json(names, &event, stats.events)));
            stats.verdicts += heard.len() as u64;
            aborted = handle(&feeds, &mut heard, occasion, &at, &mut told);
            show_new(args, &mut told, &input)?;
        }
        stats.events += 1;
    }
    if !aborted && !input.source().trust().spoils(Spoils::EndOfRun) {
        for (property, feed) in feeds.iter_mut().enumerate() {
            feed.end(&mut |verdict| hear(&mut heard, property, verdict));
        }
        let names = input.source().names();
        let occasion = Occasion { names, thread: None, loc: LocId::UNKNOWN, trace: &trace };
        stats.verdicts += heard.len() as u64;
        handle(&feeds, &mut heard, occasion, &|| None, &mut told);
        show_new(args, &mut told, &input)?;
    }
    input.warn_of_damage();
    if input.source().trust().spoils(Spoils::WholeRun) {
        let message =
            format!("{trace}: the beginning of the run is missing: what properties say is not certain");
        error::print(Severity::Warning, &message);
    }
    if args.format == ReportFormat::Json {
        crate::print(document(&told, &stats, &trace).as_bytes())?;
    } else {
        error::print(Severity::Note, &stats.summary(&trace));
    }
    Ok(ExitCode::from(if stats.verdicts > 0 { exit::FINDINGS } else { exit::NOTHING_FOUND }))
}

/// Hands an event to all properties. All of them get it, whatever one of them finds wrong with it.
#[inline]
fn feed(
    feeds: &mut [Feed<'_>],
    names: &Names,
    event: &Event<'_>,
    heard: &mut Vec<Heard>,
) -> Result<(), Fault> {
    let mut fed = Ok(());
    for (property, feed) in feeds.iter_mut().enumerate() {
        feed.learn(names);
        if let Err(why) = feed.event(event, &mut |verdict| hear(heard, property, verdict)) {
            fed = Err(Fault::Misfit(format!("{}: {why}", feed.property().name)));
        }
    }
    if let Op::Named { name, .. } = event.op
        && !feeds.iter().any(|feed| feed.knows(name))
    {
        return Err(Fault::Unknown(names.str(name).to_owned()));
    }
    fed
}

fn hear(heard: &mut Vec<Heard>, property: usize, verdict: Verdict<'_>) {
    let Verdict { body, categories, domain, values } = verdict;
    for handler in categories.indices() {
        heard.push(Heard { property, body, handler, domain, values: values.to_vec() });
    }
}

/// Does what the handlers of these verdicts say; whether one of them aborts.
fn handle<'p>(
    feeds: &[Feed<'p>],
    heard: &mut Vec<Heard>,
    occasion: Occasion<'_>,
    at: &dyn Fn() -> Option<(u64, Value)>,
    told: &mut Vec<Said<'p>>,
) -> bool {
    let mut aborts = false;
    for verdict in heard.drain(..) {
        let feed = &feeds[verdict.property];
        let property = feed.property();
        let handler = &property.bodies[verdict.body].handlers[verdict.handler];
        aborts |= handler.actions.contains(&Action::Abort);
        if handler.actions.iter().any(|action| matches!(action, Action::Report(..))) {
            let message = says(feed.translator(), handler, verdict.domain, &verdict.values, occasion);
            told.push(Said { property, category: &handler.category, message, at: at() });
        }
    }
    aborts
}

/// The error for an event that is not as the properties want it.
fn refused(fault: &Fault, feeds: &[Feed<'_>], input: &Input<'_>, trace: &str, index: u64) -> CliError {
    let place = match input.source().line() {
        Some(line) => format!("line {line}"),
        None => format!("event {index}"),
    };
    let why = match fault {
        Fault::Unknown(name) => {
            let events = feeds.iter().flat_map(|feed| &feed.property().events);
            let named = events.filter_map(|event| match &event.source {
                Source::Named(name) => Some(name.as_str()),
                _ => None,
            });
            let meant = closest(name, named).map(|meant| format!("; did you mean `{meant}`?"));
            format!("no property has an event `{name}`{}", meant.unwrap_or_default())
        }
        Fault::Misfit(why) => why.clone(),
    };
    input.end_progress();
    CliError::Usage(format!("{trace}: {place}: {why}"))
}

/// People read along; the document for machines comes at the end.
fn show_new(args: &MonitorArgs, told: &mut Vec<Said<'_>>, input: &Input<'_>) -> Result<(), CliError> {
    if args.format == ReportFormat::Json || told.is_empty() {
        return Ok(());
    }
    input.end_progress();
    for Said { property, category, message, at } in told.drain(..) {
        let at = at.map_or("end of the run".to_owned(), |(index, _)| format!("event {index}"));
        crate::print(format!("{at}: {} ({category}): {message}\n", property.name).as_bytes())?;
    }
    Ok(())
}

impl Stats {
    fn summary(&self, trace: &str) -> String {
        let count = |count: u64, one: &str| {
            let many = if count == 1 { "" } else { "s" };
            format!("{} {one}{many}", grouped(count))
        };
        let mut text =
            format!("{} in {} of {trace}", count(self.verdicts, "verdict"), count(self.events, "event"));
        if self.unknown > 0 {
            text += &format!("; {} that no property knows", count(self.unknown, "event"));
        }
        if self.misfits > 0 {
            text +=
                &format!("; {} with too few or too many values, passed over", count(self.misfits, "event"));
        }
        text
    }
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

fn document(told: &[Said<'_>], stats: &Stats, trace: &str) -> String {
    let finding = |(number, one): (usize, &Said<'_>)| {
        json!({
            "id": format!("property-{}", number + 1),
            "kind": "property",
            "certainty": "observed",
            "property": one.property.name,
            "category": one.category,
            "message": one.message,
            "events": one.at.iter().map(|(_, event)| event).collect::<Vec<_>>(),
            "witness": null,
        })
    };
    let findings: Vec<Value> = told.iter().enumerate().map(finding).collect();
    let stats = json!({
        "trace": trace,
        "events": stats.events,
        "verdicts": stats.verdicts,
        "unknown": stats.unknown,
        "misfits": stats.misfits,
    });
    format!("{:#}\n", json!({ "version": 1, "findings": findings, "stats": stats }))
}
